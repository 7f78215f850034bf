import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { Log } from '../common/log';
import { makePrivateFolder, runsFolder, stateFolder } from '../common/paths';
import type { SessionFolder } from '../common/sessions';
import type { RunPlace } from '../dap/options';
import { mayPrune } from '../store/life/prune';
import { readRetention } from '../store/life/retention';

/** Where a session's run is recorded; `number` counts its runs from 1. */
export function placeRun(session: SessionFolder, cwd: string, number: number, log: Pick<Log, 'warn'>): RunPlace {
  const runs = runsFolder(cwd);
  try {
    const project = dirname(runs);
    for (const folder of [stateFolder(), dirname(project), project, runs]) makePrivateFolder(folder);
  } catch (error) {
    // The recorder says so, and goes on trying.
    log.warn('folder of the runs', error);
  }
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const run = `${time}-${session.id}${number > 1 ? `-${number}` : ''}`;
  return {
    run,
    runFile: join(runs, `${run}.db`),
    runsFolder: runs,
    spoolFolder: join(session.folder, 'spool', run),
  };
}

/**
 * Takes away runs that are too many or too old, in a process that outlives this one; none is started while a look at the files says that
 * all may stay.
 */
export function pruneBehindUs(log: Pick<Log, 'warn'>): void {
  try {
    if (!mayPrune(readRetention())) return;
    const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' };
    const command = [...process.execArgv, process.argv[1]!, 'prune'];
    const child = spawn(process.execPath, command, { stdio: 'ignore', detached: true, windowsHide: true, env });
    child.on('error', (error) => log.warn('pruning runs', error));
    child.unref();
  } catch (error) {
    log.warn('pruning runs', error);
  }
}
