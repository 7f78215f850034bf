import { processOf } from '../callNames';

/**
 * Names for tasks and lanes, one after the other: a program that starts itself again has processes whose threads go by the same names, so that
 * those of later ones say which process they are of.
 */
export function apart(): (task: number, name: string, pid: number | null) => string {
  const owners = new Map<string, number>();
  return (task, name, pid) => {
    const process = processOf(task);
    const owner = owners.get(name) ?? process;
    owners.set(name, owner);
    return owner === process || !pid || name === '' ? name : `${name} (pid ${pid})`;
  };
}
