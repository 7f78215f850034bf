import type { Command } from 'commander';
import { UserError } from '../../common/errors';
import { typed } from '../../common/shell';
import { findRun } from '../../store/life/find';
import { stored } from '../../store/life/place';
import { keepRun, removeRun, type Stays } from '../../store/life/remove';
import { sizeText } from '../../store/life/retention';
import { placeFrom, runNames, runText, sentenceStart, withPlace, type PlaceOptions } from './place';
import { plainText, print, printJson } from './text';

export function keepCommand(program: Command): void {
  withPlace(program.command('keep'))
    .description('keep a run: it is never pruned')
    .argument('<run>', 'number, id, "last" or path')
    .option('--not', 'keep it no longer')
    .option('--json', 'as JSON')
    .action((run: string, options: PlaceOptions & { not?: boolean; json?: boolean }) => {
      const file = findRun(run, placeFrom(options));
      const kept = options.not !== true;
      keepRun(file, kept);
      if (options.json === true) printJson({ ...runNames(file), kept });
      else print(`${sentenceStart(runText(file, options))} is ${kept ? 'kept' : 'not kept any more'}.`);
    });
}

/** `run`: as it was typed. */
const STAYS: Record<Stays, (text: string, run: string) => string> = {
  live: (text) => `${text} is still being recorded. End its app first.`,
  recovering: (text) => `${text} is just being taken over from a session that ended. Try again in a moment.`,
  kept: (text, run) => `${text} is kept. Say "toolbreak keep ${run} --not" first.`,
};

export function deleteCommand(program: Command): void {
  withPlace(program.command('delete'))
    .description('delete a run: its file and what its session left of it')
    .argument('<run>', 'number, id, "last" or path')
    .option('--json', 'as JSON')
    .action((run: string, options: PlaceOptions & { json?: boolean }) => {
      const file = findRun(run, placeFrom(options));
      const [found] = stored(file);
      const text = runText(file, options);
      const names = runNames(file);
      const removal = removeRun(file, { named: true });
      if (removal !== 'removed') throw new UserError(STAYS[removal](sentenceStart(text), plainText(typed(run))));
      if (options.json === true) printJson({ ...names, bytes: found?.bytes ?? 0 });
      else print(`Deleted ${text}, ${sizeText(found?.bytes ?? 0)}.`);
    });
}
