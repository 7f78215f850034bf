import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { messageOf } from '../../common/errors';
import type { DelegateClient } from '../delegate/client';
import { functionName } from './backtrace';
import { parseData } from './places';
import { readableError, type Quirks } from './quirks';

interface Watched {
  key: string;
  name: string;
  dataId: string;
  /** The function whose local it is; a global has none. */
  owner: string | undefined;
  /** What the delegate calls it. */
  id?: number;
}

/** Data breakpoints by name: set where their place is reached, and dropped once the frame that has the variable is gone. */
export class DataWatch {
  /** What could not be watched; sentences. */
  readonly problems: string[] = [];
  #watched: Watched[] = [];

  constructor(
    private readonly client: DelegateClient,
    private readonly quirks: Quirks,
    private readonly evaluate: (expression: string, frameId: number) => Promise<string>,
  ) {}

  /** Watches these from here on. What is watched already, at the same address, stays as it is. */
  async begin(keys: readonly string[], stack: readonly P.StackFrame[]): Promise<void> {
    let changed = false;
    for (const key of keys) {
      const { name, location } = parseData(key);
      const dataId = await this.#dataId(key, name, stack[0]!.id);
      if (dataId === undefined) continue;
      const owner = location === undefined ? undefined : functionName(stack[0]!.name);
      const before = this.#watched.find((one) => one.key === key);
      if (before?.dataId === dataId) continue;
      this.#watched = [...this.#watched.filter((one) => one !== before), { key, name, dataId, owner }];
      changed = true;
    }
    if (changed) await this.#set();
  }

  /** What was changed at this stop, and to what. */
  async changes(
    body: P.StoppedEvent['body'],
    stack: readonly P.StackFrame[],
  ): Promise<{ key: string; value: string }[]> {
    const hit = this.#whichOf(body);
    const gone = this.#watched.filter((one) => frameOf(one, stack) === undefined);
    const changes: { key: string; value: string }[] = [];
    for (const one of hit) {
      const frame = frameOf(one, stack);
      if (frame !== undefined) changes.push({ key: one.key, value: await this.evaluate(one.name, frame.id) });
    }
    if (gone.length > 0) {
      // Its address belongs to somebody else by now.
      this.#watched = this.#watched.filter((one) => !gone.includes(one));
      await this.#set();
    }
    return changes;
  }

  #whichOf(body: P.StoppedEvent['body']): Watched[] {
    if (this.#watched.length === 1) return this.#watched;
    const ids = body.hitBreakpointIds ?? [];
    const byId = this.#watched.filter(({ id }) => id !== undefined && ids.includes(id));
    if (byId.length > 0) return byId;
    const number = Number(/watchpoint (\d+)/.exec(`${body.description ?? ''} ${body.text ?? ''}`)?.[1] ?? NaN);
    return this.#watched.filter(({ id }) => id === number);
  }

  async #set(): Promise<void> {
    const breakpoints = this.#watched.map(({ dataId }) => ({ dataId, accessType: 'write' as const }));
    const answer = await this.client.request('setDataBreakpoints', { breakpoints });
    for (const [index, one] of this.#watched.entries()) {
      const breakpoint = answer.breakpoints[index];
      if (breakpoint?.id !== undefined) one.id = breakpoint.id;
      if (breakpoint?.verified === false)
        this.#problem(
          `"${one.key}" could not be watched: ${readableError(breakpoint.message ?? 'the processor has no room')}`,
        );
    }
  }

  /** An address and a size, in the delegate's words. */
  async #dataId(key: string, name: string, frameId: number): Promise<string | undefined> {
    try {
      const { scopes } = await this.client.request('scopes', { frameId });
      for (const { variablesReference } of scopes.filter((scope) => scope.name !== 'Registers')) {
        const { dataId } = await this.client.request('dataBreakpointInfo', { variablesReference, name, frameId });
        if (typeof dataId === 'string') return dataId;
      }
      if (this.quirks.family === 'lldb') {
        const address = /0x([0-9a-f]+)/i.exec(await this.evaluate(`&(${name})`, frameId))?.[1];
        const size = await this.evaluate(`(int)sizeof(${name})`, frameId);
        if (address !== undefined && /^[1-8]$/.test(size)) return `${address.replace(/^0+/, '')}/${size}`;
      }
      this.#problem(`"${key}" could not be watched: there is no such variable of at most 8 bytes in memory there.`);
    } catch (error) {
      this.#problem(`"${key}" could not be watched: ${readableError(messageOf(error))}`);
    }
    return undefined;
  }

  #problem(sentence: string): void {
    if (!this.problems.includes(sentence)) this.problems.push(sentence);
  }
}

/** The frame that a watched variable is seen from; nothing once that has returned. */
function frameOf({ owner }: Watched, stack: readonly P.StackFrame[]): P.StackFrame | undefined {
  return owner === undefined ? stack[0] : stack.find((frame) => functionName(frame.name) === owner);
}
