import type { Command } from 'commander';
import { placeOf, type Place } from '../../store/life/find';

export interface PlaceOptions {
  project?: string;
  all?: boolean;
}

/** Options of every command that names runs. */
export function withPlace(command: Command): Command {
  return command
    .option('--project <folder>', 'runs of this project (default: the current folder)')
    .option('--all', 'runs of all projects');
}

export function placeFrom({ project, all }: PlaceOptions): Place {
  return placeOf(project ?? process.cwd(), all === true);
}
