import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { readHeader, writeBundle } from '../../adapter/store/life/bundle';
import { importFile } from '../../adapter/store/life/import';
import { importSpools } from '../../adapter/store/life/importSpools';
import { toolbreakCommand } from '../support/adapter';
import { run } from '../adapter/life-support';
import { bundles, GOOD_SPANS, spans, spools } from './inputs';
import { mutate, mutateJson, tries, type Chance } from './mutate';
import { assertSentence, Shelf, useEverything } from './runs';

const STRANGE: readonly unknown[] = [
  null,
  0,
  -1,
  2 ** 53,
  -(2n ** 63n),
  2n ** 63n - 1n,
  0.5,
  '',
  '\u0000',
  '<img src=x onerror=alert(1)>',
  'x'.repeat(5000),
  '{"a":',
  Buffer.alloc(0),
  Buffer.alloc(40, 0xff),
];

describe('fuzz: import of files', function () {
  this.timeout(600_000);
  let shelf: Shelf;
  /** A run that was recorded, as a bundle and as its run file. */
  let good: Buffer;
  let inside: Buffer;

  before(async () => {
    shelf = new Shelf();
    const folder = join(shelf.folder, 'run');
    mkdirSync(folder);
    writeFileSync(join(folder, '10-a-1.spool'), spools['good']!);
    const note = { version: 1, id: '0'.repeat(16), name: 'app.py', pid: 1, machine: 'elsewhere', started: 1e18 };
    writeFileSync(join(folder, 'run.json'), JSON.stringify(note));
    const [taken] = importSpools(folder, shelf.runs).taken;
    const target = join(shelf.folder, 'good.tbrun');
    await writeBundle(taken!.file, target, '0.1.0');
    good = readFileSync(target);
    inside = gunzipSync(good.subarray(readHeader(target).start));
    shelf.clear();
  });
  after(() => shelf.remove());

  /** Imports it and does everything with the run; answers its calls, or nothing when it was refused. Nothing is left behind. */
  async function taken(bytes: Buffer): Promise<number | undefined> {
    const file = join(shelf.folder, 'given');
    writeFileSync(file, bytes);
    try {
      const { file: made } = await importFile(file, shelf.runs);
      return (await useEverything(made, shelf.folder)).calls;
    } catch (error) {
      assertSentence(error, file);
      return undefined;
    } finally {
      assert.deepEqual(
        shelf.left().filter((name) => !/\.db-(wal|shm)$/.test(name)),
        [],
      );
      shelf.clear();
    }
  }

  /** A bundle of this content, by somebody who can make a right header. */
  function bundleOf(content: Buffer): Buffer {
    const sha256 = createHash('sha256').update(content).digest('hex');
    const header = { version: 1, toolbreak: '0.1.0', run: 'r', format: 1, bytes: content.length, sha256 };
    const text = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length);
    return Buffer.concat([good.subarray(0, 8), length, text, gzipSync(content, { level: 1 })]);
  }

  it('refuses every bundle of the corpus', async () => {
    assert.equal(await taken(good), 12);
    for (const [name, bytes] of Object.entries(bundles)) assert.equal(await taken(bytes), undefined, name);
  });

  it('refuses a bundle that was changed anywhere', async () => {
    await tries(200, async (chance, about) => {
      const { bytes } = mutate(good, chance);
      about(bytes);
      const calls = await taken(bytes);
      // Some bytes say nothing: the time of packing, the Toolbreak it was exported from.
      assert.ok(calls === undefined || calls === 12);
    });
  });

  it('refuses a run file with changed bytes, or lives with them', async () => {
    await tries(80, async (chance, about) => {
      const { bytes } = mutate(inside, chance);
      about(bytes);
      await taken(chance.below(2) === 0 ? bytes : bundleOf(bytes));
    });
  });

  it('refuses a run file with changed rows, or lives with them', async () => {
    const file = join(shelf.folder, 'changed.db');
    await tries(100, async (chance, about) => {
      writeFileSync(file, inside);
      about(changeRows(file, chance));
      await taken(bundleOf(readFileSync(file)));
    });
    rmSync(file);
  });

  /** Puts odd things into some columns of some rows, whatever tables there are; answers what, as SQL. */
  function changeRows(file: string, chance: Chance): Buffer {
    const db = new Database(file);
    const said: string[] = [];
    try {
      db.unsafeMode(true);
      const tables = db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .pluck()
        .all() as string[];
      for (let count = 1 + chance.below(4); count > 0; count--) {
        const table = chance.one(tables);
        const columns = db.prepare('SELECT name FROM pragma_table_info(?)').pluck().all(table) as string[];
        const [to, from] = [chance.one(columns), chance.one(columns)];
        const value = chance.one(STRANGE);
        const where = `WHERE rowid IN (SELECT rowid FROM "${table}" ORDER BY rowid LIMIT ${1 + chance.below(3)} OFFSET ${chance.below(12)})`;
        const sql = chance.one([
          `UPDATE OR IGNORE "${table}" SET "${to}" = ? ${where}`,
          `UPDATE OR IGNORE "${table}" SET "${to}" = "${from}" ${where}`,
          `DELETE FROM "${table}" ${where}`,
        ]);
        said.push(`${sql} -- ${typeof value === 'bigint' ? value : JSON.stringify(value)}`);
        try {
          if (sql.includes('?')) db.prepare(sql).run(value);
          else db.exec(sql);
        } catch (error) {
          // What SQLite itself does not let in, nobody can give us.
          assert.match(String((error as { code?: unknown }).code), /^SQLITE_(CONSTRAINT|MISMATCH|ERROR)/);
        }
      }
    } finally {
      db.close();
    }
    return Buffer.from(said.join('\n'));
  }

  it('takes every good file of spans, and says what is wrong with the others', async () => {
    // Nothing can be made of a span that is nested so deeply, and it is the only one there.
    const refused = ['no-spans', 'no-object', 'lists-in-lists'];
    for (const [name, bytes] of Object.entries(spans)) {
      const calls = await taken(bytes);
      if (refused.includes(name)) assert.equal(calls, undefined, name);
      else assert.ok(calls !== undefined && calls > 0, `${name}: ${calls} calls`);
    }
  });

  it('lives with changed bytes of spans; the lines before them stay', async () => {
    const lines = spans['good-in-lines']!;
    const ends = [...lines.keys()].filter((at) => lines[at] === 10);
    await tries(100, async (chance, about) => {
      const isLines = chance.below(2) === 0;
      const { bytes, first } = mutate(isLines ? lines : chance.one(Object.values(spans)), chance);
      about(bytes);
      const calls = await taken(bytes);
      const before = isLines ? ends.filter((end) => end < first).length : 0;
      assert.ok((calls ?? 0) >= before, `${calls} calls, ${before} lines before byte ${first}`);
    });
  });

  it('lives with spans of another shape', async () => {
    await tries(120, async (chance, about) => {
      const bytes = Buffer.from(JSON.stringify(mutateJson(GOOD_SPANS, chance)) ?? '');
      about(bytes);
      await taken(bytes);
    });
  });

  it('says it on the command line in one line, and fails', async () => {
    const state = join(shelf.folder, 'state');
    const project = join(shelf.folder, 'work');
    mkdirSync(project, { recursive: true });
    for (const [folder, name] of [
      ['bundles', 'more-than-it-says'],
      ['bundles', 'empty-database'],
      ['spans', 'no-object'],
    ] as const) {
      const file = join(project, name);
      copyFileSync(join(__dirname, 'corpus', folder, name), file);
      const { code, stdout, stderr } = await run(process.execPath, toolbreakCommand('import', file), {
        cwd: project,
        env: { ...process.env, XDG_STATE_HOME: state },
      });
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
      assert.match(stderr, /^toolbreak: [^\n]+\n$/);
      assert.ok(stderr.includes(file), stderr);
    }
  });
});
