/** Numbers of one process and the whole run: `<process index> * 2^32 + <number in the process>`, exact up to process 2^21. */
const SPAN = 2 ** 32;

export function globalId(process: number, number: number): number {
  return process * SPAN + number;
}

export function processOf(id: number): number {
  return Math.floor(id / SPAN);
}

/** `1.42` as people and the protocol name a call. */
export function callName(id: number): string {
  const process = processOf(id);
  return `${process}.${id - process * SPAN}`;
}

export function parseCallName(name: string): number | undefined {
  const match = /^([1-9]\d{0,5})\.(\d{1,10})$/.exec(name);
  if (match === null || Number(match[2]) >= SPAN) return undefined;
  return globalId(Number(match[1]), Number(match[2]));
}

/** `status` of a call of which no end is known: its process ended while it ran, as a rule. */
export const ENDED_WITH_PROCESS = 4;
