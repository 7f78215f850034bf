import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runtimeFeedback } from '../adapter/targets/native/feedback';
import { QUICK_START } from '../adapter/targets/native/quirks';
import { DapClient } from '../test/support/dap-client';
import { Compiled, delegates, type Delegate } from '../test/support/native';
import type { Row } from './rows';
import { app, connectSoon, freePort, markerLine, percentile, python } from './session';

const root = join(__dirname, '..');
const FOR_EVER = '100000000';
/** Starts of each debugger, in turns: a machine is not as quick at one time as at another. */
const STARTS = 9;
/** Sessions of each debugger with stops, in turns. */
const SESSIONS = 3;

/** A debugger at its first stop, and how long that took: from its own start, and from the request. */
interface Begun {
  client: DapClient;
  threadId: number;
  whole: number;
  request: number;
  end(): Promise<void>;
}
type Begin = () => Promise<Begun>;

const what = {
  whole: 'start of the debugger to the first stop',
  request: 'launch request to the first stop',
  next: 'continue to the next stop',
  step: 'step to the next line',
  look: 'stack and variables after a stop',
} as const;
type Times = Record<keyof typeof what, number[]>;

async function begin(
  source: string,
  line: number,
  args: Record<string, unknown>,
  open: () => Promise<{ client: DapClient; close: () => unknown }>,
  how: 'launch' | 'attach' = 'launch',
): Promise<Begun> {
  const started = performance.now();
  const { client, close } = await open();
  await client.initialize();
  const asked = performance.now();
  const begun = client.send(how, args).answer;
  await Promise.race([client.waitFor('initialized'), begun.then(() => new Promise(() => undefined))]);
  await client.request('setBreakpoints', { source: { path: source }, breakpoints: [{ line }] });
  await client.request('configurationDone', {});
  const { threadId = 1 } = await client.waitFor('stopped');
  const now = performance.now();
  const end = async (): Promise<void> => {
    await client.request('disconnect', { terminateDebuggee: true }).catch(() => undefined);
    await client.end();
    await close();
  };
  return { client, threadId, whole: now - started, request: now - asked, end };
}

/** What an editor asks when the app has stopped. */
async function look(client: DapClient, threadId: number): Promise<void> {
  await client.request('threads', {});
  const { stackFrames } = await client.request('stackTrace', { threadId, startFrame: 0, levels: 20 });
  const { scopes } = await client.request('scopes', { frameId: stackFrames[0]!.id });
  await client.request('variables', { variablesReference: scopes[0]!.variablesReference, start: 0, count: 100 });
}

async function timed(times: number[], work: () => Promise<unknown>): Promise<void> {
  const from = performance.now();
  await work();
  times.push(performance.now() - from);
}

/** One session's stops, after ten that nobody counts. */
async function stops({ client, threadId }: Begun, count: number, times: Times): Promise<void> {
  const go = async (how: 'continue' | 'next'): Promise<void> => {
    await client.request(how, { threadId });
    await client.waitFor('stopped');
  };
  const lost: number[] = [];
  for (let round = -10; round < count; round += 1) {
    const into = (list: number[]): number[] => (round < 0 ? lost : list);
    await timed(into(times.look), () => look(client, threadId));
    await timed(into(times.step), () => go('next'));
    await look(client, threadId);
    await timed(into(times.next), () => go('continue'));
  }
}

async function compare(
  { row, name, goal, count }: { row: string; name: string; goal: string; count: number },
  plain: Begin,
  ours: Begin,
): Promise<Row[]> {
  const times = [plain, ours].map((): Times => ({ whole: [], request: [], next: [], step: [], look: [] }));
  for (let round = 0; round < STARTS; round += 1)
    for (const [index, start] of [plain, ours].entries()) {
      const begun = await start();
      times[index]!.whole.push(begun.whole);
      times[index]!.request.push(begun.request);
      if (round < SESSIONS) await stops(begun, count, times[index]!);
      await begun.end();
    }
  return (Object.keys(what) as (keyof typeof what)[]).map((key) => ({
    row,
    what: `${what[key]}, p50, beside ${name}`,
    unit: 'ms',
    reference: { name, value: percentile(times[0]![key], 0.5) },
    ours: percentile(times[1]![key], 0.5),
    goal,
  }));
}

/** Our adapter, with a state that all sessions of this run share as a person's do, started as the extension starts it for such a program. */
function toolbreak(args: string[] = []): Promise<{ client: DapClient; close: () => void }> {
  const client = DapClient.start(process.execPath, [join(root, 'dist/toolbreak.js'), 'dap', ...args], {
    env: { ...process.env, XDG_STATE_HOME: stateFolder() },
  });
  return Promise.resolve({ client, close: () => undefined });
}

let state: string | undefined;
function stateFolder(): string {
  if (state === undefined) {
    const folder = (state = mkdtempSync(join(tmpdir(), 'toolbreak-bench-')));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  }
  return state;
}

async function compiled<T>(work: (program: string) => Promise<T>): Promise<T> {
  const folder = new Compiled();
  try {
    return await work(folder.program(app('native_lines.c')));
  } finally {
    folder.remove();
  }
}

