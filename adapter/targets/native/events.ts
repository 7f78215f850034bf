import type { DebugProtocol as P } from '@vscode/debugprotocol';

/** The thread that an event is of. */
export function threadIn({ threadId }: Partial<P.StoppedEvent['body']>): number | undefined {
  return typeof threadId === 'number' ? threadId : undefined;
}

/** The delegate's numbers of what was hit; version 19 says them of watched memory in its text alone. */
export function hitNumbers(
  { hitBreakpointIds, description }: Partial<P.StoppedEvent['body']>,
  memory: boolean,
): number[] {
  const said = (hitBreakpointIds ?? []).filter((one) => typeof one === 'number');
  const text = memory && said.length === 0 ? /watchpoint (\d+)/.exec(description ?? '')?.[1] : undefined;
  return text === undefined ? said : [Number(text)];
}

/** Names of threads, told apart where several have the same. */
export function namesOf(threads: readonly P.Thread[], program: string): Map<number, string> {
  const uses = new Map<string, number>();
  for (const { name } of threads) uses.set(name, (uses.get(name) ?? 0) + 1);
  return new Map(threads.map(({ id, name }) => [id, (uses.get(name) ?? 0) > 1 ? `${name} (${id})` : name || program]));
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
