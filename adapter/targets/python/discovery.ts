import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { noPython, pythonDoesNotRun, pythonFreeThreaded, pythonNotFound, pythonTooOld } from '../../common/errors';
import { parseObject } from '../../common/ndjson';

export interface Python {
  /** The command as it is started; a virtual environment is entered by its own link, so links are kept. */
  command: string;
  version: string;
  /** What the interpreter calls itself. */
  executable: string;
}

const windows = process.platform === 'win32';

/** Finds an interpreter and asks it what it is. `chosen`: from launch.json. Throws a sentence. */
export async function findPython(
  chosen: string | undefined,
  folder: string,
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<Python> {
  if (chosen !== undefined && chosen !== '') return check(resolveChosen(chosen, folder, env), chosen, env, signal);
  const candidates = [join(folder, '.venv'), join(folder, 'venv')].map(interpreterOf);
  for (const path of candidates) if (isFile(path)) return check(path, path, env, signal);
  // Some systems have only one of the names, and on Windows `python3` may be a door to the shop, which does not run.
  let problem: Error = noPython();
  for (const name of windows ? ['python', 'python3'] : ['python3', 'python']) {
    const path = onPath(name, env);
    if (path === undefined) continue;
    try {
      return await check(path, path, env, signal);
    } catch (error) {
      problem = error instanceof Error ? error : problem;
    }
  }
  throw problem;
}

function resolveChosen(chosen: string, folder: string, env: NodeJS.ProcessEnv): string {
  const bare = !/[\\/]/.test(chosen);
  if (bare) {
    const found = onPath(chosen, env);
    if (found !== undefined) return found;
  }
  const path = isAbsolute(chosen) ? chosen : join(folder, chosen);
  if (isFile(path)) return path;
  // A folder: an environment.
  if (isFile(interpreterOf(path))) return interpreterOf(path);
  throw pythonNotFound(chosen);
}

function interpreterOf(environment: string): string {
  return windows ? join(environment, 'Scripts', 'python.exe') : join(environment, 'bin', 'python');
}

function onPath(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const endings = windows ? ['.exe', '.cmd', '.bat', ''] : [''];
  for (const folder of (env['PATH'] ?? env['Path'] ?? '').split(delimiter)) {
    if (folder === '') continue;
    for (const ending of endings) {
      const path = join(folder, name + ending);
      if (isFile(path)) return path;
    }
  }
  return undefined;
}

function isFile(path: string): boolean {
  try {
    return existsSync(path) && statSync(path).isFile();
  } catch {
    return false;
  }
}

// -I and -S: no code of the person's own runs while we ask.
const question =
  'import sys, json, sysconfig; print(json.dumps({"version": list(sys.version_info[:3]), "executable": sys.executable, ' +
  '"implementation": sys.implementation.name, "free": bool(sysconfig.get_config_var("Py_GIL_DISABLED"))}))';

async function check(command: string, shown: string, env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<Python> {
  const { stdout, problem } = await run(command, ['-I', '-S', '-c', question], env, signal);
  const answer = parseObject(stdout.trim().split('\n').pop() ?? '');
  const version = answer?.['version'];
  if (answer === undefined || !Array.isArray(version)) {
    // Python 2 knows neither -I nor json as we ask for it.
    throw pythonDoesNotRun(shown, problem ?? 'it gave no answer');
  }
  const [major, minor] = version as number[];
  const short = `${major}.${minor}`;
  if (major !== 3 || (minor ?? 0) < 10) throw pythonTooOld(short);
  if (answer['free'] === true) throw pythonFreeThreaded(short);
  return { command, version: version.join('.'), executable: String(answer['executable']) };
}

function run(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<{ stdout: string; problem?: string }> {
  return new Promise((resolve) => {
    const asked = execFile(
      command,
      args,
      { timeout: 20_000, env, windowsHide: true, ...(signal && { signal }) },
      (error, stdout, stderr) => {
        const last = stderr.trim().split('\n').pop();
        const problem = error === null ? undefined : error.killed ? 'it did not answer' : last || reasonOf(error);
        resolve(problem === undefined ? { stdout } : { stdout, problem });
      },
    );
    asked.stdin?.end();
  });
}

function reasonOf(error: Error & { code?: string | number | null }): string {
  if (error.code === 'EACCES') return 'it is not executable';
  if (error.code === 'ENOENT') return 'it is not there';
  return typeof error.code === 'number' ? `it ended with exit code ${error.code}` : error.message;
}
