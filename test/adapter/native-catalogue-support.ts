import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { DapClient, RefusedError } from '../support/dap-client';
import { Compiled, delegates, nativeFixtures, type Delegate } from '../support/native';
import { Scene } from './e2e-support';

export interface Setup {
  args?: string[];
  env?: Record<string, string>;
  stdin?: string;
  stopOnEntry?: boolean;
  /** Breakpoints by marker or line, of the file that is named before the `:`, or of the scenario's own. */
  dots?: Dot[];
  functions?: string[];
  exceptions?: string[];
}
export type Dot = string | (Omit<P.SourceBreakpoint, 'line'> & { at: string });

export interface At {
  threadId: number;
  reason: string;
  frames: P.StackFrame[];
  top: P.StackFrame;
}

/** A value with all below it, as far as was asked. */
export type Tree = string | { [name: string]: Tree };

/** Frames of one question: never unbounded, since a broken stack may have no end. */
const LEVELS = 20;
/** Children of one value. */
const CHILDREN = 40;

export const REFUSED = '(refused)';

/** Addresses differ from one run to the next. */
const plainly = (text: string): string => text.replace(/0x[0-9a-f]{6,}/g, '0x…');

/**
 * One scripted conversation about one program, with plain lldb-dap or with Toolbreak in front of it. What it hears is noted in `facts`, which must
 * be the same for both. Where the plain adapter is known to say something wrong, it is put right here, in `plain` branches, and nowhere else.
 */
export class Talk {
  readonly facts: [what: string, fact: unknown][] = [];
  client!: DapClient;
  capabilities: P.Capabilities = {};
  #pauses = false;
  #files = new Map<string, Dot[]>();

  constructor(
    readonly plain: boolean,
    readonly delegate: Delegate,
    readonly compiled: Compiled,
    private readonly scene: Scene,
    private readonly file: string,
    readonly program: string,
  ) {}

  note(what: string, fact: unknown): void {
    this.facts.push([what, fact]);
  }

  /** Line of a marker, `file:marker` or of this scenario's file. */
  line(at: string): { path: string; line: number } {
    const [marker, file = this.file] = at.split(':').reverse() as [string, string?];
    const path = join(nativeFixtures, file);
    if (/^\d+$/.test(marker)) return { path, line: Number(marker) };
    const index = readFileSync(path, 'utf8')
      .split('\n')
      .findIndex((text) => text.includes(`/* BP: ${marker} */`));
    assert.ok(index >= 0, `no marker ${marker} in ${file}`);
    return { path, line: index + 1 };
  }

  // ------------------------------------------------------------ its begin

