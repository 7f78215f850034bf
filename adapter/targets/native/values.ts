import type { DebugProtocol as P } from '@vscode/debugprotocol';
import type { ControlRequests, Scope, Variable } from '../../../protocol/control';
import { UserError } from '../../common/errors';
import { DelegateError, type DelegateClient } from '../delegate/client';
import { isReference, readableError, referredTo, type Quirks } from './quirks';

/** A container that was never made may claim to have billions of elements: a delegate would make all of them in its memory. */
const MOST_VARIABLES = 10_000;

/** Where children of a value or of a scope come from. */
type Place =
  | { frame: number; scope: number; expensive?: boolean; registers?: boolean; references?: References }
  | {
      down: number;
      frame?: number;
      indexed?: number;
      named?: number;
      registers?: boolean;
      references?: References;
    };
/** C++ references among the children of a place that were told: how each is written. */
type References = Map<string, string>;

/** What the hardware can watch at once in one place. */
const LARGEST_WATCHED = 8;

/** How a value can be watched, and its type where that is known. */
export type WatchInfo = ControlRequests['dataInfo']['body'] & { type?: string };

type Args<K extends keyof ControlRequests> = Omit<ControlRequests[K]['arguments'], 'hold' | 'client'>;

/**
 * Scopes and values of one stop. Numbers are ours: lldb-dap gives the scopes of every frame the same ones, and means those of the frame that was
 * asked for last, so that frame is asked for again where it is another one.
 */
