import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { resolve } from 'node:path';
import { endingText, type Ending } from '../../../protocol/timeline';
import { MistakeError } from '../../common/errors';
import { runsFolder } from '../../common/paths';
import { typed } from '../../common/shell';
import type { Admitted } from '../../store/life/admit';
import { importFile, type Imported } from '../../store/life/import';
import { importSpools, type Taken } from '../../store/life/importSpools';
import { notEmpty } from './arguments';
import { count, plainText, print, printJson } from './text';

export function importCommand(program: Command): void {
  program
    .command('import')
    .description(
      'take a recording from elsewhere: an exported run, a run file, OTLP JSON, or a folder of TOOLBREAK_RECORD',
    )
    .argument('<file>', 'what "toolbreak export" wrote, or spans as OpenTelemetry\'s file exporter writes them')
    .option('--project <folder>', 'into this project (default: the current folder)', notEmpty)
    .option('--json', 'as JSON')
    .action(async (file: string, { project, json }: { project?: string; json?: boolean }) => {
      if (file === '') throw new MistakeError('The name of what is to be imported is empty. Name a file or a folder.');
      const path = resolve(file);
      const runs = runsFolder(project ?? process.cwd());
      if (isFolder(path)) {
        const { taken, failed } = importSpools(path, runs);
        if (json === true) printJson([...taken, ...failed]);
        else if (taken.length > 0) print(taken.map((run) => words(run, run)));
        for (const { folder, problem } of failed)
          process.stderr.write(`toolbreak: ${plainText(`${folder} was not imported: ${problem}`)}\n`);
        if (failed.length > 0) process.exitCode = 1;
        return;
      }
      const run = await importFile(path, runs);
      if (json === true) printJson([run]);
      else print(words(run));
    });
}

/** Why nothing can be known of it is told where it is read. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function words(
  run: Imported,
  { alive, damaged = 0, partial, ending, earlier, passedOver = [] }: Partial<Taken> = {},
): string {
  const { file, number } = run;
  const more = alive === true ? ' The app still runs: import again for what it records from now on.' : '';
  const less =
    damaged > 0
      ? ` ${count(damaged, 'part')} of the recording could not be read; all around ${damaged === 1 ? 'it' : 'them'} is there: "toolbreak query ${number} --type event" says where. A whole copy of the folder can be imported after "toolbreak delete ${typed(plainText(file))}".`
      : '';
  const early =
    partial === true
      ? ` The recording ended before the app did: "toolbreak query ${number} --type event" says why.`
      : '';
  const strange =
    passedOver.length > 0
      ? ` Passed over, since no spool file is named so or it is no file: ${passedOver.map(plainText).join(', ')}.`
      : '';
  return `${took(run, earlier, ending)}${leftText(run)}${strange}${less}${early}${more}`;
}

function leftText({ leftOut = [] }: Imported): string {
  if (leftOut.length === 0) return '';
  const all = leftOut.map(({ why, count: times }) => (times === 1 ? why : `${why} (${count(times, 'time')})`));
  return ` Not all of it could be taken: ${all.join('; ')}.`;
}

function took({ number, name, calls }: Admitted, earlier: number | undefined, ending: Ending | undefined): string {
  const ended = ending === undefined ? '' : `, ${endingText(ending)}`;
  const named = `${number} (${plainText(name)}, ${count(calls, 'call')}${ended})`;
  if (earlier === undefined) return `Imported run ${named}.`;
  return calls > earlier
    ? `Imported ${count(calls - earlier, 'call')} more into run ${named}.`
    : `Run ${named} was imported before: no further calls.`;
}
