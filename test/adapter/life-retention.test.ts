import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { startMark } from '../../adapter/store/alive';
import { openForReading } from '../../adapter/store/database';
import { MIGRATIONS, migrate } from '../../adapter/store/schema';
import { prune } from '../../adapter/store/life/prune';
import { summaryOf } from '../../adapter/store/reader/folder';
import {
  noteRetention,
  parseAge,
  parseSize,
  readRetention,
  settingsFile,
  sizeText,
} from '../../adapter/store/life/retention';
import { lockRecovery, writeOwner } from '../../adapter/store/spoolOwner';
import { AGENT, LifePlace, age } from './life-support';
import { until } from './target-support';
import { openWithCalls } from '../support/run-file';
import { SpoolFile, dict } from '../support/spool';

const DAY = 86_400_000;

interface PruneAnswer {
  dryRun: boolean;
  removed: { file: string; bytes: number; why: string }[];
  stay: { file: string; why: string }[];
  problems: string[];
  left: number;
}

describe('life: how long runs stay', function () {
  this.timeout(120_000);
  let place: LifePlace;
  let original: string;

  before(async () => {
    place = new LifePlace();
    original = await place.record(place.file('agent.py', AGENT));
  });
  after(() => place.remove());

  /** A copy of the recorded run under another name, last written so many days ago. */
  function copy(name: string, days = 0): string {
    const file = join(dirname(original), `${name}.db`);
    copyFileSync(original, file);
    age(file, days);
    return file;
  }
  /** As every answer names a run. */
  const names = (file: string): object => {
    const { run, number, name } = summaryOf(file);
    return { run, number, name, file };
  };
  const change = (file: string, sql: string, ...values: unknown[]): void => {
    const { atime, mtime } = statSync(file);
    const db = new Database(file);
    db.prepare(sql).run(...values);
    db.close();
    utimesSync(file, atime, mtime);
  };

  it('takes away what is too old, and says so before with --dry-run', async () => {
    const old = copy('old', 8);
    const young = copy('young', 6);
    const dry = await place.json<PruneAnswer>('prune', '--dry-run');
    assert.deepEqual(
      dry.removed.map(({ file, why }) => [file, why]),
      [[old, 'age']],
    );
    assert.ok(existsSync(old));
    // Numbers are of a project, and the runs of all of them go.
    assert.match(
      (await place.say('prune', '--dry-run')).stdout,
      /^would go: run \d+ agent\.py \(project work, old\.db, /,
    );
    const said = await place.say('prune');
    assert.equal(said.code, 0, said.stderr);
    assert.match(
      said.stdout,
      /^deleted: run \d+ agent\.py \(project work, old\.db, .* kB, too old\)\n1 run deleted, .*; .* are left\.\n$/,
    );
    assert.ok(!existsSync(old));
    assert.ok(existsSync(young));
    const answer = await place.json<PruneAnswer>('prune', '--older-than', '5d');
    assert.deepEqual(
      answer.removed.map(({ file }) => file),
      [young],
    );
  });

  it('takes the oldest beyond the size, and never the newest', async () => {
    const [first, second] = [copy('a', 3), copy('b', 2)];
    const size = statSync(original).size;
    const answer = await place.json<PruneAnswer>('prune', '--larger-than', `${size * 2}B`);
    assert.deepEqual(
      answer.removed.map(({ file, why }) => [file, why]),
      [[first, 'size']],
    );
    assert.equal(answer.left, size * 2);
    assert.deepEqual(
      (await place.json<PruneAnswer>('prune', '--larger-than', '1B')).removed.map(({ file }) => file),
      [second],
    );
    assert.ok(existsSync(original));
  });

  it('keeps a run until it is told not to', async () => {
    const file = copy('kept', 100);
    assert.match((await place.say('keep', 'kept')).stdout, /^Run \d \(.*\) is kept\.\n$/);
    age(file, 100);
    const answer = await place.json<PruneAnswer>('prune', '--larger-than', '0B');
    assert.deepEqual(answer.stay, [{ ...names(file), project: 'work', why: 'kept' }]);
    assert.deepEqual(answer.removed, []);
    const refused = await place.say('delete', 'kept');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^toolbreak: Run \d \(.*\) is kept\. Say "toolbreak keep kept --not" first\.\n$/);
    assert.deepEqual(await place.json('keep', 'kept', '--not'), { ...names(file), kept: false });
    // What was just written is not old.
    assert.deepEqual((await place.json<PruneAnswer>('prune')).removed, []);
    age(file, 100);
    assert.equal((await place.json<PruneAnswer>('prune')).removed[0]?.file, file);
  });

  it('deletes a run by name with all that belongs to it', async () => {
    const file = copy('gone');
    const spool = join(place.state, 'sessions', 'dead', 'spool', 'gone');
    mkdirSync(spool, { recursive: true });
    writeFileSync(join(spool, 'x-1.spool'), 'unread');
    writeOwner(spool, { runFile: file, run: 'gone', session: 'dead', name: 'x', pid: 4000002, pidStart: '1' });
    for (const end of ['-wal', '-shm', '.damaged', '.damaged-wal']) writeFileSync(file + end, '');
    const unlock = lockRecovery(spool)!;
    const refused = await place.say('delete', file);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /just being taken over from a session that ended/);
    unlock();
    const { file: deleted, number } = await place.json<{ file: string; number: number }>('delete', file);
    assert.equal(number, 1);
    assert.equal(deleted, file);
    assert.deepEqual(
      readdirSync(dirname(file)).filter((name) => name.startsWith('gone')),
      [],
    );
    assert.deepEqual(readdirSync(spool), []);
  });

  it('leaves live runs, those whose app records on without a session, and files it does not know', async () => {
    const me = startMark(process.pid);
    const live = copy('live', 30);
    change(live, 'UPDATE runs SET ended = NULL, pid = ?, pid_start = ?', process.pid, me);
    const orphan = copy('orphan', 30);
    change(orphan, 'UPDATE processes SET ended = NULL, pid = ?, pid_start = ?', process.pid, me);
    const starting = copy('starting', 30);
    const spools = join(place.state, 'sessions', 's', 'spool');
    for (const [name, pid, pidStart] of [
      ['orphan', 4000002, '1'],
      ['starting', process.pid, me],
    ] as const) {
      mkdirSync(join(spools, name), { recursive: true });
      writeOwner(join(spools, name), {
        runFile: join(dirname(live), `${name}.db`),
        run: name,
        session: 's',
        name,
        pid,
        pidStart,
      });
    }
    const foreign = join(dirname(live), 'foreign.db');
    const other = new Database(foreign);
    other.exec('CREATE TABLE t (a)');
    other.close();
    const newer = copy('newer', 30);
    change(newer, `PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    const broken = join(dirname(live), 'broken.db');
    const spaced = join(dirname(live), 'broken too.db');
    for (const file of [broken, spaced]) writeFileSync(file, 'SQLite format 3\0 and no more');
    for (const file of [foreign, broken, spaced, newer]) age(file, 30);
    const said = await place.say('prune', '--older-than', '7d');
    assert.equal(said.code, 1);
    for (const name of ['live', 'orphan', 'starting'])
      assert.match(said.stdout, new RegExp(`stays: run .*\\(project work, ${name}\\.db, still being recorded\\)`));
    assert.match(said.stderr, /newer\.db was made by a newer Toolbreak/);
    assert.match(said.stderr, /foreign\.db is not a Toolbreak run file/);
    assert.match(
      said.stderr,
      /broken\.db is damaged\. Nobody knows whether it is kept: "toolbreak delete broken --all" takes it away\./,
    );
    assert.match(said.stderr, /"toolbreak delete 'broken too' --all" takes it away\./);
    rmSync(spaced);
    for (const file of [live, orphan, starting, foreign, newer, broken]) assert.ok(existsSync(file), file);
    for (const name of ['newer', 'foreign', 'live']) {
      const refused = await place.say('delete', name);
      assert.equal(refused.code, 1, name);
    }
    // What is named and lies among the runs is one, though it cannot say so any more; elsewhere it may be anything.
    const elsewhere = place.file('elsewhere.db', readFileSync(broken, 'utf8'));
    const refused = await place.say('delete', elsewhere);
    assert.deepEqual([refused.code, existsSync(elsewhere)], [1, true]);
    assert.match(refused.stderr, /elsewhere\.db is damaged\. "toolbreak check" says what of it can still be read\.\n$/);
    assert.deepEqual((await place.say('delete', 'broken')).stdout, 'Deleted run broken, 28 bytes.\n');
    assert.ok(!existsSync(broken));
    const notes = join(dirname(live), 'notes.txt');
    writeFileSync(notes, '');
    assert.deepEqual([(await place.say('delete', notes)).code, existsSync(notes)], [1, true]);
    rmSync(notes);
    for (const file of [live, orphan, starting]) change(file, 'UPDATE runs SET ended = 1, pid = 4000002');
    for (const name of ['orphan', 'starting'])
      writeOwner(join(spools, name), {
        runFile: '/nowhere/x.db',
        run: name,
        session: 's',
        name,
        pid: 4000002,
        pidStart: '1',
        complete: true,
      });
    for (const name of ['live', 'orphan', 'starting']) assert.equal((await place.say('delete', name)).code, 0, name);
    for (const file of [foreign, newer]) rmSync(file);
  });

  it('deletes no damaged run that can still say that it is kept, live or of a newer version', async () => {
    /** The table's pages, but for the first, are lost. */
    const lose = (file: string, table: string): void => {
      const db = new Database(file);
      const page = db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(table) as number;
      const size = db.pragma('page_size', { simple: true }) as number;
      db.close();
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.fill(0xff, (page - 1) * size, page * size));
    };
    const kept = copy('damaged-kept');
    change(kept, 'UPDATE runs SET kept = 1');
    const live = copy('damaged-live');
    change(live, 'UPDATE runs SET ended = NULL, pid = ?, pid_start = ?', process.pid, startMark(process.pid));
    for (const file of [kept, live]) lose(file, 'processes');
    // The list says it in a sentence that names the file.
    const lost = copy('damaged-lost');
    lose(lost, 'runs');
    assert.equal(summaryOf(lost).problem, `The run file ${lost} is damaged.`);
    rmSync(lost);
    const newer = copy('damaged-newer');
    change(newer, `PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    const bytes = readFileSync(newer);
    writeFileSync(newer, bytes.fill(0xff, 100, 500));
    for (const [file, why] of [
      [kept, /is kept\. Say "toolbreak keep/],
      [live, /is still being recorded/],
      [newer, /was made by a newer Toolbreak/],
    ] as const) {
      const refused = await place.say('delete', basename(file, '.db'));
      assert.deepEqual([refused.code, existsSync(file)], [1, true], refused.stdout);
      assert.match(refused.stderr, why);
      rmSync(file);
    }
  });

  it('asks the spool of a damaged run whether its app still records, and makes the run again from it', async () => {
    const file = copy('again');
    const spool = join(place.state, 'sessions', 'died', 'spool', 'again');
    mkdirSync(spool, { recursive: true });
    const me = `${process.pid}-${startMark(process.pid)}`;
    new SpoolFile(me)
      .add(1, 1, 'tool', 'search', 'search', 'm', '/app/m.py', 1, 1)
      .add(2, 1, 'main', 0)
      .add(3, 1, 0, 1, 1, 2000, dict({}), null)
      .write(spool);
    writeOwner(spool, { runFile: file, run: 'again', session: 'died', name: 'x', pid: 4000002, pidStart: '1' });
    writeFileSync(file, 'SQLite format 3\0 and no more');
    const refused = await place.say('delete', 'again');
    assert.equal(refused.code, 1, refused.stdout);
    assert.match(refused.stderr, /is still being recorded/);
    assert.equal(summaryOf(file).calls, 1);
    assert.ok(readdirSync(spool).some((name) => name.endsWith('.spool')));
    rmSync(dirname(dirname(spool)), { recursive: true });
    for (const name of readdirSync(dirname(file)))
      if (name.startsWith('again')) rmSync(join(dirname(file), name), { force: true });
  });

  it('does not take a clock that was set back for age', () => {
    const future = copy('future', -300);
    const limits = { retention: { age: 7 * DAY }, state: place.state };
    assert.deepEqual(prune(limits).removed, []);
    // The clock was wrong while it was recorded; the file says when it was last written, whatever is in it.
    change(future, 'UPDATE runs SET started = 1000, ended = 2000');
    assert.deepEqual(prune(limits).removed, []);
    assert.deepEqual(prune({ ...limits, now: Date.now() - 400 * DAY }).removed, []);
    age(future, 8);
    assert.deepEqual(
      prune(limits).removed.map(({ file }) => basename(file)),
      ['future.db'],
    );
  });

  it('says which run could not be deleted, and goes on with the others', async function () {
    const locked = join(place.state, 'projects', 'locked-0000000000', 'runs');
    mkdirSync(locked, { recursive: true });
    const file = join(locked, 'stuck.db');
    copyFileSync(original, file);
    age(file, 30);
    const old = copy('old', 30);
    const mounted =
      process.platform === 'linux' &&
      spawnSync('mount', ['--bind', '-o', 'ro', locked, locked]).status === 0 &&
      spawnSync('mount', ['-o', 'remount,bind,ro', locked]).status === 0;
    if (!mounted) chmodSync(locked, 0o500);
    try {
      const said = await place.say('prune');
      assert.match(said.stdout, /deleted: .*old\.db/);
      assert.ok(!existsSync(old));
      if (!mounted && process.getuid?.() === 0) return;
      assert.equal(said.code, 1);
      assert.match(
        said.stderr,
        /^toolbreak: The run file .*stuck\.db cannot be written: it, or its folder, is read-only\.\n$/,
      );
      const kept = await place.say('keep', file);
      assert.equal(kept.code, 1);
      assert.match(kept.stderr, /is read-only/);
    } finally {
      if (mounted) spawnSync('umount', ['-l', locked]);
      else chmodSync(locked, 0o700);
      rmSync(dirname(locked), { recursive: true });
    }
  });

  it('prunes by itself when a session ends, by the settings that the editor gave', async () => {
    const old = copy('old', 40);
    const staying = copy('staying', 20);
    noteRetention({ days: 30, gigabytes: 0 }, place.state);
    await place.record(join(place.project, 'agent.py'));
    await until(() => !existsSync(old), 'the old run to go');
    assert.ok(existsSync(staying));
    assert.equal((await place.say('delete', 'staying')).code, 0);
  });

  it('keeps a run while it is recorded, and the session records on', async () => {
    const { client, file } = await place.launch(join(place.project, 'agent.py'), ['wait']);
    // It is there, and empty, a moment before there is a database in it.
    await until(() => summaryOf(file).problem === undefined, 'the run file');
    await until(() => calls(file) >= 5, 'the calls');
    assert.deepEqual(await place.json('keep', 'last'), { ...names(file), kept: true });
    const refused = await place.say('delete', file);
    assert.match(refused.stderr, /is still being recorded\. End its app first\./);
    await client.request('disconnect', { terminateDebuggee: true });
    await client.end();
    await until(() => ended(file), 'the end of the run');
    const said = await place.say('delete', file);
    assert.match(said.stderr, /is kept/);
    assert.equal((await place.say('keep', file, '--not')).code, 0);
    assert.equal((await place.say('delete', file)).code, 0);
  });

  it('opens a file of an older version, which says nothing of being kept', () => {
    const file = join(place.folder, 'older.db');
    const db = new Database(file);
    db.pragma(`application_id = ${0x54426b31}`);
    for (const step of MIGRATIONS.slice(0, 2)) migrate(db, step);
    db.pragma('user_version = 2');
    db.exec(
      "INSERT INTO runs (id, run, session, name, number, started, pid, pid_start) VALUES (1, 'a', 's', 'n', 1, 1, 4000002, '1')",
    );
    db.close();
    const opened = openForReading(file);
    assert.equal(opened.prepare('SELECT kept FROM runs').pluck().get(), 0);
    opened.close();
  });

  const calls = (file: string): number => number(file, 'SELECT count(*) FROM calls');
  const ended = (file: string): boolean => number(file, 'SELECT ended IS NOT NULL FROM runs') === 1;
  function number(file: string, sql: string): number {
    const db = openWithCalls(file);
    try {
      return db.prepare(sql).pluck().get() as number;
    } finally {
      db.close();
    }
  }
});

describe('life: limits', () => {
  it('are read from words', () => {
    assert.deepEqual(['7d', '12h', '1.5m', '2w', '0s'].map(parseAge), [7 * DAY, DAY / 2, 90_000, 14 * DAY, 0]);
    assert.deepEqual(['10GB', '500 mb', '2k', '7B', '1.5TB'].map(parseSize), [1e10, 5e8, 2000, 7, 1.5e12]);
    for (const wrong of ['', '7', 'd', '-1d', '7 days', '1e3d', 'NaNd'])
      assert.equal(parseAge(wrong), undefined, wrong);
    for (const wrong of ['', 'GB', '5', '0', '-1GB', '1PB', '0x10', 'Infinity'])
      assert.equal(parseSize(wrong), undefined, wrong);
    assert.deepEqual([999, 1000, 12_345, 250e6, 1e10].map(sizeText), [
      '999 bytes',
      '1.0 kB',
      '12.3 kB',
      '250 MB',
      '10.0 GB',
    ]);
  });

  it('stand in a file that people may write', async () => {
    const place = new LifePlace();
    try {
      assert.deepEqual(readRetention(place.state), { age: 7 * DAY, size: 1e10 });
      noteRetention({ days: 0, gigabytes: 1.5 }, place.state);
      assert.deepEqual(readRetention(place.state), { size: 1.5e9 });
      writeFileSync(settingsFile(place.state), '{"mine": 1, "retention": {"days": 3, "more": 2}}');
      noteRetention({ days: 2, gigabytes: 10 }, place.state);
      assert.deepEqual(JSON.parse(readFileSync(settingsFile(place.state), 'utf8')), {
        mine: 1,
        retention: { days: 2, gigabytes: 10, more: 2 },
      });
      for (const wrong of [
        '[]',
        '{',
        '{"retention": 7}',
        '{"retention": {"days": "7"}}',
        '{"retention": {"days": -1}}',
      ]) {
        writeFileSync(settingsFile(place.state), wrong);
        assert.throws(
          () => readRetention(place.state),
          /settings .*settings\.json cannot be used: .* Mend the file or remove it\./,
          wrong,
        );
        const said = await place.say('prune');
        assert.equal(said.code, 1, wrong);
      }
      const typed = await place.say('prune', '--older-than', 'soon');
      assert.equal(typed.code, 2);
      assert.match(typed.stderr, /A time is a number with s, m, h, d or w/);
    } finally {
      await place.remove();
    }
  });
});