/** Row 14: native code, beside the same lldb-dap without us. */
export function nativeStops(): Promise<Row[]> {
  return compiled(async (program) => {
    const rows: Row[] = [];
    const line = markerLine('native_lines.c', 'line');
    const args = { program, args: [FOR_EVER], cwd: root };
    for (const { name, path } of delegates()) {
      const plain: Begin = () =>
        begin(app('native_lines.c'), line, { ...args, initCommands: QUICK_START }, () => {
          const client = DapClient.start(path, []);
          return Promise.resolve({ client, close: () => undefined });
        });
      const ours: Begin = () =>
        begin(app('native_lines.c'), line, { ...args, lldbDap: path }, () =>
          toolbreak(['--native', '--lldb-dap', path]),
        );
      rows.push(...(await compare({ row: '14', name, goal: '1.2x + 1 ms', count: 150 }, plain, ours)));
    }
    return rows;
  });
}

/** What `toolbreak feedback` is asked for at a line that is hit again and again, and what a client of lldb-dap would ask for the same. */
const KINDS = {
  'a backtrace': { at: true, value: false },
  'a backtrace and a value': { at: true, value: true },
  'a value': { at: false, value: true },
} as const;
type Kind = (typeof KINDS)[keyof typeof KINDS];
const HITS = 1000;
/** Runs of each, in turns. */
const RUNS = 3;

/**
 * Row 15: feedback, beside a client of lldb-dap that asks for no more than the same, frames down to `main` and the value, and goes on when it has the
 * answers; and that beside one that asks for nothing but to go on: what lldb takes for stopping.
 */
export function feedbackHits(): Promise<Row[]> {
  return compiled(async (program) => {
    const rows: Row[] = [];
    const row = (what: string, name: string, reference: number[], ours: number[], goal: string): void => {
      const [value, rate] = [percentile(reference, 0.5), percentile(ours, 0.5)];
      rows.push({ row: '15', what, unit: 'hits/s', reference: { name, value }, ours: rate, goal });
    };
    for (const delegate of delegates()) {
      const rates = { bare: [] as number[], plain: new Map<string, number[]>(), ours: new Map<string, number[]>() };
      for (let run = 0; run < RUNS; run += 1) {
        rates.bare.push(await plainHits(program, delegate, { at: false, value: false }));
        for (const [name, kind] of Object.entries(KINDS)) {
          const add = (to: Map<string, number[]>, rate: number) => to.set(name, [...(to.get(name) ?? []), rate]);
          add(rates.plain, await plainHits(program, delegate, kind));
          add(rates.ours, await hits(program, delegate, kind));
        }
      }
      const { name } = delegate;
      for (const kind of Object.keys(KINDS)) {
        const [plain, ours] = [rates.plain.get(kind)!, rates.ours.get(kind)!];
        row(
          `hits of \`toolbreak feedback\` with ${kind}`,
          `${name}, the same asked`,
          plain,
          ours,
          "the delegate's limit",
        );
        row(`the same, beside stops without a question`, name, rates.bare, ours, '10,000');
      }
    }
    return rows;
  });
}

const hitLine = (): number => markerLine('native_lines.c', 'line');

async function hits(program: string, delegate: Delegate, { at, value }: Kind): Promise<number> {
  const location = `bench/apps/native_lines.c:${hitLine()}`;
  const result = await runtimeFeedback({
    command: [program, String(HITS)],
    project: root,
    debugger: delegate.path,
    ...(at && { at: [location] }),
    ...(value && { watches: [{ location, expression: 'number' }] }),
  });
  const [told] = [...Object.values(result.breakpoints), ...Object.values(result.watchpoints)];
  return told!.length / result.seconds;
}

/** Stops a second of a client that knows how deep the stack is, and what the innermost frame's number is. */
async function plainHits(program: string, { path }: Delegate, { at, value }: { at: boolean; value: boolean }) {
  const args = { program, args: [String(HITS)], cwd: root, initCommands: QUICK_START };
  const { client, threadId, end } = await begin(app('native_lines.c'), hitLine(), args, () =>
    Promise.resolve({ client: DapClient.start(path, []), close: () => undefined }),
  );
  const { stackFrames } = await client.request('stackTrace', { threadId, startFrame: 0, levels: 1 });
  const frameId = stackFrames[0]!.id;
  const from = performance.now();
  for (let stop = 1; stop < HITS; stop += 1) {
    const asked: Promise<unknown>[] = [];
    if (at) asked.push(client.request('stackTrace', { threadId, startFrame: 0, levels: 2 }));
    if (value) asked.push(client.request('evaluate', { expression: 'number', frameId, context: 'watch' }));
    await Promise.all(asked);
    void client.send('continue', { threadId }).answer;
    await client.waitFor('stopped');
  }
  const rate = ((HITS - 1) * 1000) / (performance.now() - from);
  await end();
  return rate;
}

/** Row 16: Python lines, beside debugpy as a server in the app. */
export function pythonStops(): Promise<Row[]> {
  const source = app('python_lines.py');
  const line = markerLine('python_lines.py', 'line');
  const debugpy: Begin = async () => {
    const port = await freePort();
    const address = `127.0.0.1:${port}`;
    return begin(
      source,
      line,
      { connect: { host: '127.0.0.1', port } },
      async () => {
        const child = spawn(
          python,
          ['-Xfrozen_modules=off', '-m', 'debugpy', '--listen', address, '--wait-for-client', source, FOR_EVER],
          { stdio: ['ignore', 'ignore', 'inherit'] },
        );
        const exited = new Promise((resolve) => child.once('exit', resolve));
        return {
          client: await connectSoon(port),
          close: () => {
            child.kill('SIGKILL');
            return exited;
          },
        };
      },
      'attach',
    );
  };
  const ours: Begin = () =>
    begin(source, line, { program: source, args: [FOR_EVER], python, cwd: root }, () => toolbreak());
  return compare({ row: '16', name: 'debugpy', goal: 'far below 200 ms a step', count: 20 }, debugpy, ours);
}
