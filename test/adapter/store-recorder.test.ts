import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import type { Hello } from '../../protocol/control';
import { openForReading, openForWriting, problemWith } from '../../adapter/store/database';
import { recoverSpool } from '../../adapter/store/recover';
import { APPLICATION_ID, MIGRATIONS } from '../../adapter/store/schema';
import { deleteSpool, readOwner, writeOwner } from '../../adapter/store/spoolOwner';
import { openRecorder } from '../../adapter/store/workerRecorder';
import { SpoolFile, dict } from '../support/spool';
import { findPython } from '../support/python';
import { openWithCalls } from '../support/run-file';

const KILLS = Number(process.env['TOOLBREAK_KILLS'] ?? 5);

function hello(process: string, pid: number): Hello {
  return {
    event: 'hello',
    version: 1,
    token: '',
    runtime: '0',
    language: 'python',
    languageVersion: '3.11',
    pid,
    parentPid: 1,
    process,
    name: 'app.py',
    argv: [],
    cwd: '/',
    executable: 'python',
    frameworks: [],
  };
}

describe('store: recorder', function () {
  this.timeout(60_000);
  let root: string;
  let spool: string;
  let runFile: string;
  const problems: string[] = [];
  const started: ChildProcess[] = [];

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'toolbreak-test-'));
    spool = join(root, 'sessions', 's', 'spool');
    runFile = join(root, 'projects', 'p', 'runs', 'a.db');
    mkdirSync(spool, { recursive: true });
    mkdirSync(dirname(runFile), { recursive: true });
    problems.length = 0;
  });
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true });
  });

  const open = () =>
    openRecorder({
      runFile,
      spoolFolder: spool,
      run: 'a',
      session: 's',
      name: 'app.py',
      onProblem: (text) => problems.push(text),
      indexFor: () => 7,
    });
  const rows = (sql: string): Record<string, unknown>[] => {
    const db = openWithCalls(runFile);
    try {
      return db.prepare(sql).all() as Record<string, unknown>[];
    } finally {
      db.close();
    }
  };

  /** A process number that nobody has. */
  const dead = '4000001-abc';

  it('records a call whose frames come from two threads, the end before the start', async () => {
    new SpoolFile(dead, 1, 1).add(4, 1, 3000, 0, 'fine', null).write(spool);
    const recorder = open();
    await recorder.sync();
    new SpoolFile(dead, 2, 2)
      .add(1, 1, 'tool', 'search', 'app.search', 'app', '/app.py', 3, 5)
      .add(2, 1, 'agent', 0)
      .add(3, 1, 0, 1, 1, 2000, dict({ q: 1 }), null)
      .write(spool);
    await recorder.sync();
    assert.deepEqual(rows('SELECT id, start, end, status FROM calls'), [
      { id: 7 * 2 ** 32 + 1, start: 1000, end: 2000, status: 0 },
    ]);
    await recorder.close();
    assert.deepEqual(problems, []);
  });

  it('has noted whose recording it is when it answers: an app may start, and its session die, at once', async () => {
    const recorder = open();
    const { runFile: noted, run, pid } = readOwner(spool)!;
    assert.deepEqual({ noted, run, pid }, { noted: runFile, run: 'a', pid: process.pid });
    await recorder.close();
  });

  it('goes on in a segment that a later thread uses again', async () => {
    const first = new SpoolFile(dead, 1, 5).add(2, 1, 'one', 0);
    first.write(spool);
    const recorder = open();
    await recorder.sync();
    new SpoolFile(dead, 2, 5).add(2, 2, 'two', 0).write(spool);
    await recorder.sync();
    await recorder.sync();
    first.add(2, 3, 'three', 0).write(spool);
    await recorder.sync();
    await recorder.close();
    assert.deepEqual(rows('SELECT name FROM tasks ORDER BY id'), [{ name: 'one' }, { name: 'two' }, { name: 'three' }]);
  });

  it('stores equal content once', async () => {
    const long = 'x'.repeat(400);
    const file = new SpoolFile(dead).add(1, 1, 'tool', 't', 't', 'm', null, 1, 1).add(2, 1, 'agent', 0);
    for (let call = 1; call <= 20; call++)
      file.add(3, call, 0, 1, 1, 2000 + call, dict({ text: long }), null).add(4, call, 2000 + call, 0, [long], null);
    file.write(spool);
    const recorder = open();
    await recorder.sync();
    await recorder.close();
    // The text. What is around it is small and stands with each call.
    assert.deepEqual(rows('SELECT count(*) AS n FROM "values"'), [{ n: 1 }]);
  });

  it('ends what ran when its process died, and keeps what returned', async () => {
    new SpoolFile(dead)
      .add(1, 1, 'workflow', 'agent', 'agent', 'm', null, 1, 1)
      .add(2, 1, 'agent', 0)
      .add(3, 1, 0, 1, 1, 2000, dict({}), null)
      .add(3, 2, 1, 1, 1, 2100, dict({}), null)
      .add(4, 2, 2200, 0, null, null)
      .add(6, 2300, 'held', 1, dict({ description: 'Paused after workflow' }))
      .write(spool);
    const recorder = open();
    recorder.processStarted(1, hello(dead, 4000001));
    recorder.processEnded(1, 137);
    await recorder.close();
    assert.deepEqual(rows('SELECT status, depth FROM calls ORDER BY id'), [
      { status: 4, depth: 0 },
      { status: 0, depth: 1 },
    ]);
    assert.deepEqual(rows('SELECT why FROM holds'), [{ why: 'process ended' }]);
    assert.deepEqual(rows('SELECT calls, workflow, ended IS NOT NULL AS ended FROM runs'), [
      { calls: 2, workflow: 'agent', ended: 1 },
    ]);
    assert.equal(deleteSpool(spool), true);
    assert.deepEqual(readdirSync(spool), []);
  });

  for (const [name, exitCode, later, crashed] of [
    ['ended it', undefined, 0, true],
    ['it survived, since it left with a code', 0, 0, false],
    ['it survived, since it recorded on', undefined, 5, false],
  ] as const)
    it(`tells a crash by a fault below Python: one that ${name}`, async () => {
      const began = 1_700_000_000;
      new SpoolFile(dead)
        .add(1, 1, 'tool', 't', 'tools.t', 'tools', '/app/tools.py', 10, 20)
        .add(2, 1, 'agent', 0)
        .add(3, 1, 0, 1, 1, 2000, dict({}), null)
        .add(6, 2000 + later * 1e9, 'log', 0, dict({ text: 'here' }))
        .write(spool);
      const fault = join(spool, `${dead}.fault`);
      const head = JSON.stringify({ own: '/toolbreak', library: '/usr/lib/python3.11' });
      writeFileSync(
        fault,
        `${head}\nFatal Python error: Bus error\n\nCurrent thread:\n  File "/app/tools.py", line 12 in t\n`,
      );
      utimesSync(fault, began + 1, began + 1);
      const recorder = open();
      recorder.processStarted(1, hello(dead, 4000001));
      recorder.processEnded(1, exitCode);
      await recorder.close();
      assert.deepEqual(
        [rows('SELECT status FROM calls'), rows("SELECT call FROM events WHERE name = 'crash'").length],
        [[{ status: crashed ? 1 : 4 }], crashed ? 1 : 0],
      );
      assert.deepEqual(rows('SELECT errors FROM runs'), [{ errors: crashed ? 1 : 0 }]);
    });

  it('never puts two calls that overlap on one row of a lane', async () => {
    new SpoolFile(dead)
      .add(1, 1, 'tool', 't', 't', 'm', null, 1, 1)
      .add(2, 1, 'agent', 0)
      .add(3, 1, 0, 1, 1, 2000, dict({}), null)
      .add(3, 2, 0, 1, 1, 2001, dict({}), null)
      .add(4, 1, 2002, 0, null, null)
      .add(3, 3, 0, 1, 1, 2003, dict({}), null)
      .write(spool);
    const recorder = open();
    await recorder.sync();
    await recorder.close();
    assert.deepEqual(rows('SELECT depth FROM calls ORDER BY id'), [{ depth: 0 }, { depth: 1 }, { depth: 0 }]);
  });

  it('says in one sentence why a file cannot be written, keeps the spool, and is recovered later', async () => {
    writeFileSync(runFile, 'this is no database, and somebody else needs it'.repeat(50));
    new SpoolFile(dead).add(2, 1, 'agent', 0).write(spool);
    const recorder = open();
    await recorder.sync();
    recorder.event('output', undefined, { text: 'hello' });
    await recorder.close();
    assert.equal(problems.length, 1);
    assert.match(problems[0]!, /^The run file .*a\.db is damaged\. The app goes on;/);
    assert.equal(deleteSpool(spool), false);
    writeOwner(spool, { runFile, run: 'a', session: 's', name: 'app.py', pid: 4000002, pidStart: '1' });
    assert.equal(recoverSpool(spool).state, 'recovered');
    assert.ok(existsSync(`${runFile}.damaged`));
    assert.deepEqual(rows('SELECT name FROM tasks'), [{ name: 'agent' }]);
  });

  it('goes on when a lock ends', async function () {
    const other = new Database(runFile);
    other.exec('CREATE TABLE x (y)');
    other.exec('BEGIN EXCLUSIVE');
    const recorder = open();
    await recorder.sync();
    assert.match(problems[0] ?? '', /is locked by another program/);
    other.exec('DROP TABLE x');
    other.exec('COMMIT');
    other.close();
    new SpoolFile(dead).add(2, 1, 'agent', 0).write(spool);
    await recorder.close();
    assert.deepEqual(rows('SELECT name FROM tasks'), [{ name: 'agent' }]);
  });

  it('has a sentence for what a disk says', () => {
    const sentence = (code: string): string =>
      problemWith('/runs/a.db', Object.assign(new Error('disk'), { code })).message;
    assert.match(sentence('SQLITE_FULL'), /disk is full: the run file \/runs\/a\.db cannot grow/);
    assert.match(sentence('SQLITE_IOERR_SHMSIZE'), /The disk refused the run file/);
    assert.match(sentence('SQLITE_READONLY_DIRECTORY'), /it, or its folder, is read-only/);
    assert.match(sentence('SQLITE_IOERR_WRITE'), /The disk refused the run file/);
    assert.match(sentence('SQLITE_CORRUPT'), /is damaged/);
  });

  it('says that the disk is full, and keeps what is in the file', () => {
    const db = openForWriting(runFile);
    db.pragma(`max_page_count = ${db.pragma('page_count', { simple: true }) as number}`);
    const fill = db.prepare('INSERT INTO events (time, name, data) VALUES (0, ?, ?)');
    assert.throws(() => fill.run('output', 'x'.repeat(100_000)), { code: 'SQLITE_FULL' });
    db.close();
    assert.deepEqual(rows('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
  });

  it('brings older files up to date and refuses newer and foreign ones', () => {
    openForWriting(runFile).close();
    const next = [...MIGRATIONS, 'ALTER TABLE runs ADD COLUMN later INTEGER NOT NULL DEFAULT 0'];
    const db = openForReading(runFile, next);
    assert.equal(db.pragma('user_version', { simple: true }), next.length);
    db.close();
    assert.throws(
      () => openForReading(runFile),
      new RegExp(
        `was made by a newer Toolbreak \\(format ${next.length}; this one reads up to ${MIGRATIONS.length}\\)`,
      ),
    );
    const foreign = join(root, 'foreign.db');
    const made = new Database(foreign);
    made.exec('CREATE TABLE x (y)');
    made.close();
    assert.throws(() => openForWriting(foreign), /is not a Toolbreak run file/);
    assert.notEqual(APPLICATION_ID, 0);
  });

  it('brings an older file up to date once, whoever else does it just now', () => {
    openForWriting(runFile).close();
    const next = [...MIGRATIONS, 'ALTER TABLE runs ADD COLUMN later INTEGER NOT NULL DEFAULT 0'];
    let looks = 0;
    const slow = new Proxy(next, {
      get(of, name) {
        // After the look at the version, and before the first step.
        if (name === 'length' && ++looks === 2) openForWriting(runFile, next).close();
        return Reflect.get(of, name) as unknown;
      },
    });
    const db = openForWriting(runFile, slow);
    assert.equal(db.pragma('user_version', { simple: true }), next.length);
    db.close();
    assert.ok(looks > 2);
  });

  /** Kills the writing process at a random moment; answers how many calls of each thread had returned by then. */
  async function killed(milliseconds: number, threads: number): Promise<number[]> {
    const child = spawn(
      findPython(),
      [join(__dirname, '..', 'support', 'spool_app.py'), spool, '100000', String(threads)],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    started.push(child);
    await once(child.stdout, 'data');
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    child.kill('SIGKILL');
    await once(child, 'exit');
    return Array.from({ length: threads }, (_, thread) => Number(readIfThere(join(spool, `returned-${thread}`))));
  }

  function readIfThere(path: string): bigint {
    const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    return bytes.length === 8 ? bytes.readBigUInt64LE() : 0n;
  }

  it('has every returned call after kill -9 of the app, with and without a session that follows', async () => {
    const seed = Number(process.env['TOOLBREAK_SEED'] ?? Date.now() % 1_000_000);
    let random = seed;
    for (let round = 0; round < KILLS; round++) {
      random = (random * 1103515245 + 12345) % 2 ** 31;
      const followed = round % 2 === 0;
      rmSync(spool, { recursive: true });
      mkdirSync(spool);
      for (const name of readdirSync(dirname(runFile))) rmSync(join(dirname(runFile), name));
      const recorder = followed ? open() : undefined;
      const returned = await killed(random % 400, 1 + (round % 3));
      if (recorder !== undefined) {
        recorder.processEnded(7, undefined);
        await recorder.close();
      } else {
        writeOwner(spool, { runFile, run: 'a', session: 's', name: 'app.py', pid: 4000002, pidStart: '1' });
        const recovery = recoverSpool(spool);
        assert.equal(recovery.state, 'recovered', `seed ${seed}`);
        assert.equal(recoverSpool(spool).state, 'none');
      }
      const found = rows(
        "SELECT t.name, sum(c.status = 0 AND f.kind = 'tool') AS n, sum(c.status IS NULL) AS open FROM calls c JOIN tasks t ON t.id = c.task JOIN functions f ON f.id = c.function GROUP BY t.name",
      );
      returned.forEach((count, thread) => {
        const row = found.find(({ name }) => name === `agent ${thread}`);
        const stored = Number(row?.['n'] ?? 0);
        // One more may have been committed in the moment before it was counted.
        assert.ok(
          stored === count || stored === count + 1,
          `${stored} stored of ${count} returned; TOOLBREAK_SEED=${seed}, round ${round}`,
        );
        assert.equal(Number(row?.['open'] ?? 0), 0, 'what was running is ended');
      });
      const check = rows('PRAGMA integrity_check');
      assert.deepEqual(check, [{ integrity_check: 'ok' }]);
    }
  });

  it('takes each frame exactly once when recovery itself is cut short or repeated', () => {
    const file = new SpoolFile(dead).add(1, 1, 'tool', 't', 't', 'm', null, 1, 1).add(2, 1, 'agent', 0);
    const owner = { runFile, run: 'a', session: 's', name: 'app.py', pid: 4000002, pidStart: '1' };
    for (let call = 1; call <= 3; call++) {
      file
        .add(3, call, 0, 1, 1, 2000 + call, dict({}), null)
        .add(6, 2000 + call, 'log', call, dict({ text: 'x' }))
        .add(4, call, 2000 + call, 1, null, null);
      file.write(spool);
      writeOwner(spool, owner);
      // Keeps the spool, as a recovery does that ends before it could delete it.
      const kept = readFileSync(join(spool, `${dead}-1.spool`));
      assert.equal(recoverSpool(spool).state, 'recovered');
      writeFileSync(join(spool, `${dead}-1.spool`), kept);
      writeOwner(spool, owner);
      assert.equal(recoverSpool(spool).state, 'recovered');
      const events = "(SELECT count(*) FROM events WHERE name <> 'mark') AS events";
      assert.deepEqual(rows(`SELECT calls, errors, ${events} FROM runs`), [
        { calls: call, errors: call, events: call },
      ]);
      assert.equal(rows("SELECT 1 FROM events WHERE name = 'mark'").length, 1);
    }
  });
});
