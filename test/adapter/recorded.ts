import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runsFolder } from '../../adapter/common/paths';
import { Recording } from '../../adapter/store/recording';
import { toolbreakCommand } from '../support/adapter';
import type { SpoolFile } from '../support/spool';

export interface SessionEvent {
  name: string;
  data: Record<string, unknown>;
  /** Nanoseconds on the wall clock. */
  wall: bigint;
}

/** A project with a state folder of its own, and runs in it that went through the real reading and writing. */
export class RecordedProject {
  readonly root = mkdtempSync(join(tmpdir(), 'toolbreak-test-'));
  readonly project = join(this.root, 'shop');
  readonly state = join(this.root, 'state');
  readonly folder: string;

  constructor() {
    mkdirSync(this.project);
    this.folder = runsFolder(this.project, join(this.state, 'toolbreak'));
  }

  fileOf(run: string): string {
    return join(this.folder, `${run}.db`);
  }

  /** Records these segments as a run that has ended; answers its file. */
  record(
    run: string,
    segments: readonly SpoolFile[],
    events: readonly SessionEvent[] = [],
    folder = this.folder,
  ): string {
    const { recording } = this.begin(run, segments, events, folder);
    recording.finish(undefined);
    recording.close();
    return join(folder, `${run}.db`);
  }

  /** The same, of a run that goes on: whoever asked for it closes the recording. */
  begin(
    run: string,
    segments: readonly SpoolFile[],
    events: readonly SessionEvent[] = [],
    folder = this.folder,
  ): { recording: Recording; spool: string; file: string } {
    const spool = join(this.root, 'spools', run);
    const file = join(folder, `${run}.db`);
    mkdirSync(spool, { recursive: true });
    mkdirSync(dirname(file), { recursive: true });
    for (const segment of segments) segment.write(spool);
    const options = { runFile: file, spoolFolder: spool, run, session: 's', name: 'app.py' };
    const recording: Recording = new Recording(options, () => recording.nextIndex());
    while (recording.pass().more);
    for (const { name, data, wall } of events)
      recording.write((writer) => writer.sessionEvent(name, undefined, data, wall));
    return { recording, spool, file };
  }

  /** The `toolbreak` command, in the project's folder. */
  toolbreak(...args: string[]): { stdout: string; stderr: string; status: number | null } {
    const env = { ...process.env, XDG_STATE_HOME: this.state, HOME: this.root, LOCALAPPDATA: this.state };
    const command = toolbreakCommand(...args);
    const { stdout, stderr, status } = spawnSync(process.execPath, command, {
      cwd: this.project,
      env,
      encoding: 'utf8',
      timeout: 30_000,
    });
    return { stdout, stderr, status };
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
