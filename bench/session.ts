import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DapClient } from '../test/support/dap-client';

const root = join(__dirname, '..');
export const python = process.env.TOOLBREAK_TEST_PYTHON ?? 'python3';
export const app = (name: string) => join(root, 'bench/apps', name);

export type Figures = Map<string, number>;

/** Figures among the lines that a program printed. */
export function figuresIn(text: string): Figures {
  const figures: Figures = new Map();
  for (const line of text.split('\n').filter((each) => each.startsWith('{"figure"'))) {
    const { figure, value } = JSON.parse(line) as { figure: string; value: number };
    figures.set(figure, value);
  }
  return figures;
}

/** Runs a program without any debugger. */
export async function bare(program: string, args: string[]): Promise<Figures> {
  const child = spawn(python, [app(program), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}.`);
  return figuresIn(text);
}

/** 1-based line of a marker comment such as `# BP: work`. */
export function markerLine(program: string, marker: string): number {
  const line = readFileSync(app(program), 'utf8')
    .split('\n')
    .findIndex((each) => each.includes(`BP: ${marker}`));
  if (line < 0) throw new Error(`${program} has no marker ${marker}.`);
  return line + 1;
}

export interface Under {
  args: string[];
  launch?: Record<string, unknown>;
  breakpoint?: { marker: string; condition?: string; hitCondition?: string };
}

/** Starts a program under Toolbreak; the caller drives the client, then calls `end`. */
export async function start(program: string, { args, launch = {}, breakpoint }: Under) {
  const state = mkdtempSync(join(tmpdir(), 'toolbreak-bench-'));
  const client = DapClient.start(process.execPath, [join(root, 'dist/toolbreak.js'), 'dap'], {
    env: { ...process.env, XDG_STATE_HOME: state },
  });
  const setBreakpoint = async () => {
    if (!breakpoint) return;
    const { marker, ...rest } = breakpoint;
    await client.request('setBreakpoints', {
      source: { path: app(program) },
      breakpoints: [{ line: markerLine(program, marker), ...rest }],
    });
  };
  const end = async () => {
    await client.end();
    rmSync(state, { recursive: true, force: true });
  };
  try {
    await client.launch(
      { program: app(program), args, python, cwd: join(root, 'bench/apps'), ...launch },
      setBreakpoint,
    );
  } catch (error) {
    await end();
    throw error;
  }
  return { client, end };
}

/** Starts a program without any debugger; what it answers waits for the program's end. */
export async function beginBare(program: string, args: string[]): Promise<() => Promise<void>> {
  const child = spawn(python, [app(program), ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const closed = once(child, 'close') as Promise<[number | null]>;
  closed.catch(() => undefined);
  await once(child, 'spawn');
  return async () => {
    const [code] = await closed;
    if (code !== 0) throw new Error(`${program} ended with ${String(code)}.`);
  };
}

/** Starts a program under Toolbreak; what it answers waits for the program's end. */
export async function beginUnder(program: string, options: Under): Promise<() => Promise<void>> {
  const { client, end } = await start(program, options);
  return async () => {
    try {
      await client.waitFor('terminated');
    } finally {
      await end();
    }
  };
}

/** Runs a program to its end under Toolbreak. */
export async function under(program: string, options: Under): Promise<Figures> {
  const { client, end } = await start(program, options);
  try {
    await client.waitFor('terminated');
    return figuresIn(client.output.stdout ?? '');
  } finally {
    await end();
  }
}

/** Runs a program to its end under debugpy, attached, with a breakpoint that is never reached. */
export async function underDebugpy(program: string, args: string[], marker: string): Promise<Figures> {
  const port = await freePort();
  const child = spawn(
    python,
    [
      '-Xfrozen_modules=off',
      '-m',
      'debugpy',
      '--listen',
      `127.0.0.1:${port}`,
      '--wait-for-client',
      app(program),
      ...args,
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: join(root, 'bench/apps'),
    },
  );
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const closed = new Promise((resolve) => child.once('close', resolve));
  const client = await connectSoon(port);
  await client.attach({ connect: { host: '127.0.0.1', port } }, () =>
    client.request('setBreakpoints', {
      source: { path: app(program) },
      breakpoints: [{ line: markerLine(program, marker) + 1 }],
    }),
  );
  await exited;
  // debugpy's adapter, a process of its own, keeps the app's stdout open until its client has left.
  await client.end();
  await closed;
  return figuresIn(text);
}

/** debugpy opens its port a moment after it started. */
export async function connectSoon(port: number): Promise<DapClient> {
  for (const deadline = Date.now() + 20_000; ;) {
    try {
      return await DapClient.connect(port);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((next) => setTimeout(next, 50));
    }
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

export function percentile(values: number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}