  async launch({ args = [], env = {}, stdin, stopOnEntry = false, ...setup }: Setup = {}): Promise<void> {
    const common = { program: this.program, args, cwd: nativeFixtures, stopOnEntry };
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const input = stdin === undefined ? [] : [`settings set target.input-path ${stdin}`];
    await this.#begin('launch', setup, {
      ...common,
      ...(this.plain
        ? { env: variables, preRunCommands: input }
        : { env, lldbDap: this.delegate.path, ...(stdin === undefined ? {} : { stdin: { file: stdin } }) }),
    });
  }

  async attach(more: { pid: number } | { coreFile: string }, setup: Setup = {}): Promise<void> {
    const ours = 'pid' in more ? { processId: more.pid } : more;
    await this.#begin('attach', setup, {
      program: this.program,
      ...(this.plain ? more : { ...ours, lldbDap: this.delegate.path }),
    });
  }

  async #begin(how: 'launch' | 'attach', setup: Setup, attributes: Record<string, unknown>): Promise<void> {
    this.client = this.plain ? DapClient.start(this.delegate.path, []) : this.scene.adapter();
    if (this.plain) this.scene.clients.push(this.client);
    const { client } = this;
    this.capabilities = { ...(await client.initialize()) };
    const begun = client.send(how, attributes).answer;
    await Promise.race([client.waitFor('initialized'), begun.then(() => new Promise(() => undefined))]);
    for (const dot of setup.dots ?? []) await this.dot(dot);
    if (setup.functions) {
      const breakpoints = setup.functions.map((name) => ({ name }));
      await client.request('setFunctionBreakpoints', { breakpoints });
    }
    if (setup.exceptions) await client.request('setExceptionBreakpoints', { filters: setup.exceptions });
    await client.request('configurationDone', {});
    await begun;
  }

  /** One breakpoint more. */
  async dot(dot: Dot): Promise<P.Breakpoint> {
    const { path } = this.line(typeof dot === 'string' ? dot : dot.at);
    const dots = [...(this.#files.get(path) ?? []), dot];
    this.#files.set(path, dots);
    return (await this.#send(path, dots)).at(-1)!;
  }

  /** No breakpoints in this file any more. */
  async clear(file = this.file): Promise<void> {
    const path = join(nativeFixtures, file);
    this.#files.delete(path);
    await this.#send(path, []);
  }

  async #send(path: string, dots: Dot[]): Promise<P.Breakpoint[]> {
    const breakpoints = dots.map((dot) => {
      const { at, ...rest } = typeof dot === 'string' ? { at: dot } : dot;
      return { ...rest, line: this.line(at).line };
    });
    return (await this.client.request('setBreakpoints', { source: { path }, breakpoints })).breakpoints;
  }

  // ------------------------------------------------------------ a stop

  /** The next stop; its reason and its frames are facts. */
  async stop(): Promise<At> {
    const body = await this.client.waitFor('stopped');
    const threadId = body.threadId!;
    const { stackFrames } = await this.client.request('stackTrace', { threadId, startFrame: 0, levels: LEVELS });
    const reason = this.#reason(body);
    this.note('stopped', `${reason}: ${stackOf(stackFrames).join(' < ')}`);
    return { threadId, reason, frames: stackFrames, top: stackFrames[0]! };
  }

  /**
   * lldb-dap 19 says `breakpoint` at watched memory, and each says `exception` after a pause. A breakpoint that is met in the moment in which it is set
   * comes as a trap; no program here traps by itself.
   */
  #reason({ reason, description = '', text = '' }: P.StoppedEvent['body']): string {
    if (!this.plain) return reason;
    const said = `${description} ${text}`;
    if (this.#pauses && /SIGSTOP/.test(said)) {
      this.#pauses = false;
      return 'pause';
    }
    if (/\bSIGTRAP\b/.test(said)) return 'breakpoint';
    return /\bwatchpoint\b/.test(said) ? 'data breakpoint' : reason;
  }

  async go({ threadId }: At): Promise<void> {
    const { client } = this;
    while (client.pending('continued').length > 0) await client.waitFor('continued');
    await client.request('continue', { threadId });
    // The plain adapter answers before the program runs, and refuses what only a running one can do.
    if (this.plain) await client.waitFor('continued');
  }

  async step(how: 'next' | 'stepIn' | 'stepOut', { threadId }: At, granularity?: P.SteppingGranularity): Promise<At> {
    await this.client.request(how, { threadId, ...(granularity ? { granularity } : {}) });
    return this.stop();
  }

  async pause(threadId = 0): Promise<At> {
    this.#pauses = true;
    const { threads } = await this.client.request('threads', {});
    await this.client.request('pause', { threadId: threadId || threads[0]!.id });
    return this.stop();
  }

  /** The first question is answered by the plain adapter with the threads that there were when it began. */
  async threads(): Promise<P.Thread[]> {
    if (this.plain) await this.client.request('threads', {});
    return (await this.client.request('threads', {})).threads;
  }

  /** Names in a scope of a frame, with what is below them; a fact. */
  async values(
    at: At,
    names: readonly string[],
    { scope = 'Locals', depth = 1, frame = at.top } = {},
  ): Promise<Record<string, Tree>> {
    const found = await this.scope(frame, scope);
    const tree: Record<string, Tree> = {};
    for (const name of names) {
      const one = found.find((each) => each.name === name || each.name === `::${name}`);
      tree[name] = one ? await this.#tree(one, depth) : '(none)';
    }
    this.note(`values of ${frame.name}`, tree);
    return tree;
  }

  async scope(frame: P.StackFrame, name: string): Promise<P.Variable[]> {
    const { scopes } = await this.client.request('scopes', { frameId: frame.id });
    const scope = scopes.find((one) => one.name === name);
    assert.ok(scope, `no scope ${name}, only ${scopes.map((one) => one.name).join(', ')}`);
    return this.#children(scope.variablesReference);
  }

  async #children(variablesReference: number): Promise<P.Variable[]> {
    const asked = { variablesReference, start: 0, count: CHILDREN };
    return (await this.client.request('variables', asked)).variables.slice(0, CHILDREN);
  }

  async #tree(one: P.Variable, depth: number): Promise<Tree> {
    // A struct without a text of its own shows its type, as the plain adapter leaves to the editor.
    const value = plainly(one.value === '' ? (one.type ?? '') : await this.#referredTo(one));
    if (depth === 0 || !one.variablesReference) return value;
    const below: Record<string, Tree> = { '': value };
    for (const child of await this.#children(one.variablesReference))
      below[child.name] = await this.#tree(child, depth - 1);
    return below;
  }

  /** The plain adapter shows the address that a reference of C++ has inside, and below it the number that is there. */
  async #referredTo({ name, value, type, variablesReference }: P.Variable): Promise<string> {
    if (!this.plain || !type?.endsWith('&')) return value;
    if (!/^0x[0-9a-f]+$/.test(value)) return value.replace(/^0x[0-9a-f]+ /, '');
    const [itself, ...others] = await this.#children(variablesReference);
    return itself?.name === `&${name}` && others.length === 0 ? itself.value : value;
  }

  /** Sets a variable of a scope, or `path.below.it`, as Variables does. What it says is a fact. */
  async set(at: At, path: string, value: string, scope = 'Locals'): Promise<string> {
    const names = path.split('.');
    const { scopes } = await this.client.request('scopes', { frameId: at.top.id });
    let ref = scopes.find((one) => one.name === scope)!.variablesReference;
    for (const name of names.slice(0, -1)) {
      const found = (await this.#children(ref)).find((one) => one.name === name);
      assert.ok(found, `no ${name} of ${path}`);
      ref = found.variablesReference;
    }
    const name = names.at(-1)!;
    const said = await orRefused(async () => {
      const body = await this.client.request('setVariable', { variablesReference: ref, name, value });
      // lldb-dap 19 names it otherwise.
      return plainly(body.value ?? (body as unknown as { result: string }).result);
    });
    this.note(`set ${path}`, said);
    return said;
  }

  /** The value of an expression, or that it has none; a fact. */
  async evaluate(at: At, expression: string, context: 'watch' | 'hover' = 'watch', frame = at.top): Promise<string> {
    const said = await orRefused(async () =>
      plainly((await this.client.request('evaluate', { expression, frameId: frame.id, context })).result),
    );
    this.note(`${context} ${expression}`, said);
    return said;
  }

  /** An expression's value with what is below it, as a watch shows it; a fact. */
  async look(at: At, expression: string, depth = 1): Promise<void> {
    const body = await this.client.request('evaluate', { expression, frameId: at.top.id, context: 'watch' });
    this.note(`watch ${expression}`, await this.#tree({ ...body, name: expression, value: body.result }, depth));
  }

  /** A command of lldb's own. */
  async command(text: string, at?: At): Promise<string> {
    const frame = at ? { frameId: at.top.id } : {};
    return (await this.client.request('evaluate', { expression: `\`${text}`, context: 'repl', ...frame })).result;
  }

  async watch(at: At, name: string, scope: string, accessType: P.DataBreakpointAccessType = 'write'): Promise<void> {
    const { scopes } = await this.client.request('scopes', { frameId: at.top.id });
    const variablesReference = scopes.find((one) => one.name === scope)!.variablesReference;
    const { variables } = await this.client.request('variables', { variablesReference, start: 0, count: CHILDREN });
    const known = variables.find((one) => one.name.replace(/^::/, '') === name)!.name;
    const { dataId } = await this.client.request('dataBreakpointInfo', { variablesReference, name: known });
    assert.ok(dataId, `${name} cannot be watched`);
    const { breakpoints } = await this.client.request('setDataBreakpoints', { breakpoints: [{ dataId, accessType }] });
    this.note(`watched ${name}`, breakpoints[0]!.verified);
  }

  async unwatch(): Promise<void> {
    await this.client.request('setDataBreakpoints', { breakpoints: [] });
  }

  // ------------------------------------------------------------ its end

  /** How the program ended, and all it wrote: its lines in one order, since the plain adapter has both streams in one. */
  async end(): Promise<void> {
    const { exitCode } = await this.client.waitFor('exited');
    await this.client.waitFor('terminated');
    assert.deepEqual(this.client.pending('stopped'), [], 'stops that no one expected');
    this.note('exit code', exitCode);
    this.note('output', this.output().sort());
  }

  /** Lines that the program wrote so far. What lldb thinks of the compiler's work is not the program's, though the plain adapter mixes it in. */
  output(): string[] {
    const { stdout = '', stderr = '' } = this.client.output;
    return `${stdout}\n${stderr}`
      .replaceAll('\r', '')
      .split('\n')
      .filter((line) => line !== '' && !(this.plain && /^error: .* DW_TAG_/.test(line)));
  }
}

/** That it is refused is a fact; the words are each adapter's own. */
async function orRefused(ask: () => Promise<string>): Promise<string> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof RefusedError) return REFUSED;
    throw error;
  }
}

