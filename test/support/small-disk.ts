import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

/**
 * A file system of its own at a folder, where the system lets us mount one. Where it does not, as in many containers, programs get a limit for the
 * size of their files in its place (`limited`), which refuses the same writes with another error.
 */
export class SmallDisk {
  readonly mounted: boolean;

  constructor(
    readonly folder: string,
    options: string,
  ) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.mounted =
      process.platform === 'linux' && spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]).status === 0;
  }

  /** With other options, such as more room. Without a mount there is nothing to change: the next program has no limit. */
  remount(options: string): void {
    if (!this.mounted) return;
    const { status, stderr } = spawnSync('mount', ['-o', `remount,${options}`, this.folder], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }

  /** The command, so that none of its files grows beyond so many KB where there is no disk of our own. */
  limited(command: readonly string[], kilobytes: number): string[] {
    if (this.mounted) return [...command];
    return ['/bin/bash', '-c', `ulimit -S -f ${kilobytes} && exec "$@"`, 'bash', ...command];
  }

  remove(): void {
    if (this.mounted) spawnSync('umount', ['-l', this.folder]);
  }
}
