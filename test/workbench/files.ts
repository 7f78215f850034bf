import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Number of the first line that contains a text, from 1. */
export function lineOf(folder: string, name: string, text: string): number {
  const index = readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .findIndex((line) => line.includes(text));
  if (index < 0) throw new Error(`${name} has no line with "${text}".`);
  return index + 1;
}
