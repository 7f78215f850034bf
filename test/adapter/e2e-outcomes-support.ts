import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolbreakCommand } from '../support/adapter';
import { DapClient } from '../support/dap-client';
import { Place, python } from './target-support';

export const root = join(__dirname, '..', '..');
export const apps = join(root, 'fixtures', 'apps');
export const probes = join(__dirname, 'outcome-apps');

/** The environment of an adapter and its app, with its state in this folder. */
export function environment(folder: string, more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, XDG_STATE_HOME: join(folder, 'state'), XDG_RUNTIME_DIR: folder };
  for (const name of ['TOOLBREAK_CONNECT', 'TOOLBREAK_CHILD', 'PYTHONPATH']) delete env[name];
  // Set by the debugger where it is not set: the bare run that is compared has it as well.
  return { ...env, PYTHONUNBUFFERED: '1', ...more };
}

export async function startAdapter(folder: string, more: Record<string, string> = {}): Promise<DapClient> {
  return DapClient.start(process.execPath, toolbreakCommand('dap'), { cwd: root, env: environment(folder, more) });
}

/** Lines of the `# BP:` markers of a file, all of which are functions. */
export function markers(file: string): number[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text, index) => (/^\s*(async )?def .*# BP: /.test(text) ? [index + 1] : []));
}

/** Lines of all functions of a file. */
export function functions(file: string): number[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text, index) => (/^\s*(async )?def /.test(text) ? [index + 1] : []));
}

export interface App {
  program: string;
  args?: string[];
  cwd: string;
  python?: string;
  /** Given on standard input; the app then runs in the client's terminal. */
  stdin?: string;
  env?: Record<string, string>;
}

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command as a terminal would, with pipes. */
export function run(
  command: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; stdin?: string; onPid?: (pid: number) => void },
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(command[0]!, command.slice(1), {
      cwd: options.cwd,
      env: options.env,
      stdio: [options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const outcome = { stdout: '', stderr: '' };
    if (child.pid !== undefined) options.onPid?.(child.pid);
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]!.setEncoding('utf8').on('data', (text: string) => (outcome[name] += text));
    }
    child.stdin?.on('error', () => undefined).end(options.stdin);
    child.once('error', reject);
    child.once('close', (code, signal) =>
      resolve({ ...outcome, code: signal === null ? code : 128 + SIGNALS[signal]! }),
    );
  });
}

const SIGNALS: Record<string, number> = { SIGINT: 2, SIGKILL: 9, SIGTERM: 15 };

export async function bare(app: App, folder: string): Promise<Outcome> {
  return run([app.python ?? python, app.program, ...(app.args ?? [])], {
    cwd: app.cwd,
    env: environment(folder, app.env),
    ...(app.stdin !== undefined && { stdin: app.stdin }),
  });
}

export interface Manner {
  record: boolean | Record<string, unknown>;
  /** Breakpoints for the lines of a file. */
  dots?: (file: string) => { line: number; condition?: string; mode?: string }[];
  /** More files with breakpoints, beside the program. */
  files?: string[];
}

export interface Debugged extends Outcome {
  holds: number;
  /** What we said: console and important output. */
  said: string;
}

/** The app under a debugger whose person releases whatever is held. */
export async function debugged(app: App, manner: Manner): Promise<Debugged> {
  const place = new Place();
  const client = await startAdapter(place.folder);
  let holds = 0;
  let inTerminal: Promise<Outcome> | undefined;
  let over = false;
  try {
    client.answer('runInTerminal', (given) => {
      const { args, cwd, env } = given as { args: string[]; cwd: string; env: Record<string, string | null> };
      const merged = environment(place.folder);
      for (const [name, value] of Object.entries(env)) {
        if (value === null) delete merged[name];
        else merged[name] = value;
      }
      return new Promise((resolve) => {
        inTerminal = run(args, { cwd, env: merged, stdin: app.stdin!, onPid: (processId) => resolve({ processId }) });
      });
    });
    const releasing = (async () => {
      while (!over) {
        const stopped = await Promise.race([client.waitFor('stopped'), client.closed]);
        if (!stopped || over) return;
        holds++;
        // The call may have been cancelled meanwhile.
        await client.request('continue', { threadId: stopped.threadId! }).catch(() => undefined);
      }
    })();
    releasing.catch(() => undefined);
    await client.initialize({ supportsRunInTerminalRequest: app.stdin !== undefined });
    const launched = client.send('launch', {
      program: app.program,
      args: app.args ?? [],
      cwd: app.cwd,
      python: app.python ?? python,
      record: manner.record,
      env: app.env ?? {},
      ...(app.stdin !== undefined && { console: 'integratedTerminal' }),
    }).answer;
    await Promise.race([client.waitFor('initialized'), launched]);
    for (const path of manner.dots ? [app.program, ...(manner.files ?? [])] : []) {
      await client.request('setBreakpoints', { source: { path }, breakpoints: manner.dots!(path) });
    }
    await client.request('configurationDone', {});
    await launched;
    await client.waitFor('terminated');
    over = true;
    const ended = inTerminal ? await inTerminal : undefined;
    const exited = client.pending('exited')[0];
    const said = (client.output['console'] ?? '') + (client.output['important'] ?? '');
    return {
      stdout: ended?.stdout ?? client.output['stdout'] ?? '',
      stderr: ended?.stderr ?? client.output['stderr'] ?? '',
      code: ended ? ended.code : (exited?.exitCode ?? null),
      holds,
      said,
    };
  } finally {
    over = true;
    await client.end();
    place.remove();
  }
}

/** What differs from one run to the next, without a debugger, too. */
export function comparable(outcome: Outcome, hide: readonly (readonly [RegExp, string])[] = []): Outcome {
  const clean = (text: string): string =>
    [[/0x[0-9a-f]{6,}/g, '0x'] as const, ...hide].reduce((done, [find, name]) => done.replace(find, name), text);
  return { code: outcome.code, stdout: clean(outcome.stdout), stderr: clean(outcome.stderr) };
}
