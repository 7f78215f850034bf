import { dirname } from 'node:path';
import type { Command } from 'commander';
import { runsFolder } from '../../common/paths';
import { placeOf, type Place } from '../../store/life/find';
import { summaryOf } from '../../store/reader/folder';
import { notEmpty } from './arguments';
import { plainText } from './text';

export interface PlaceOptions {
  project?: string;
  all?: boolean;
}

/** Options of every command that names runs. */
export function withPlace(command: Command): Command {
  return command
    .option('--project <folder>', 'runs of this project (default: the current folder)', notEmpty)
    .option('--all', 'runs of all projects');
}

export function placeFrom({ project, all }: PlaceOptions): Place {
  return placeOf(project ?? process.cwd(), all === true);
}

/** A run as every answer in JSON names it: number 0 and no name where they are not known. */
export function runNames(file: string): { run: string; number: number; name: string; file: string } {
  const { run, number, name } = summaryOf(file);
  return { run, number, name, file };
}

/** `run 3 (support_agent)`, by the id where it has no number; the path of one that lies outside the project. */
export function runText(file: string, { project }: PlaceOptions): string {
  if (dirname(file) !== runsFolder(project ?? process.cwd())) return plainText(file);
  const { number, run, name } = runNames(file);
  return plainText(number > 0 ? `run ${number} (${name})` : `run ${run}`);
}

/** A path stays as it is. */
export function sentenceStart(text: string): string {
  return text.startsWith('run ') ? `R${text.slice(1)}` : text;
}
