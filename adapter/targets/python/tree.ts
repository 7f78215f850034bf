import {
  listProcesses,
  processesWithEnvironment,
  signal,
  startTimeOf,
  taskkill,
  treeOf,
  type ProcessRow,
} from '../../common/processes';

/**
 * The processes of one app: those below its first one, those of its process group, those that connected, and, where the platform tells,
 * those that inherited our mark in their environment, so that one which left group and parent is found, too.
 */
export class ProcessTree {
  /** First processes and those that connected, with their start times: a pid that was given to someone else is not ours. */
  private readonly roots = new Map<number, string | undefined>();
  private readonly groups = new Set<number>();

  /** `mark`: text in the environment of all that the app starts. */
  constructor(private readonly mark: string | undefined) {}

  /** A process whose group is its own, since we started it so. */
  async addLeader(pid: number): Promise<void> {
    if (process.platform !== 'win32') this.groups.add(pid);
    await this.add(pid);
  }

  async add(pid: number): Promise<void> {
    if (this.roots.has(pid)) return;
    this.roots.set(pid, undefined);
    const since = await startTimeOf(pid);
    if (since === undefined) this.roots.delete(pid);
    else this.roots.set(pid, since);
  }

  /** Living members. Without `everyone`, what left the group and lost its parent is left out: it wants to outlive the app. */
  async members(everyone: boolean): Promise<ProcessRow[]> {
    const rows = await listProcesses();
    const pids: number[] = [];
    for (const { pid, startTime } of rows) {
      const since = this.roots.get(pid);
      if (since === startTime) pids.push(pid);
      else if (since !== undefined) {
        // The number was given to someone else.
        this.roots.delete(pid);
        this.groups.delete(pid);
      }
    }
    if (everyone && this.mark !== undefined) pids.push(...processesWithEnvironment(rows, this.mark));
    return treeOf(rows, pids, this.groups);
  }

  /** Processes below a shell of the person's: what runs in it now. */
  async below(shell: number): Promise<ProcessRow[]> {
    return treeOf(await listProcesses(), [shell]).filter((row) => row.pid !== shell);
  }

  /** Asks all of them to end. Where the platform has no way to ask, they are ended. */
  async terminate(): Promise<void> {
    if (process.platform === 'win32') return this.kill();
    for (const { pid } of await this.members(true)) {
      signal(pid, 'SIGTERM');
      // A stopped process, such as by Ctrl-Z, hears nothing until it goes on.
      signal(pid, 'SIGCONT');
    }
  }

  /** Ends all of them. Resolves when none is left. */
  async kill(): Promise<void> {
    if (process.platform === 'win32') {
      await Promise.all([...this.roots.keys()].map(taskkill));
      return;
    }
    // One may start another while we look: so we look until there are none.
    for (let round = 0; round < 100; round++) {
      const members = await this.members(true);
      if (members.length === 0) return;
      this.killGroups();
      for (const { pid } of members) signal(pid, 'SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** As much as can be done at once, for the last moment of our own process. */
  killNow(): void {
    this.killGroups();
    for (const [pid, since] of this.roots) if (since !== undefined) signal(pid, 'SIGKILL');
  }

  private killGroups(): void {
    for (const group of this.groups) signal(-group, 'SIGKILL');
  }
}
