import { basename } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import { prune, type Pruned } from '../../store/life/prune';
import { parseAge, parseSize, readRetention, sizeText } from '../../store/life/retention';
import { count, plainText, print, printJson } from './text';

interface PruneFlags {
  olderThan?: number;
  largerThan?: number;
  dryRun?: boolean;
  json?: boolean;
}

export function pruneCommand(program: Command): void {
  program
    .command('prune')
    .description(
      'take away runs of all projects that are too old, then the oldest beyond the size; kept and live ones stay',
    )
    .option('--older-than <time>', 'such as 7d, 12h or 30m (default: the setting, else 7d)', age)
    .option('--larger-than <size>', 'such as 10GB or 500MB (default: the setting, else 10GB)', size)
    .option('--dry-run', 'only say what would go')
    .option('--json', 'as JSON')
    .action(({ olderThan, largerThan, dryRun, json }: PruneFlags) => {
      const set = olderThan === undefined || largerThan === undefined ? readRetention() : {};
      const limits = {
        ...set,
        ...(olderThan !== undefined && { age: olderThan }),
        ...(largerThan !== undefined && { size: largerThan }),
      };
      const pruned = prune({ retention: limits, dryRun: dryRun === true });
      if (json === true) printJson({ dryRun: dryRun === true, ...pruned });
      else print(words(pruned, dryRun === true));
      for (const problem of json === true ? [] : pruned.problems) process.stderr.write(`toolbreak: ${problem}\n`);
      if (pruned.problems.length > 0) process.exitCode = 1;
    });
}

function words({ removed, stay, left }: Pruned, dryRun: boolean): string[] {
  const did = dryRun ? 'would go' : 'deleted';
  const lines = removed.map(
    ({ bytes, why, ...run }) =>
      `${did}: ${text(run)}, ${sizeText(bytes)}, ${why === 'age' ? 'too old' : 'beyond the size'})`,
  );
  for (const { why, ...run } of stay) lines.push(`stays: ${text(run)}, ${STAYS[why]})`);
  const freed = removed.reduce((sum, { bytes }) => sum + bytes, 0);
  const runs = count(removed.length, 'run');
  lines.push(
    `${dryRun ? `${runs} would go` : `${runs} deleted`}, ${sizeText(freed)}; ${sizeText(left)} ${dryRun ? 'would be' : 'are'} left.`,
  );
  return lines;
}

/** `run 12 checkout (project shop, …`: the name of a file finds it where it has no number. */
function text({ file, run, number, name, project }: Omit<Pruned['stay'][number], 'why'>): string {
  return plainText(`run ${number > 0 ? number : run} ${name}`.trim() + ` (project ${project}, ${basename(file)}`);
}

const STAYS = { live: 'still being recorded', recovering: 'being taken over', kept: 'kept' };

function age(text: string): number {
  return parseAge(text) ?? wrong('A time is a number with s, m, h, d or w, such as 7d.');
}

function size(text: string): number {
  return parseSize(text) ?? wrong('A size is a number with kB, MB, GB or TB, such as 10GB.');
}

function wrong(sentence: string): never {
  throw new InvalidArgumentError(sentence);
}
