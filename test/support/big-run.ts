import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { python } from '../adapter/target-support';

const ROOT = join(__dirname, '../..');
const run = promisify(execFile);

/** Records a program of `bench/apps` that ends with a folder and a number of calls; answers the folder of its spools. */
export async function recordCalls(calls: number, folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const env = {
    ...process.env,
    PYTHONPATH: join(ROOT, 'runtimes/python'),
    TOOLBREAK_RECORD_FUNCTIONS: '@usercode',
    TOOLBREAK_RECORD_MEGABYTES: '16384',
  };
  await run(python, [join(ROOT, 'bench/apps/ten_million.py'), folder, String(calls)], { env });
  return join(folder, readdirSync(folder)[0]!);
}

/** A run of so many calls at `file`: recorded by the real runtime and imported by the real command, unless it is there already. */
export async function bigRun(calls: number, file: string): Promise<string> {
  if (existsSync(file)) return file;
  const work = `${file}-work`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(dirname(file), { recursive: true });
  try {
    const spools = await recordCalls(calls, join(work, 'spools'));
    const env = { ...process.env, XDG_STATE_HOME: join(work, 'state') };
    const command = [
      '--import',
      'tsx',
      join(ROOT, 'adapter/doors/start.ts'),
      'import',
      spools,
      '--project',
      work,
      '--json',
    ];
    const { stdout } = await run(process.execPath, command, { cwd: ROOT, env });
    renameSync((JSON.parse(stdout) as { file: string }[])[0]!.file, file);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return file;
}

export function sizeOf(path: string): number {
  return statSync(path).size;
}
