import type { ValuePlace } from '../../../protocol/timeline';
import { UserError } from '../../common/errors';
import type { Value } from '../values/model';
import { child } from './children';
import type { RunFile } from './runFile';

/** The value at a place. Throws a sentence when there is none. */
export function partOf(file: RunFile, { value, path }: { value: number; path?: ValuePlace['path'] }): Value {
  let part = file.values.root(value);
  for (const name of path ?? []) {
    const next = child(part, name, file.values);
    if (next === undefined) throw new UserError('This part of the value does not exist.');
    part = next;
  }
  return part;
}
