import type { Command } from 'commander';
import { withCommas } from '../../../protocol/withCommas';
import { checkRun, type CheckReport } from '../../store/life/check';
import { findRun } from '../../store/life/find';
import { leftOutside } from '../../store/recover';
import { placeFrom, runNames, runText, sentenceStart, withPlace, type PlaceOptions } from './place';
import { count, plainText, print, printJson } from './text';

export function checkCommand(program: Command): void {
  withPlace(program.command('check'))
    .description('read everything of a run once and say what is damaged')
    .argument('<run>', 'number, id, "last" or path')
    .option('--json', 'as JSON')
    .action((name: string, options: PlaceOptions & { json?: boolean }) => {
      const file = findRun(name, placeFrom(options));
      const outside = leftOutside([file]).map((what) => ({ what, count: 1, examples: [] }));
      const found = checkRun(file);
      const report = {
        ...found,
        whole: found.whole && outside.length === 0,
        problems: [...outside, ...found.problems],
      };
      if (options.json === true) printJson({ ...runNames(file), ...report });
      else print(linesOf(report, sentenceStart(runText(file, options)), !found.whole));
      if (!report.whole) process.exitCode = 1;
    });
}

/** Where that is not the name of the table. Most values stand with their calls. */
const NAMES: Record<string, [one: string, many: string]> = {
  processes: ['process', 'processes'],
  values: ['shared value', 'shared values'],
};

function linesOf({ whole, live, problems, readable }: CheckReport, run: string, isDamaged: boolean): string[] {
  const rows = ['calls', 'values', 'events', 'holds', 'functions', 'tasks', 'processes']
    .filter((table) => readable[table] !== undefined)
    .map((table) => count(readable[table]!, ...(NAMES[table] ?? [table.slice(0, -1), table])));
  const read = rows.length === 0 ? 'Nothing of it can be read.' : `Read: ${rows.join(', ')}.`;
  if (whole) return [live === true ? `${run} is whole so far: it is still being recorded.` : `${run} is whole.`, read];
  return [
    `${run} is ${isDamaged ? 'damaged' : 'not whole'}.`,
    ...problems.map(
      ({ what, count: times, examples }) =>
        `  ✗ ${what} (${withCommas(times)})${examples.length > 0 ? `: ${plainText(examples.join(', '))}` : ''}`,
    ),
    read,
  ];
}