/** Innermost first: those of the program's own sources with their places, the others left out. */
export function stackOf(frames: readonly P.StackFrame[]): string[] {
  return frames
    .filter(({ source, line }) => source?.path && !source.sourceReference && line > 0 && existsSync(source.path))
    .map(({ name, source, line }) => `${name} ${basename(source!.path!)}:${line}`);
}

/** A named conversation, the same with and without Toolbreak. */
export interface Scenario {
  name: string;
  file: string;
  build?: (compiled: Compiled) => string;
  talk(talk: Talk): Promise<void>;
  /** What Toolbreak says better on purpose: changes the plain facts into what is true. */
  better?: (facts: Talk['facts'], delegate: Delegate) => Talk['facts'];
}

export function catalogue(title: string, scenarios: readonly Scenario[]): void {
  const compiled = new Compiled();
  const programs = new Map<string, string>();
  after(() => compiled.remove());
  for (const delegate of delegates())
    describe(`${title}: ${delegate.name}, plain and through Toolbreak`, function () {
      this.timeout(120_000);
      for (const { name, file, build, talk, better } of scenarios)
        it(name, async () => {
          const key = `${file}${build?.toString() ?? ''}`;
          const program = programs.get(key) ?? (build ? build(compiled) : compiled.program(file, ['-pthread']));
          programs.set(key, program);
          const [plain, ours] = [await facts(true), await facts(false)];
          assert.deepEqual(ours, better ? better(plain, delegate) : plain);

          async function facts(isPlain: boolean): Promise<Talk['facts']> {
            const scene = new Scene();
            try {
              const one = new Talk(isPlain, delegate, compiled, scene, file, program);
              await talk(one);
              return one.facts;
            } finally {
              await scene.end();
            }
          }
        });
    });
}
