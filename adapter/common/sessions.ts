import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { messageOf, stateUnusable } from './errors';
import { maskText } from './masking';
import { readableName } from './names';
import { parseObject } from './ndjson';
import { makePrivateFolder, sessionsFolder, stateFolder } from './paths';
import { startTimeOf } from './processes';

/** One recording of a session; a restart makes another. */
export interface SessionRun {
  run: string;
  runFile: string;
  spoolFolder: string;
  name: string;
}

/** `session.json`: what others may know of a session. */
export interface SessionRecord {
  session: string;
  /** The adapter's process; with its start time it tells a living session from a reused number. */
  pid: number;
  startTime: string;
  started: string;
  version: string;
  /** Program or module, once it is known. */
  name?: string;
  cwd?: string;
  /** Where further clients connect: a Unix socket, or `host:port` with the token. */
  address?: string;
  token?: string;
  runs: SessionRun[];
  /** Set when the session ended in order. */
  ended?: string;
}

/** Days that the logs of an ended session are kept, and how many of them at most. */
const KEEP_DAYS = 7;
const KEEP_MOST = 30;

/** The folder of one session that is being run by this process. */
export class SessionFolder {
  private constructor(
    readonly folder: string,
    private readonly parent: string,
    private record: SessionRecord,
  ) {}

  static async create(version: string, state: string = stateFolder()): Promise<SessionFolder> {
    let parent: string;
    try {
      makePrivateFolder(state);
      parent = makePrivateFolder(sessionsFolder(state));
    } catch (error) {
      throw stateUnusable(state, messageOf(error));
    }
    const startTime = (await startTimeOf(process.pid)) ?? '';
    for (;;) {
      const session = readableName((name) => exists(join(parent, name)));
      const folder = join(parent, session);
      try {
        mkdirSync(folder, { mode: 0o700 });
        const record = { session, pid: process.pid, startTime, started: new Date().toISOString(), version, runs: [] };
        const made = new SessionFolder(folder, parent, record);
        made.save();
        return made;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        // Another session chose the same name in this very moment.
        if (code === 'EEXIST') continue;
        throw code === 'ENOSPC' ? stateUnusable(state, 'its disk is full') : error;
      }
    }
  }

  get id(): string {
    return this.record.session;
  }
  get logs(): string {
    return join(this.folder, 'logs');
  }

  update(changes: Partial<Omit<SessionRecord, 'session' | 'pid' | 'startTime'>>): void {
    this.record = { ...this.record, ...changes };
    this.save();
  }

  /** A new run and its own spool folder. */
  addRun(run: string, runFile: string, name: string): SessionRun {
    const spoolFolder = makePrivateFolder(join(this.folder, 'spool', run));
    const added = { run, runFile, spoolFolder, name };
    this.update({ runs: [...this.record.runs, added], name });
    return added;
  }

  /** Lines of `events.jsonl`: tool, model and hold events. */
  events(events: readonly Record<string, unknown>[]): void {
    this.append('events.jsonl', events);
  }
  /** Lines of `commands.jsonl`: what clients asked for. */
  commands(commands: readonly Record<string, unknown>[]): void {
    this.append('commands.jsonl', commands);
  }

  /** The session ended in order. Its spools were read to their end, so they can go; the logs stay for a while. */
  close(keepSpool: boolean): void {
    if (!keepSpool) rmSync(join(this.folder, 'spool'), { recursive: true, force: true });
    this.update({ ended: new Date().toISOString() });
  }

  private append(file: string, entries: readonly Record<string, unknown>[]): void {
    const time = new Date().toISOString();
    const text = entries.map((entry) => `${maskText(JSON.stringify({ time, ...entry }))}\n`).join('');
    appendFileSync(join(this.folder, file), text, { mode: 0o600 });
  }

  private save(): void {
    writeWhole(join(this.folder, 'session.json'), `${JSON.stringify(this.record, null, 2)}\n`);
    writeIndex(this.parent, this.record);
  }
}

export interface ListedSession {
  folder: string;
  record: SessionRecord;
  live: boolean;
}

/** All sessions whose folder can be read, newest first. Derived from the folders: `index.json` is only for readers. */
export async function listSessions(state: string = stateFolder()): Promise<ListedSession[]> {
  const parent = sessionsFolder(state);
  const listed: ListedSession[] = [];
  for (const name of names(parent)) {
    const folder = join(parent, name);
    const record = readSession(folder);
    if (record === undefined) continue;
    listed.push({ folder, record, live: record.ended === undefined && (await isRunning(record)) });
  }
  return listed.sort((a, b) => (a.record.started < b.record.started ? 1 : -1));
}

/** What `session.json` in this folder says, or nothing when it cannot be read. */
export function readSession(folder: string): SessionRecord | undefined {
  try {
    const record = parseObject(readFileSync(join(folder, 'session.json'), 'utf8'));
    const fine =
      record !== undefined &&
      typeof record['session'] === 'string' &&
      typeof record['pid'] === 'number' &&
      typeof record['started'] === 'string' &&
      Array.isArray(record['runs']);
    return fine ? (record as unknown as SessionRecord) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Tidies up: what dead sessions left is handed to `recover` (their spools into their run files), which answers whether all is taken over,
 * so that the spool can go; ended sessions' folders go after some days. One folder's failure leaves that folder for the next time.
 */
export async function cleanUpSessions(
  recover: (folder: string) => boolean,
  onProblem: (folder: string, error: unknown) => void,
  state: string = stateFolder(),
): Promise<void> {
  const sessions = await listSessions(state);
  for (const [age, { folder, record, live }] of sessions.entries()) {
    if (live) continue;
    try {
      if (exists(join(folder, 'spool'))) {
        if (!recover(folder)) continue;
        rmSync(join(folder, 'spool'), { recursive: true, force: true });
      }
      const days = (Date.now() - Date.parse(record.ended ?? record.started)) / 86_400_000;
      if (days > KEEP_DAYS || age >= KEEP_MOST) rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      onProblem(folder, error);
    }
  }
}

/** Some dead session left a spool. */
export async function deadSpools(state: string = stateFolder()): Promise<boolean> {
  return (await listSessions(state)).some(({ folder, live }) => !live && exists(join(folder, 'spool')));
}

async function isRunning(record: SessionRecord): Promise<boolean> {
  return (await startTimeOf(record.pid)) === record.startTime;
}

/** `index.json` lists the sessions, `current` names the newest: for people and scripts. */
function writeIndex(parent: string, own: SessionRecord): void {
  const records = names(parent).flatMap((name) => readSession(join(parent, name)) ?? []);
  const index = records
    .sort((a, b) => (a.started < b.started ? 1 : -1))
    .map(({ session, pid, started, name, cwd, ended }) => ({ session, pid, started, name, cwd, ended }));
  writeWhole(join(parent, 'index.json'), `${JSON.stringify(index, null, 2)}\n`);
  if (own.ended === undefined) writeWhole(join(parent, 'current'), `${own.session}\n`);
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

/** A reader sees the old text or the new one, never a part. */
function writeWhole(path: string, text: string): void {
  const fresh = `${path}.${process.pid}.new`;
  writeFileSync(fresh, text, { mode: 0o600 });
  renameSync(fresh, path);
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
