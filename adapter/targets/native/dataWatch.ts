import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { messageOf } from '../../common/errors';
import type { DelegateClient, RequestOptions } from '../delegate/client';
import { functionName } from './backtrace';
import { parseData } from './places';
import { readableError, watchError, type Quirks } from './quirks';

/** Bytes that the processor can watch as one. */
const LARGEST = 8;
/** How much it can watch at once, on x86. */
const ROOM = 4;

interface Watched {
  key: string;
  name: string;
  dataId: string;
  /** The function whose local it is; a global has none. */
  owner: string | undefined;
  /** Which call of that function, counted from the outermost; unknown where the stack was cut. */
  level: number | undefined;
  /** Its value when it was last looked at. */
  value: string;
  /** What the delegate calls it. */
  id?: number;
}

/** A watched variable that was written. */
export interface Change {
  key: string;
  before: string;
  value: string;
}

/** Data breakpoints by name: set where their place is reached, and dropped once the frame that has the variable is gone. */
export class DataWatch {
  /** What could not be watched; sentences. */
  readonly problems: string[] = [];
  /** What there is not, or not so that it could be watched; sentences. */
  readonly mistakes: string[] = [];
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
      const level = owner === undefined || !isWhole(stack) ? undefined : callsOf(owner, stack).length;
      // Calls further out have variables of the same name.
      const outer = (one: Watched): boolean =>
        one.key !== key || (one.level !== undefined && level !== undefined && one.level < level);
      const before = this.#watched.find((one) => one.key === key && !outer(one));
      if (before?.dataId === dataId && before.level === level) continue;
      const value = await this.evaluate(name, stack[0]!.id);
      this.#watched = [...this.#watched.filter(outer), { key, name, dataId, owner, level, value }];
      changed = true;
    }
    if (changed) await this.#set();
  }

  /** What was changed at this stop, and to what. */
  async changes(body: P.StoppedEvent['body'], stack: readonly P.StackFrame[]): Promise<Change[]> {
    const hit = this.#whichOf(body);
    const gone = this.#watched.filter((one) => frameOf(one, stack) === undefined);
    const changes: Change[] = [];
    // Where it is not told which one, the values say it.
    for (const one of hit ?? this.#watched) {
      const frame = frameOf(one, stack);
      if (frame === undefined) continue;
      const { key, value: before } = one;
      one.value = await this.evaluate(one.name, frame.id);
      if (hit !== undefined || one.value !== before) changes.push({ key, before, value: one.value });
    }
    if (gone.length > 0) {
      // Its address belongs to somebody else by now.
      this.#watched = this.#watched.filter((one) => !gone.includes(one));
      await this.#set();
    }
    return changes;
  }

  #whichOf(body: P.StoppedEvent['body']): Watched[] | undefined {
    if (this.#watched.length === 1) return this.#watched;
    const ids = body.hitBreakpointIds ?? [];
    const byId = this.#watched.filter(({ id }) => id !== undefined && ids.includes(id));
    return byId.length > 0 ? byId : undefined;
  }

  async #set(): Promise<void> {
    const chosen = this.#chosen();
    const breakpoints = chosen.map(({ dataId }) => ({ dataId, accessType: 'write' as const }));
    const answer = await this.client.request('setDataBreakpoints', { breakpoints });
    for (const one of this.#watched) {
      const breakpoint = answer.breakpoints[chosen.indexOf(one)];
      if (breakpoint?.id === undefined) delete one.id;
      else one.id = breakpoint.id;
      if (breakpoint?.verified === false)
        this.#problem(`"${one.key}" could not be watched: ${watchError(breakpoint.message ?? '')}`);
    }
  }

  /** Of every variable the innermost call; of calls further out as many as there is room for. */
  #chosen(): Watched[] {
    const newest = this.#watched.filter(
      (one, index) => !this.#watched.slice(index + 1).some(({ key }) => key === one.key),
    );
    const room = Math.max(0, ROOM - newest.length);
    const others = this.#watched.filter((one) => !newest.includes(one));
    for (const { key } of others.slice(0, Math.max(0, others.length - room)))
      this.#problem(`changes of "${key}" in outer calls may be missing: the processor watches ${ROOM} places at once.`);
    const chosen = [...newest, ...(room === 0 ? [] : others.slice(-room))];
    return this.#watched.filter((one) => chosen.includes(one));
  }

  /** An address and a size, in the delegate's words. */
  async #dataId(key: string, name: string, frameId: number): Promise<string | undefined> {
    if (this.quirks.family === 'gdb') {
      this.#problem(`"${key}" could not be watched: gdb watches no memory over DAP. Use lldb-dap for it.`);
      return undefined;
    }
    try {
      const { scopes } = await this.client.request('scopes', { frameId });
      for (const { variablesReference } of scopes.filter((scope) => scope.name !== 'Registers')) {
        const { dataId } = await this.client.request('dataBreakpointInfo', { variablesReference, name, frameId });
        if (typeof dataId === 'string' && !(bytesOf(dataId) > LARGEST)) return dataId;
      }
      const address = /0x([0-9a-f]+)/i.exec(await this.evaluate(`&(${name})`, frameId))?.[1];
      const size = await this.evaluate(`(int)sizeof(${name})`, frameId);
      if (address !== undefined && /^[1-8]$/.test(size)) return `${address.replace(/^0+/, '')}/${size}`;
      this.#mistake(await this.#why(key, name, frameId));
    } catch (error) {
      this.#problem(`"${key}" could not be watched: ${readableError(messageOf(error))}`);
    }
    return undefined;
  }

  async #why(key: string, name: string, frameId: number): Promise<string> {
    const size = Number(await this.evaluate(`(int)sizeof(${name})`, frameId));
    if (size > LARGEST)
      return `"${key}" could not be watched: it takes ${size} bytes, and ${LARGEST} is the most. Name a part of it, such as ${name}.part or ${name}[0].`;
    if (size > 0) return `"${key}" could not be watched: it is in no memory there. Compile with -O0.`;
    return `"${key}" could not be watched: there is no variable of that name there.`;
  }

  #mistake(sentence: string): void {
    if (!this.mistakes.includes(sentence)) this.mistakes.push(sentence);
  }

  #problem(sentence: string): void {
    if (!this.problems.includes(sentence)) this.problems.push(sentence);
  }
}

