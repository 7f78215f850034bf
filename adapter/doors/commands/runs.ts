import type { Command } from 'commander';
import { damageText, endingText, type RunSummary } from '../../../protocol/timeline';
import { listRuns, noRuns, projectOf } from '../../store/life/find';
import { placeFrom, withPlace, type PlaceOptions } from './place';
import { clockText, column, count, durationText, plainText, print, printJson } from './text';

export function runsCommand(program: Command): void {
  withPlace(program.command('runs'))
    .description('list the recorded runs, newest first')
    .option('--json', 'as JSON; durations in nanoseconds')
    .action((options: PlaceOptions & { json?: boolean }) => {
      const place = placeFrom(options);
      const runs = listRuns(place);
      if (options.json === true) printJson(runs.map((run) => ({ ...run, project: projectOf(run.file) })));
      else if (runs.length === 0) print(noRuns(place).message);
      else print(table(runs, options.all === true));
    });
}

function table(runs: readonly RunSummary[], all: boolean): string[] {
  const head = [column('RUN', 5), column('NAME', 26), column('STARTED', 20), column('LENGTH', 13), 'CALLS'].join(' ');
  return [head, ...runs.map((run) => row(run, all))].map((line) => line.trimEnd());
}

function row(run: RunSummary, all: boolean): string {
  const name = all ? `${projectOf(run.file)}: ${run.name}` : run.name;
  const number = column(run.number > 0 ? String(run.number) : '-', 5);
  // In full: its name is the id that other commands take, and what to do about it stands at the end.
  if (run.problem !== undefined) return `${number} ${plainText(name)} ${plainText(run.problem)}`;
  const state = run.live
    ? ', running'
    : run.reading === true
      ? ', still being read'
      : run.left === true
        ? ', its app still runs'
        : '';
  const ending = run.ending === undefined ? '' : `, ${endingText(run.ending)}`;
  const missing = damageText(run);
  const damage = missing === undefined ? '' : `, ${missing}`;
  const errors = run.errors > 0 ? `, ${count(run.errors, 'error')}` : '';
  return [
    number,
    column(name, 26),
    column(clockText(run.startedAt), 20),
    // Of a run without calls there may be a single moment, or none.
    column(run.calls === 0 && run.duration === 0 ? '-' : durationText(run.duration), 13),
    `${count(run.calls, 'call')}${errors}${state}${ending}${damage}${run.kept === true ? ', kept' : ''}`,
  ].join(' ');
}
