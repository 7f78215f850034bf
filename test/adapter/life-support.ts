import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runsFolder } from '../../adapter/common/paths';
import { openForWriting } from '../../adapter/store/database';
import { toolbreakCommand } from '../support/adapter';
import { DapClient } from '../support/dap-client';
import { python } from './target-support';
import { changeCalls, openWithCalls, unpackCalls } from '../support/run-file';

export interface Said {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A state folder of its own, a project in it, runs recorded there by the real adapter, and the `toolbreak` command. */
export class LifePlace {
  readonly folder = mkdtempSync(join(tmpdir(), 'toolbreak-life-'));
  readonly state = join(this.folder, 'state', 'toolbreak');
  readonly project = join(this.folder, 'work');
  readonly env: NodeJS.ProcessEnv = {
    ...process.env,
    XDG_STATE_HOME: join(this.folder, 'state'),
    XDG_RUNTIME_DIR: this.folder,
  };
  private readonly clients: DapClient[] = [];

  constructor() {
    mkdirSync(this.project);
    delete this.env['TOOLBREAK_RECORD'];
  }

  get runs(): string {
    return runsFolder(this.project, this.state);
  }

  files(): string[] {
    return existsSync(this.runs)
      ? readdirSync(this.runs)
          .filter((name) => name.endsWith('.db'))
          .sort()
          .map((name) => join(this.runs, name))
      : [];
  }

  /** Of the newest run: two of one second are told apart by their numbers, not by the names of their files. */
  rows(sql: string): unknown[] {
    const answers = this.files().map((file) => {
      const db = openWithCalls(file);
      try {
        const number = db.prepare('SELECT number FROM runs').pluck().get() as number;
        return { number, rows: db.prepare(sql).pluck().all() };
      } finally {
        db.close();
      }
    });
    return answers.reduce((one, other) => (one.number > other.number ? one : other)).rows;
  }

  file(name: string, text: string): string {
    const path = join(this.project, name);
    writeFileSync(path, text);
    return path;
  }

  /** Starts a program under an adapter of its own; answers its run file. */
  async launch(
    program: string,
    args: string[] = [],
    record: object = { functions: ['@usercode'] },
  ): Promise<{ client: DapClient; file: string }> {
    const client = DapClient.start(process.execPath, toolbreakCommand('dap'), {
      cwd: dirname(__dirname),
      env: this.env,
    });
    this.clients.push(client);
    await client.launch({ program, args, python, cwd: this.project, record });
    return { client, file: (await client.waitFor('toolbreak/run')).runFile };
  }

  /** Runs a program to its end. */
  async record(program: string, args: string[] = []): Promise<string> {
    const { client, file } = await this.launch(program, args);
    await client.waitFor('terminated');
    await client.end();
    return file;
  }

  /** The `toolbreak` command, in the project's folder, with lines as for a terminal. */
  say(...args: string[]): Promise<Said> {
    return run(process.execPath, toolbreakCommand(...args), {
      cwd: this.project,
      env: { COLUMNS: '100', ...this.env },
    });
  }

  /** Its answer as JSON. Throws what it said on stderr when it failed. */
  async json<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.say(...args, '--json');
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as T;
  }

  async remove(): Promise<void> {
    for (const client of this.clients) await client.end();
    // What goes on behind a run may just be closing its file.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export function run(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; input?: string },
): Promise<Said> {
  const child = spawn(command, args, { cwd: options.cwd, env: options.env, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // Who does not read may be gone before all is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** Sets when the run was last written, so many days ago. */
export function age(file: string, days: number): void {
  const time = Date.now() / 1000 - days * 86_400;
  utimesSync(file, time, time);
}

/** All there is in a run file, table by table: what may be compared. */
export function content(file: string): Record<string, unknown[]> {
  const db = openWithCalls(file);
  try {
    const tables = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
      .pluck()
      .all() as string[];
    return Object.fromEntries(
      tables.map((table) => [table, db.prepare(`SELECT * FROM "${table}" ORDER BY 1, 2`).safeIntegers().all()]),
    );
  } finally {
    db.close();
  }
}

/** An agent of plain functions. */
export const AGENT = `
import sys

def lookup(order, note):
    if order == 3:
        raise ValueError("no such order: 3")
    return {"order": order, "note": note, "text": "long enough to be kept once " * 12}

def agent(orders):
    found = []
    for order in orders:
        try:
            found.append(lookup(order, "of " + str(order)))
        except ValueError as error:
            found.append(str(error))
    return found

print(len(agent([1, 2, 3, 4])), flush=True)
if "wait" in sys.argv:
    sys.stdin.read()
    while True:
        pass
`;

/** A copy of the AGENT's run whose calls overlap on a task, one of which was held and one still runs. */
export function overlapping(agent: string): string {
  const file = agent.replace(/\.db$/, '-overlap.db');
  if (existsSync(file)) return file;
  copyFileSync(agent, file);
  const db = openForWriting(file);
  unpackCalls(db);
  const lookup = db.prepare('SELECT id FROM calls WHERE parent IS NOT NULL ORDER BY start').pluck().all() as number[];
  const [top] = db.prepare('SELECT start, end FROM calls WHERE parent IS NULL').all() as {
    start: number;
    end: number;
  }[];
  const middle = Math.round((top!.start + top!.end) / 2);
  changeCalls(db, (chunk, slot, call) => {
    if (call === lookup[0]) chunk.setEnd(slot, top!.end + 5000, 0, undefined);
    // Only an end that never came leaves a call so.
    if (call === lookup[3]) (chunk as unknown as { flags: Uint8Array }).flags[slot]! &= ~2;
  });
  db.prepare(
    "INSERT INTO holds (process, call, start, end, description) VALUES (1, ?, ?, ?, 'Paused on a breakpoint')",
  ).run(lookup[0], middle, top!.end + 9000);
  db.close();
  return file;
}

/** Of a command line: all that is `hunter2` in them is a secret. */
export const SECRET_OPTIONS = [
  '--password',
  'hunter2hunter2',
  '--api-key=hunter2hunter2',
  '--db-pass',
  'hunter2hunter2',
  '--smtp-pass=hunter2hunter2',
  'https://ann:hunter2hunter2@db/x',
];
