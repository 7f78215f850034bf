import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { Log } from '../common/log';
import { makePrivateFolder, runsFolder, stateFolder } from '../common/paths';
import type { SessionFolder } from '../common/sessions';
import type { RunPlace } from '../dap/options';
import { mayPrune } from '../store/life/prune';
import { readRetention } from '../store/life/retention';
import { hasWordsToNote } from '../store/life/words';

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
 * What is left to do for runs that ended, in a process that outlives this one: their texts are noted, and runs that are too many or too old
 * are taken away. None is started while a look at the files says that there is nothing to do.
 */
export function finishBehindUs(runFiles: readonly string[], log: Pick<Log, 'warn'>): void {
  try {
    const files = runFiles.filter((file) => {
      try {
        return hasWordsToNote(file);
      } catch (error) {
        log.warn('looking at a run that ended', error);
        return false;
      }
    });
    if (files.length === 0 && !mayPrune(readRetention())) return;
    const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' };
    const command = [...process.execArgv, process.argv[1]!, 'finish', ...files];
    const child = spawn(process.execPath, command, { stdio: 'ignore', detached: true, windowsHide: true, env });
    child.on('error', (error) => log.warn('finishing runs', error));
    child.unref();
  } catch (error) {
    log.warn('finishing runs', error);
  }
}