/** In lldb's words: address and size. */
function bytesOf(dataId: string): number {
  return Number(/\/(\d+)$/.exec(dataId)?.[1] ?? NaN);
}

/** The frame that a watched variable is seen from; nothing once that has returned. */
function frameOf({ owner, level }: Watched, stack: readonly P.StackFrame[]): P.StackFrame | undefined {
  if (owner === undefined) return stack[0];
  const calls = callsOf(owner, stack);
  return level === undefined || !isWhole(stack) ? calls[0] : calls.at(-level);
}

/** Innermost first. */
function callsOf(owner: string, stack: readonly P.StackFrame[]): P.StackFrame[] {
  return stack.filter((frame) => functionName(frame.name) === owner);
}

function isWhole(stack: readonly P.StackFrame[]): boolean {
  return stack.some(({ name }) => functionName(name) === 'main');
}

/**
 * The frame as it was when it wrote: watched memory stops a program behind the instruction that did it, which may be on the next line already. Where
 * that cannot be asked, the frame as it is.
 */
export async function writingFrame(
  client: DelegateClient,
  { family }: Quirks,
  frame: P.StackFrame,
  options: RequestOptions,
): Promise<P.StackFrame> {
  const pc = frame.instructionPointerReference;
  if (family !== 'lldb' || pc === undefined || !/^0x[0-9a-fA-F]+$/.test(pc) || frame.source?.path === undefined)
    return frame;
  const at = BigInt(pc);
  const expression = `\`image lookup -v -a 0x${(at - 1n).toString(16)}`;
  const { result } = await client.request('evaluate', { expression, frameId: frame.id, context: 'repl' }, options);
  const [, first, end] = /Function:.*range = \[(0x[0-9a-f]+)-(0x[0-9a-f]+)\)/.exec(result) ?? [];
  const [, path, line] = /LineEntry: \[[^)]*\): (.+?):(\d+)(?::\d+)?\s*$/m.exec(result) ?? [];
  if (first === undefined || end === undefined || path === undefined || at < BigInt(first) || at > BigInt(end))
    return frame;
  return { ...frame, source: { ...frame.source, path }, line: Number(line) };
}
