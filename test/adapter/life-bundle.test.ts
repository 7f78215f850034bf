import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  lstatSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { runsFolder } from '../../adapter/common/paths';
import { openForReading, openForWriting } from '../../adapter/store/database';
import { writeFormat } from '../../adapter/store/formats/write';
import { readHeader, writeBundle } from '../../adapter/store/life/bundle';
import { importFile } from '../../adapter/store/life/import';
import { summaryOf } from '../../adapter/store/reader/folder';
import { MIGRATIONS, migrate } from '../../adapter/store/schema';
import { AGENT, LifePlace, content, run, type Said } from './life-support';
import { toolbreakCommand } from '../support/adapter';
import { until } from './target-support';
import { bigRun } from '../support/big-run';
import { changeCalls, openWithCalls } from '../support/run-file';

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** What is changed in a run file, what is said of it, and the change. */
type Hostile = [string, RegExp, (db: Database.Database) => void];

describe('life: export and import', function () {
  this.timeout(120_000);
  let place: LifePlace;
  let original: string;
  let bundle: string;
  /** Another machine's project, as far as the file knows. */
  let elsewhere: string;

  before(async () => {
    place = new LifePlace();
    original = await place.record(place.file('agent.py', AGENT));
    bundle = join(place.folder, 'agent.tbrun');
    const { code, stdout, stderr } = await place.say('export', 'last', '-o', bundle);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Wrote .*agent\.tbrun \(.*\)\.\n$/);
  });
  after(() => place.remove());
  beforeEach(() => {
    elsewhere = join(place.folder, 'elsewhere');
    mkdirSync(elsewhere, { recursive: true });
  });
  afterEach(() => rmSync(dirname(runs()), { recursive: true, force: true }));

  const runs = (): string => runsFolder(elsewhere, place.state);
  const took = (): string[] => (existsSync(runs()) ? readdirSync(runs()) : []);
  const bytes = (): Buffer => readFileSync(bundle);
  /** A file with these bytes. */
  function made(content: Buffer | string): string {
    const file = join(place.folder, 'made.tbrun');
    writeFileSync(file, content);
    return file;
  }
  /** A bundle whose run file was changed by somebody who can make a right header. */
  async function changed(change: (db: Database.Database) => void): Promise<string> {
    const file = join(place.folder, 'changed.db');
    copyFileSync(original, file);
    const db = new Database(file);
    db.unsafeMode(true);
    change(db);
    db.close();
    const inside = readFileSync(file);
    rmSync(file);
    const { createHash } = await import('node:crypto');
    const sha256 = createHash('sha256').update(inside).digest('hex');
    return made(withHeader({ ...header(), bytes: inside.length, sha256 }, gzipSync(inside)));
  }
  const header = (): object => readHeader(bundle).header;
  function withHeader(header: object, packed: Buffer): Buffer {
    const text = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length);
    return Buffer.concat([bytes().subarray(0, 8), length, text, packed]);
  }
  async function refused(file: string, sentence: RegExp): Promise<void> {
    await assert.rejects(importFile(file, runs()), (error: Error) => {
      assert.equal(error.name, 'UserError', error.stack);
      assert.match(error.message, sentence);
      assert.ok(error.message.includes(file), error.message);
      assert.ok(!error.message.includes('.import-'), error.message);
      return true;
    });
    assert.deepEqual(took(), []);
  }

  it('gives back the same run: ids, values and answers', async () => {
    const [answer] = await place.json<[{ file: string; number: number; calls: number }]>(
      'import',
      bundle,
      '--project',
      elsewhere,
    );
    assert.equal(answer.file, join(runs(), basename(original)));
    assert.deepEqual([answer.number, answer.calls], [1, 5]);
    assert.deepEqual(content(answer.file), content(original));
    const told = (project: string) => place.json<object[]>('runs', '--project', project);
    const without = (list: object[]) => list.map((run) => ({ ...run, file: '', project: '' }));
    assert.deepEqual(without(await told(elsewhere)), without(await told(place.project)));
    assert.equal(statSync(answer.file).mode & 0o777, 0o600);
    assert.deepEqual(took(), [basename(original)]);
  });

  it('overwrites nothing, here or there', async () => {
    const before = content(original);
    const again = await place.say('import', bundle);
    assert.equal(again.code, 1);
    assert.match(
      again.stderr,
      /^toolbreak: The run is there already, as run 1: .*\.db\. Delete it first to import it again\.\n$/,
    );
    assert.deepEqual(content(original), before);
    const over = await place.say('export', 'last', '-o', bundle);
    assert.equal(over.code, 1);
    assert.match(over.stderr, /is there already\. Choose another name, or add --force\./);
    assert.equal((await place.say('export', 'last', '-o', bundle, '--force')).code, 0);
    assert.deepEqual(
      readdirSync(place.folder).filter((name) => name.startsWith('agent.tbrun')),
      ['agent.tbrun'],
    );
  });

  it('is written to stdout where that is asked for', async () => {
    const piped = join(place.folder, 'piped');
    const words = (...args: string[]): string =>
      [process.execPath, ...toolbreakCommand('export', 'last', '-o', '-', ...args)]
        .map((word) => `'${word}'`)
        .join(' ');
    const shell = (script: string): Promise<Said> => run('sh', ['-c', script], { cwd: place.project, env: place.env });
    assert.deepEqual(await shell(`${words()} > '${piped}'`), { code: 0, stdout: '', stderr: '' });
    assert.deepEqual(readFileSync(piped).subarray(0, 8), readFileSync(bundle).subarray(0, 8));
    const there = new LifePlace();
    try {
      assert.match((await there.say('import', piped)).stdout, /^Imported run 1 /);
    } finally {
      await there.remove();
    }
    const spans = await place.say('export', 'last', '-o', '-', '--format', 'otlp');
    assert.ok(
      spans.stdout
        .trim()
        .split('\n')
        .every((line) => 'resourceSpans' in (JSON.parse(line) as object)),
    );
    // Whoever reads it may have enough; nothing is left behind.
    const cut = await shell(`export TMPDIR='${place.folder}'; ${words('--format', 'otlp')} | head -c 10 > /dev/null`);
    assert.deepEqual(
      [cut.code, cut.stderr],
      [
        0,
        '1 event, such as what was printed, is not in it: this format has no place for it.\nLeave --format out to write all that was recorded.\n',
      ],
    );
    assert.deepEqual(
      readdirSync(place.folder).filter((name) => name.startsWith('toolbreak-export-')),
      [],
    );
    assert.equal((await place.say('export', 'last', '-o', '-', '--json')).code, 2);
    const written = join(place.folder, 'named.tbrun');
    const { bytes, ...names } = await place.json<{ bytes: number }>('export', original, '-o', written);
    assert.deepEqual(names, { run: basename(original, '.db'), number: 1, name: 'agent.py', file: original, written });
    assert.equal(bytes, statSync(written).size);
    assert.match(
      (await place.say('export', 'last', '-o', place.folder)).stderr,
      /is a folder\. Name a file in it\.\n$/,
    );
    // A link is not followed, and a recording is not written over.
    const link = join(place.folder, 'link');
    symlinkSync(written, link);
    assert.match(
      (await place.say('export', 'last', '-o', link, '--force')).stderr,
      /link is a link, a device or a pipe/,
    );
    const before = readFileSync(original);
    assert.match((await place.say('export', 'last', '-o', original, '--force')).stderr, /is a database, perhaps a rec/);
    assert.ok(readFileSync(original).equals(before) && lstatSync(link).isSymbolicLink());
    for (const [name, sentence] of [
      ['n'.repeat(300), /its name is too long/],
      [join('named.tbrun', 'x'), /what should be its folder is none/],
    ] as const)
      assert.match((await place.say('export', 'last', '-o', join(place.folder, name))).stderr, sentence);
  });

  it('leaves nothing behind where it is ended in the middle', async () => {
    const temporary = join(place.folder, 'temporary');
    const big = join(place.folder, 'big.db');
    await bigRun(5000, big);
    // Into a pipe that nobody reads, and into a file.
    for (const target of ['-', join(temporary, 'out')]) {
      mkdirSync(temporary);
      const child = spawn(process.execPath, toolbreakCommand('export', big, '-o', target, '--format', 'otlp'), {
        cwd: place.project,
        env: { ...place.env, TMPDIR: temporary },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      // Only now does it listen: a signal ends a copy that SQLite makes at once, and its folder goes with a later export.
      const isWriting = (): boolean =>
        target === '-'
          ? child.stdout.readableLength > 0
          : readdirSync(temporary).some((name) => sizeOf(join(temporary, name, 'made')) > 0);
      child.stdout.on('readable', () => undefined);
      await until(isWriting, 'what it writes');
      child.stdout.removeAllListeners('readable');
      child.kill('SIGTERM');
      child.stdout.resume();
      const [code] = (await once(child, 'close')) as [number | null];
      assert.equal(code, 143);
      assert.deepEqual(readdirSync(temporary), []);
      rmSync(temporary, { recursive: true });
    }
  });

  it('gives a run another number where its own is taken', async () => {
    await importFile(bundle, runs());
    const file = await changed((db) => db.exec("UPDATE runs SET run = 'other'"));
    const second = await importFile(file, runs());
    assert.deepEqual([second.run, second.number], ['other', 2]);
    // Whoever types it would not get it right, and the next one would be larger still.
    for (const [number, run] of [
      ['9007199254740993', 'vast'],
      ['-5', 'less'],
    ]) {
      const odd = await changed((db) => db.exec(`UPDATE runs SET run = '${run}', number = ${number}`));
      assert.ok([3, 4].includes((await importFile(odd, runs())).number));
    }
  });

  it('exports a run while it is recorded, at one moment of it', async () => {
    const { client, file } = await place.launch(join(place.project, 'agent.py'), ['wait']);
    // It is there, and empty, a moment before there is a database in it.
    await until(() => summaryOf(file).problem === undefined && count(file) === 5, 'the calls');
    const out = join(place.folder, 'live.tbrun');
    assert.equal((await place.say('export', 'last', '-o', out)).code, 0);
    const { file: copy } = await importFile(out, runs());
    assert.ok(count(copy) === 5);
    const row = openForReading(copy);
    assert.notEqual(row.prepare('SELECT ended FROM runs').pluck().get(), null);
    assert.match(
      row.prepare("SELECT data FROM events WHERE name = 'mark'").pluck().get() as string,
      /This copy was made while the run went on/,
    );
    row.close();
    const [summary] = await place.json<{ live: boolean }[]>('runs', '--project', elsewhere);
    assert.equal(summary?.live, false);
    await client.request('disconnect', { terminateDebuggee: true });
    await client.end();
    assert.equal((await place.json<{ live: boolean }[]>('runs'))[0]?.live, false);
    assert.equal((await place.say('delete', file)).code, 0);
  });

  it('takes a run file as it is, with its log, and one of an older version', async () => {
    const plain = join(place.folder, 'plain.db');
    copyFileSync(original, plain);
    const db = openForWriting(plain);
    db.exec("UPDATE runs SET run = 'logged', name = 'in the log'");
    // The connection is open: what was written last is in the log alone.
    assert.ok(existsSync(`${plain}-wal`));
    assert.equal((await importFile(plain, runs())).run, 'logged');
    db.close();
    const older = join(place.folder, 'older.db');
    const old = new Database(older);
    old.pragma(`application_id = ${0x54426b31}`);
    for (const step of MIGRATIONS.slice(0, 2)) migrate(old, step);
    old.pragma('user_version = 2');
    old.exec(
      "INSERT INTO runs (id, run, session, name, number, started, pid, pid_start) VALUES (1, 'older', 's', 'n', 7, 1, 1, '?')",
    );
    old.close();
    const { file } = await importFile(older, runs());
    const taken = openForReading(file);
    assert.equal(taken.pragma('user_version', { simple: true }), MIGRATIONS.length);
    // A process of this number lives here, but not that run's.
    assert.notEqual(taken.prepare('SELECT ended FROM runs').pluck().get(), null);
    taken.close();
  });

  it('refuses what is not whole, wherever it is cut', async () => {
    const all = bytes();
    for (const length of [5, 8, 11, 12, 40, all.length - 1, Math.floor(all.length / 2)])
      await refused(
        made(all.subarray(0, length)),
        /is damaged: (its header|its end is missing|it was changed on its way)/,
      );
    const asText = Buffer.from(all);
    asText.set(Buffer.from('\n\n\n'), 5);
    await refused(made(asText), /is damaged: it was changed on its way, perhaps by a transfer as text/);
  });

  it('refuses or takes whole whatever else is changed', async () => {
    const all = bytes();
    await fc.assert(
      fc.asyncProperty(fc.nat(all.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
        const other = Buffer.from(all);
        other[at] = other[at]! ^ by;
        try {
          const { file } = await importFile(made(other), runs());
          assert.deepEqual(content(file), content(original));
          rmSync(file);
        } catch (error) {
          assert.equal((error as Error).name, 'UserError', String((error as Error).stack));
        }
        assert.deepEqual(took(), []);
      }),
      { numRuns: 60 },
    );
  });

  it('refuses what is none of ours, newer, or says of itself what cannot be', async () => {
    await refused(made('hello'), /is nothing that Toolbreak can import/);
    await refused(made(''), /is nothing that Toolbreak can import/);
    const inside = gunzipSync(bytes().subarray(readHeader(bundle).start));
    const packed = gzipSync(inside);
    await refused(made(withHeader({ ...header(), version: 2 }, packed)), /exported by a newer Toolbreak/);
    for (const wrong of [{ bytes: -1 }, { bytes: 1.5 }, { bytes: '9' }, { sha256: 'x' }, { run: 7 }, { version: 0 }])
      await refused(
        made(withHeader({ ...header(), ...wrong }, packed)),
        /its header says nothing that can be understood/,
      );
    await refused(
      made(withHeader({ ...header(), sha256: '0'.repeat(64) }, packed)),
      /its content is not what was exported/,
    );
    await refused(made(withHeader({ ...header(), bytes: inside.length - 1 }, packed)), /it holds more than it says/);
    await refused(
      made(withHeader({ ...header(), bytes: inside.length + 1 }, packed)),
      /its content is not what was exported/,
    );
    await refused(
      made(withHeader(header(), Buffer.from('not gzip'))),
      /is damaged: its content is not what was exported/,
    );
  });

  it('writes no more of a bomb than its header says, and believes no header that says too much', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    await refused(made(withHeader({ ...header(), bytes: 1000 }, bomb)), /it holds more than it says/);
    await refused(
      made(withHeader({ ...header(), bytes: 4e12 }, bomb)),
      /would grow from .* kB to 4\.0 TB, which no recording does/,
    );
    const folder = join(place.folder, 'tight');
    mkdirSync(folder);
    if (
      process.platform !== 'linux' ||
      spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).status !== 0
    )
      return;
    try {
      await assert.rejects(
        importFile(bundle, join(folder, 'projects', 'p', 'runs')),
        /There is no room for .*: it needs/,
      );
      const full = await place.say('export', 'last', '-o', join(folder, 'x', 'y'));
      assert.match(full.stderr, /x\/y cannot be written: its folder does not exist\.\n$/);
      assert.throws(() => writeFileSync(join(folder, 'fill'), Buffer.alloc(2 << 20)), { code: 'ENOSPC' });
      const said = await place.say('export', 'last', '-o', join(folder, 'y'));
      assert.equal(said.code, 1);
      assert.match(said.stderr, /^toolbreak: The disk is full: .*\/y could not be written\.\n$/);
      assert.deepEqual(readdirSync(folder).sort(), ['fill', 'projects']);
    } finally {
      spawnSync('umount', ['-l', folder]);
    }
  });

  const hostile: Hostile[] = [
    [
      'a trigger',
      /its tables are not ours/,
      (db) => db.exec('CREATE TRIGGER t AFTER UPDATE ON runs BEGIN DELETE FROM chunks; END'),
    ],
    [
      'a view in place of a table',
      /its tables are not ours/,
      (db) => db.exec('DROP TABLE tiles; CREATE VIEW tiles AS SELECT 1'),
    ],
    ['a table more', /its tables are not ours/, (db) => db.exec('CREATE TABLE more (a)')],
    ['a table less', /its tables are not ours/, (db) => db.exec('DROP TABLE holds')],
    ['an index on an expression', /its tables are not ours/, (db) => db.exec('CREATE INDEX i ON chunks (abs(first))')],
    ['another kind of database', /is not a Toolbreak run file/, (db) => db.pragma('application_id = 7')],
    ['a newer one', /made by a newer Toolbreak/, (db) => db.pragma(`user_version = ${MIGRATIONS.length + 1}`)],
    ['no run', /it does not hold one run/, (db) => db.exec('DELETE FROM runs')],
    [
      'two runs',
      /it does not hold one run/,
      (db) =>
        db.exec(
          'INSERT INTO runs (run, session, name, number, started, pid, pid_start) SELECT run, session, name, number, started, pid, pid_start FROM runs',
        ),
    ],
    [
      'an id that leads out of the folder',
      /its id is no id of a run/,
      (db) => db.exec("UPDATE runs SET run = '../../x'"),
    ],
    [
      'a value under a wrong name',
      /is damaged, or was changed: a value is not what its name says/,
      (db) => db.exec('UPDATE "values" SET bytes = x\'00\' WHERE cid IS NOT NULL'),
    ],
    [
      'a block whose longest calls are others than it says',
      /a block of calls is not what it says/,
      (db) => db.exec("INSERT OR REPLACE INTO longest_calls (chunk, rest, calls) SELECT id, 0, x'00' FROM chunks"),
    ],
    ...['calls = -1', 'calls = calls - 1', 'holds = -1'].map((change): Hostile => [
      `a run that says ${change}`,
      /it has more calls than it says/,
      (db) => db.exec(`UPDATE runs SET ${change}`),
    ]),
    [
      'a call that is its own ancestor',
      /a call is its own ancestor/,
      (db) => changeCalls(db, (chunk, slot) => void (chunk.parent[slot] ||= chunk.base + chunk.length - 1)),
    ],
    [
      'an event that is no JSON',
      /an event is not JSON/,
      (db) => db.exec("INSERT INTO events (time, name, data) VALUES (0, 'x', '{')"),
    ],
  ];
  for (const [what, sentence, change] of hostile)
    it(`refuses ${what}`, async () => refused(await changed(change), sentence));

  it('says where what is left of a changed run file can be read', async () => {
    const file = join(place.folder, 'flipped.db');
    copyFileSync(original, file);
    const db = new Database(file);
    db.exec(`UPDATE "values" SET bytes = x'c0' WHERE cid IS NOT NULL`);
    db.close();
    await refused(file, /is damaged, or was changed: .* is shown by "toolbreak show FILE"\.$/);
    assert.match((await place.say('show', file)).stdout, /^run \d+ /);
  });

  it('refuses a database whose pages are damaged', async () => {
    const file = join(place.folder, 'broken.db');
    copyFileSync(original, file);
    const inside = readFileSync(file);
    rmSync(file);
    inside.fill(0xff, 4096 * 3, 4096 * 6);
    const { createHash } = await import('node:crypto');
    const sha256 = createHash('sha256').update(inside).digest('hex');
    await refused(
      made(withHeader({ ...header(), bytes: inside.length, sha256 }, gzipSync(inside))),
      /is damaged|is no recording/,
    );
  });

  it('a run that is damaged in a part is not exported, and the sentence names the run', async () => {
    const file = join(place.folder, 'part.db');
    const target = join(place.folder, 'part.out');
    const bytes = readFileSync(original);
    const size = bytes.readUInt16BE(16);
    const writers = [
      () => writeBundle(file, target, '0'),
      () => writeFormat(file, target, 'perfetto', '0'),
      () => writeFormat(file, target, 'otlp', '0'),
    ];
    const met = writers.map(() => 0);
    for (let page = 1; page * size < bytes.length; page++) {
      writeFileSync(file, Buffer.from(bytes).fill(0xff, page * size, (page + 1) * size));
      for (const [index, write] of writers.entries()) {
        const said = await write().then(
          () => undefined,
          (error: Error) => error.message,
        );
        // A page that only queries read is no matter to who writes all calls.
        if (said === undefined) rmSync(target);
        else assert.match(said, /^The run file .*part\.db is damaged|^A part of the run cannot be read/);
        if (said?.includes('is damaged in a part, and cannot be exported') === true) met[index]!++;
      }
    }
    // A text goes on in a page whose number is larger than any: SQLite then says that the disk is full.
    writeFileSync(file, bytes);
    const long = openForWriting(file);
    long.prepare(`INSERT INTO events (time, name, data) VALUES (1, 'mark', ?)`).run('x'.repeat(5 * size));
    long.pragma('wal_checkpoint(TRUNCATE)');
    long.close();
    const beyond = readFileSync(file);
    const inside = Buffer.alloc(size - 4, 'x');
    for (let at = size; at < beyond.length; at += size)
      if (inside.equals(beyond.subarray(at + 4, at + size))) beyond.fill(0xff, at, at + 4);
    writeFileSync(file, beyond);
    await assert.rejects(writeBundle(file, target, '0'), /part\.db is damaged in a part, and cannot be exported\./);
    // Of a value that another one stands in the place of, SQLite sees nothing.
    writeFileSync(file, bytes);
    const db = openForWriting(file);
    db.prepare('UPDATE "values" SET bytes = ? WHERE cid IS NOT NULL').run(Buffer.from([0]));
    db.close();
    await assert.rejects(writeBundle(file, target, '0'), /part\.db is damaged in a part, and cannot be exported\./);
    assert.ok(
      met.every((count) => count > 0),
      String(met),
    );
    assert.deepEqual(
      readdirSync(place.folder).filter((name) => name.startsWith('part.out')),
      [],
    );
  });

  const count = (file: string): number => {
    const db = openWithCalls(file);
    try {
      return db.prepare('SELECT count(*) FROM calls').pluck().get() as number;
    } finally {
      db.close();
    }
  };
});
