import { UserError } from '../../common/errors';
import type { Engine } from '../../engine/engine';
import type { TargetProcess } from '../../engine/target';

/** An address as clients see it: `0x7ffe10`, with its process's number before it where it is not of the first one: `2@0x7ffe10`. */
export function memoryReference(process: TargetProcess, address: string): string {
  return process.index === 1 ? address : `${process.index}@${address}`;
}

/** Whose address this is, and which. */
export function fromMemoryReference(engine: Engine, text: string): { process: TargetProcess; reference: string } {
  const match = /^(?:(\d+)@)?(.+)$/s.exec(text);
  const index = match?.[1] === undefined ? undefined : Number(match[1]);
  const native = engine.processes.filter(({ hello }) => hello.language === 'native');
  // An address without a process was typed, or is of the first one.
  const process = index === undefined ? native[0] : native.find((one) => one.index === index);
  if (!process) {
    throw new UserError('No native code runs that has this address.');
  }
  return { process, reference: match?.[2] ?? text };
}