export class NativeValues {
  #places = new Map<number, Place>();
  #next = 1;
  /** The frame whose scopes the delegate means by these numbers. */
  #scopesOf: number | undefined;
  #scopeNumbers: number[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly client: DelegateClient,
    private readonly family: Quirks['family'],
  ) {}

  /** The program went on: nothing of before can be asked any more. */
  forget(): void {
    this.#places = new Map();
    this.#scopesOf = undefined;
  }

  async scopes(frame: number, signal?: AbortSignal): Promise<{ scopes: Scope[] }> {
    const scopes = await this.#inTurn(() => this.#fetchScopes(frame, signal));
    return {
      scopes: scopes.map((scope, index): Scope => {
        const hint = scope.presentationHint ?? (/^registers$/i.test(scope.name) ? 'registers' : undefined);
        const registers = hint === 'registers';
        return {
          name: scope.name,
          ...(hint ? { hint } : {}),
          ref: this.#put({ frame, scope: index, registers }),
          ...counts(scope),
          // Globals and registers may be many: an editor opens them when somebody wants them.
          expensive: scope.expensive || registers || /^(?:globals|statics?)$/i.test(scope.name),
        };
      }),
    };
  }

  async variables(
    { ref, filter, start, count }: Args<'variables'>,
    signal?: AbortSignal,
  ): Promise<{ variables: Variable[] }> {
    const place = this.#place(ref);
    if (filter === 'named' && 'down' in place && place.indexed !== undefined && !place.named) return { variables: [] };
    if (filter === 'indexed' && !('down' in place && place.indexed !== undefined)) return { variables: [] };
    const page = {
      ...(start === undefined ? {} : { start }),
      count: Math.min(count || MOST_VARIABLES, MOST_VARIABLES),
    };
    const body = await this.#below(place, (down) =>
      this.#request('variables', { variablesReference: down, ...page }, signal),
    );
    for (const { name, type, evaluateName } of body.variables) {
      if (isReference(type) && evaluateName) (place.references ??= new Map()).set(name, evaluateName);
    }
    return { variables: body.variables.map((one) => this.#variable(one, place.registers === true, place.frame)) };
  }

  async setVariable({ ref, name, value }: Args<'setVariable'>, signal?: AbortSignal): Promise<Variable> {
    const place = this.#place(ref);
    const reference = place.references?.get(name);
    if (reference !== undefined && place.frame !== undefined && this.family === 'lldb') {
      // lldb would make it refer to somewhere else.
      return { ...(await this.setExpression({ frame: place.frame, expression: reference, value }, signal)), name };
    }
    if (!this.client.can('setVariable')) throw new UserError(`${this.client.name} cannot change variables.`);
    const body = await this.#below(place, (down) =>
      this.#request('setVariable', { variablesReference: down, name, value }, signal),
    );
    return this.#variable(
      { ...body, name, value: body.value ?? body.result ?? value },
      place.registers === true,
      place.frame,
    );
  }

  /** As an assignment: not every delegate has a request for it. */
  async setExpression({ frame, expression, value }: Args<'setExpression'>, signal?: AbortSignal): Promise<Variable> {
    await this.evaluate({ frame, expression: `(${expression}) = (${value})`, context: 'watch' }, signal);
    return this.evaluate({ frame, expression, context: 'watch' }, signal);
  }

  async evaluate({ frame, expression, context }: Args<'evaluate'>, signal?: AbortSignal): Promise<Variable> {
    const body = await this.#request(
      'evaluate',
      {
        expression: this.#words(expression, context),
        ...(frame === undefined ? {} : { frameId: frame }),
        context: this.#context(expression, context),
      },
      signal,
    );
    return this.#variable({ ...body, name: expression, value: body.result ?? '' }, false, frame);
  }

  async dataInfo({ ref, name }: Args<'dataInfo'>, signal?: AbortSignal): Promise<WatchInfo> {
    if (!this.client.can('dataBreakpointInfo')) return refused(`${this.client.name} cannot watch memory.`);
    const [body, type] = await this.#below(this.#place(ref), async (down) => {
      const info = await this.#request('dataBreakpointInfo', { variablesReference: down, name }, signal);
      if (typeof info.dataId !== 'string') return [info, undefined] as const;
      const { variables } = await this.#request(
        'variables',
        { variablesReference: down, count: MOST_VARIABLES },
        signal,
      );
      return [info, variables.find((one) => one.name === name)?.type] as const;
    });
    return { ...watched(body, name), ...(type ? { type } : {}) };
  }

  async memoryInfo({ frame, name, bytes, asAddress }: Args<'memoryInfo'>, signal?: AbortSignal): Promise<WatchInfo> {
    if (!this.client.can('dataBreakpointInfo')) return refused(`${this.client.name} cannot watch memory.`);
    if (asAddress && this.client.capabilities.supportsDataBreakpointBytes !== true) {
      // What an address is watched by is known of every lldb-dap: address and size.
      const size = bytes ?? LARGEST_WATCHED;
      if (!/^0x[0-9a-fA-F]+$/.test(name)) return refused(`"${name}" is no address. Write it as 0x7ffe10.`);
      return { path: '', description: bytesAt(size, name), ...watchedBy(name, size) };
    }
    if (asAddress) {
      const body = await this.#request('dataBreakpointInfo', { name, asAddress, bytes: bytes ?? 8 }, signal);
      return watched(body, name);
    }
    // The delegates find names in the innermost scope at best: an address and a size are the same for all of them.
    const asked = { context: 'watch' as const, ...(frame === undefined ? {} : { frame }) };
    const at = await this.evaluate({ ...asked, expression: `(void *)&(${name})` }, signal);
    const address = /0x[0-9a-fA-F]+/.exec(at.value)?.[0];
    const size = bytes ?? Number((await this.evaluate({ ...asked, expression: `sizeof(${name})` }, signal)).value);
    if (address === undefined || !(size >= 1 && size <= LARGEST_WATCHED)) {
      return refused(`${name} cannot be watched: only values in memory of up to ${LARGEST_WATCHED} bytes can.`);
    }
    const { type } = await this.evaluate({ ...asked, expression: name }, signal);
    const description = `${name}, ${bytesAt(size, address)}`;
    return { path: '', description, ...watchedBy(address, size), ...(type ? { type } : {}) };
  }

  async completions({ frame, text, column }: Args<'completions'>, signal?: AbortSignal) {
    if (!this.client.can('completions')) return { targets: [] };
    const { targets } = await this.#request(
      'completions',
      { text, column, ...(frame === undefined ? {} : { frameId: frame }) },
      signal,
    );
    const word = /[A-Za-z0-9_]*$/.exec(text.slice(0, column - 1))?.[0] ?? '';
    return {
      targets: targets
        // What completes the word before the cursor; the delegate's own commands are no part of the language.
        .filter(({ label, text: whole }) => wordIn(whole ?? label).startsWith(word))
        .map((target) => ({
          label: wordIn(target.text ?? target.label),
          ...(target.type ? { type: target.type } : {}),
          start: column - 1 - word.length,
          length: word.length,
        })),
    };
  }

  // ------------------------------------------------------------ inside

  /** lldb commands begin with a backtick; all else is an expression of the program. */
  /** A command of the debugger's own is marked for lldb-dap, and told from an expression by the context alone for gdb. */
  #words(expression: string, context: Args<'evaluate'>['context']): string {
    const isCommand = context === 'repl' && expression.startsWith('`');
    return isCommand && this.family === 'gdb' ? expression.slice(1) : expression;
  }

  #context(expression: string, context: Args<'evaluate'>['context']): string {
    if (context === 'repl') return expression.startsWith('`') ? 'repl' : 'watch';
    if (context === 'clipboard' && this.client.capabilities.supportsClipboardContext !== true) return 'watch';
    return context;
  }

  /** Asks for what is below a place. */
  async #below<T>(place: Place, ask: (down: number) => Promise<T>): Promise<T> {
    if ('down' in place) return ask(place.down);
    return this.#inTurn(async () => {
      if (this.#scopesOf !== place.frame) await this.#fetchScopes(place.frame);
      const number = this.#scopeNumbers[place.scope];
      if (number === undefined) throw new UserError('These variables are gone.');
      return ask(number);
    });
  }

  async #fetchScopes(frame: number, signal?: AbortSignal): Promise<P.Scope[]> {
    this.#scopesOf = undefined;
    const { scopes } = await this.#request('scopes', { frameId: frame }, signal);
    this.#scopeNumbers = scopes.map((scope) => scope.variablesReference);
    this.#scopesOf = frame;
    return scopes;
  }

  /** One after the other: between the question for a frame's scopes and that for what is in them no other frame may be asked for. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#turn.then(work);
    this.#turn = next.catch(() => undefined);
    return next;
  }

  async #request<C extends 'scopes' | 'variables' | 'setVariable' | 'evaluate' | 'dataBreakpointInfo' | 'completions'>(
    command: C,
    args: Parameters<typeof this.client.request<C>>[1],
    signal?: AbortSignal,
  ) {
    try {
      return await this.client.request(command, args, { signal });
    } catch (error) {
      if (error instanceof DelegateError && error.why === 'refused') throw new UserError(readableError(error.message));
      throw error;
    }
  }

  #variable(
    one: Partial<P.Variable> & { name: string; value: string },
    register: boolean,
    frame: number | undefined,
  ): Variable {
    const { name, value, type, evaluateName, presentationHint } = one;
    const down = typeof one.variablesReference === 'number' ? one.variablesReference : 0;
    const pointer = /[*&]\s*(?:const)?$/.test(type ?? '');
    const indexed = one.indexedVariables;
    const memory = one.memoryReference ?? (pointer ? /^0x[0-9a-fA-F]+/.exec(value)?.[0] : undefined);
    const group = register && down > 0;
    return {
      name,
      // A struct's own text says where it lies, or nothing.
      value: value === '' && type && !group ? type : referredTo(value, type),
      ...(type && type !== '<no-type>' ? { type } : {}),
      ref:
        down > 0
          ? this.#put({ down, ...(frame === undefined ? {} : { frame }), ...counts(one), registers: register })
          : 0,
      ...counts(one),
      ...(evaluateName && !register ? { evaluateName } : register && !group ? { evaluateName: `$${name}` } : {}),
      editable: !group && (down === 0 || pointer) && indexed === undefined,
      ...(presentationHint?.attributes?.length
        ? { attributes: presentationHint.attributes.filter((attribute) => attribute !== 'readOnly') }
        : {}),
      ...(presentationHint?.kind ? { kind: presentationHint.kind } : {}),
      ...(memory ? { memory } : {}),
    };
  }

  #put(place: Place): number {
    const ref = this.#next++;
    this.#places.set(ref, place);
    return ref;
  }

  #place(ref: number): Place {
    const place = this.#places.get(ref);
    if (!place) throw new UserError('This value is gone: the program went on.');
    return place;
  }
}

function counts(of: { namedVariables?: number; indexedVariables?: number }): { named?: number; indexed?: number } {
  return {
    ...(of.namedVariables ? { named: of.namedVariables } : {}),
    ...(of.indexedVariables ? { indexed: of.indexedVariables } : {}),
  };
}

function wordIn(text: string): string {
  // `name -- type` in version 19.
  return /[A-Za-z0-9_]+$/.exec(text.replace(/ -- .*$/s, '').trimEnd())?.[0] ?? text;
}

/** As lldb-dap names what is watched. */
function watchedBy(address: string, size: number): Pick<ControlRequests['dataInfo']['body'], 'data' | 'accesses'> {
  return { data: `${address.slice(2)}/${size}`, accesses: ['read', 'write', 'readWrite'] };
}

function bytesAt(size: number, address: string): string {
  return `${size} byte${size === 1 ? '' : 's'} at ${address}`;
}

function refused(description: string): ControlRequests['dataInfo']['body'] {
  return { path: '', description };
}

function watched(body: P.DataBreakpointInfoResponse['body'], name: string): WatchInfo {
  if (typeof body.dataId !== 'string') return refused(body.description || 'This value cannot be watched.');
  // lldb's words are for lldb: `4 bytes at 7FFE10 sum`.
  const [, size, address] = /^(\d+) bytes? at (?:0x)?([0-9A-Fa-f]+)\b/.exec(body.description) ?? [];
  const place = size === undefined ? undefined : bytesAt(Number(size), `0x${address!.toLowerCase()}`);
  return {
    path: '',
    description: place === undefined ? body.description || name : name.startsWith('0x') ? place : `${name}, ${place}`,
    data: body.dataId,
    accesses: body.accessTypes ?? ['read', 'write', 'readWrite'],
  };
}
