import { statSync } from 'node:fs';
import { UserError } from '../../common/errors';
import { RunFile } from './runFile';

const MOST_OPEN = 16;
const POLL = 200;
/** A live run is told to have changed this often at least. */
const HEARTBEAT = 1000;

interface Open {
  file: RunFile;
  /** Device and file number: a file of the same name may be another one. */
  identity: string;
}

interface Followed {
  changed: () => void;
  last: string;
}

/** Run files that are open, the last used ones, and those whose changes somebody wants to hear of. */
export class OpenFiles {
  private readonly open = new Map<string, Open>();
  private readonly followed = new Map<string, Followed>();
  private timer: NodeJS.Timeout | undefined;

  isOpen(path: string): boolean {
    return this.open.has(path);
  }

  get(path: string): RunFile {
    if (!path.endsWith('.db')) throw new UserError(`${path} is not a Toolbreak run file.`);
    const identity = identityOf(path);
    const known = this.open.get(path);
    this.open.delete(path);
    if (known !== undefined && known.identity === identity) {
      this.open.set(path, known);
      return known.file;
    }
    known?.file.close();
    const file = new RunFile(path);
    this.open.set(path, { file, identity });
    for (const [other, { file: old }] of this.open) {
      if (this.open.size <= MOST_OPEN) break;
      this.open.delete(other);
      old.close();
    }
    return file;
  }

  follow(path: string, changed: () => void): void {
    this.followed.set(path, { changed, last: this.version(path) });
    this.timer ??= setInterval(() => this.poll(), POLL);
  }

  unfollow(path: string): void {
    this.followed.delete(path);
    if (this.followed.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  close(): void {
    clearInterval(this.timer);
    this.followed.clear();
    for (const { file } of this.open.values()) file.close();
    this.open.clear();
  }

  private poll(): void {
    for (const [path, entry] of this.followed) {
      const version = this.version(path);
      if (version === entry.last) continue;
      entry.last = version;
      entry.changed();
    }
  }

  /** Changes with each commit of another connection, when the file comes or goes, when its session ends, and with the clock while it is live. */
  private version(path: string): string {
    try {
      const file = this.get(path);
      const live = file.live();
      // A call that runs grows, and the run with it, also while nothing else happens.
      const clock = live ? Math.floor(Date.now() / HEARTBEAT) : 0;
      return `${identityOf(path)} ${file.db.pragma('data_version', { simple: true }) as number} ${live} ${clock}`;
    } catch {
      return 'none';
    }
  }
}

function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 'none' : `${stat.dev}:${stat.ino}`;
}
