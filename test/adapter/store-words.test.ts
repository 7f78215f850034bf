import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import type { Query } from '../../protocol/query';
import { checkRun } from '../../adapter/store/life/check';
import { importFile } from '../../adapter/store/life/import';
import { noteWords } from '../../adapter/store/life/words';
import { runQuery } from '../../adapter/store/query/query';
import { line } from '../../adapter/store/reader/render';
import { RunFile } from '../../adapter/store/reader/runFile';
import { Dict, Float, SetValue, Tagged, Tuple, type Value } from '../../adapter/store/values/model';
import { Sink } from '../../adapter/store/values/canonical';
import { BlockTexts } from '../../adapter/store/words/blockTexts';
import { Group } from '../../adapter/store/words/groups';
import { WordWriter } from '../../adapter/store/words/wordWriter';
import { openRecorder } from '../../adapter/store/workerRecorder';
import { SpoolFile, dict } from '../support/spool';
import { RecordedProject } from './recorded';
import { until } from './target-support';

/** Every process has a block of its own, so few calls make as many blocks as are worth noting. */
const PROCESSES = 20;

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({
    unit: fc.constantFrom('a', 'B', 'é', 'İ', 'Σ', 'ς', '7', '-', '.', ':', "'", ' ', '😀', '\ud800'),
    maxLength: 300,
  }),
  fc.uuid(),
);
const anyValue = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.oneof(fc.constant(null), fc.boolean(), fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n })),
    fc.double().map((number) => new Float(number)),
    fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => new Tuple(items)),
    fc.array(fc.integer(), { maxLength: 4 }).map((items) => new SetValue(items, false)),
    fc.array(fc.tuple(text, tie('value')), { maxLength: 4 }).map((entries) => new Dict(entries)),
    fc
      .tuple(
        fc.constantFrom('object', 'masked', 'cut', 'enum', 'opaque', 'cycle'),
        fc.array(tie('value'), { maxLength: 3 }),
      )
      .map(([tag, parts]) => new Tagged(tag, parts)),
  ),
})).value;

/** A process with one call for each value. */
function processWith(index: number, values: readonly Value[]): SpoolFile {
  const spool = new SpoolFile(`${4_000_001 + index}-abc`);
  spool.add(1, 1, 'tool', 'tell', 'm.tell', 'm', '/app/m.py', 5, 9).add(2, 1, 'main', 0);
  values.forEach((value, at) => {
    const time = 2000 + index * 1000 + at * 10;
    spool.add(3, at + 1, 0, 1, 1, time, dict({ said: value }), null);
    spool.add(4, at + 1, time + 5, 0, value, null);
  });
  return spool;
}

describe('store: which texts are in which block', function () {
  this.timeout(60_000);
  let place: RecordedProject;
  let runs = 0;
  beforeEach(() => void (place = new RecordedProject()));
  afterEach(() => place.remove());

  const record = (values: readonly (readonly Value[])[]): string =>
    place.record(
      `run-${runs++}`,
      values.map((each, index) => processWith(index, each)),
    );
  const ask = (file: string, query: Query): string[] =>
    runQuery([file], { limit: 500, ...query }).rows.map((row) => (row.type === 'call' ? row.call.id : ''));
  const change = (file: string, sql: string): void => {
    const db = new Database(file);
    db.exec(sql);
    db.close();
  };
  const candidates = (file: string, wanted: string): number[] | undefined => {
    const run = new RunFile(file);
    try {
      const found = run.words.blocksWith(wanted);
      return found && [...found].map((id) => Math.floor(id / 2 ** 22) - 1).sort((one, other) => one - other);
    } finally {
      run.close();
    }
  };
  const linesOf = (file: string, values: readonly Value[]): string[] => {
    const run = new RunFile(file);
    try {
      return values.map((value) => line(value, run.values)).filter((each) => each.length < 5000);
    } finally {
      run.close();
    }
  };
  /** One word of its own for each process. */
  const named = (extra: readonly Value[] = []): Value[][] =>
    Array.from({ length: PROCESSES }, (_, index) => [`word-of-${String(index).repeat(6)}`, ...extra]);

  it('finds the same calls as a look at every value', () => {
    const drawn = fc.array(fc.array(anyValue, { maxLength: 3 }), { minLength: PROCESSES, maxLength: PROCESSES });
    fc.assert(
      fc.property(drawn, fc.infiniteStream(fc.nat(1000)), (values, dice) => {
        const file = record(values);
        const all = new Set<string>();
        const collect = (value: Value): void => {
          if (typeof value === 'string') all.add(value);
          if (typeof value === 'number' || typeof value === 'bigint') all.add(String(value));
          if (Array.isArray(value)) value.forEach(collect);
          if (value instanceof Tuple) value.items.forEach(collect);
          if (value instanceof Dict) for (const entry of value.entries) entry.forEach(collect);
          if (value instanceof Tagged) value.parts.forEach(collect);
        };
        values.flat().forEach(collect);
        const lines = linesOf(file, values.flat());
        const next = (below: number): number => (dice.next().value as number) % Math.max(1, below);
        const needles = [...all].slice(0, 12).flatMap((each) => {
          const from = next(each.length);
          return [each, each.slice(from, from + 1 + next(12)), each.toUpperCase()];
        });
        noteWords(file);
        const queries = [...new Set(needles)]
          .filter((needle) => needle.length > 0 && needle.length < 5000)
          .flatMap((needle): Query[] => [
            { text: needle },
            { where: [{ path: 'argument.said', contains: needle }] },
            { where: [{ path: 'result', equals: needle }], order: '-start' },
          ])
          .concat(lines.map((line): Query => ({ where: [{ path: 'result', shown: line }] })));
        const noted = queries.map((query) => ask(file, query));
        change(file, 'DELETE FROM word_groups; DELETE FROM words');
        queries.forEach((query, index) => assert.deepEqual(noted[index], ask(file, query), JSON.stringify(query)));
      }),
      {
        numRuns: 12,
        interruptAfterTimeLimit: 45_000,
        ...(process.env['TOOLBREAK_FUZZ_SEED'] === 'random' ? {} : { seed: 1 }),
      },
    );
  });

  it('finds a float by all digits of it, which stand nowhere in it', () => {
    const file = record(named([new Float(1e20)]));
    noteWords(file);
    assert.deepEqual(candidates(file, '100000000000000000000'), []);
    const where = [{ path: 'result', equals: '100000000000000000000' }];
    assert.equal(ask(file, { where }).length, PROCESSES);
  });

  it('looks only into blocks that have the text, also in parts that are stored on their own', () => {
    const large = Array.from({ length: 200 }, (_, index) => `line ${index} of a long text`);
    const values = named();
    values[3]!.push([large, 'Needle-In-3']);
    values[8]!.push(dict({ deep: [large, ['needle-in-8', large]] }));
    const file = record(values);
    noteWords(file);
    assert.deepEqual(candidates(file, 'word-of-777777'), [7]);
    assert.deepEqual(candidates(file, 'WORD-OF-777777'), [7]);
    assert.deepEqual(candidates(file, 'needle-in-3'), [3]);
    assert.deepEqual(candidates(file, 'of a long'), [3, 8]);
    assert.deepEqual(candidates(file, 'not there at all'), []);
    assert.equal(candidates(file, 'of'), undefined);
    assert.deepEqual(ask(file, { text: 'needle-in-8' }), ['9.2']);
    // The name of a function is a text of all its calls.
    assert.equal(ask(file, { text: 'm.tell' }).length, PROCESSES + 2);
  });

  it('sees what came later into a block that was noted, and into new ones', () => {
    const { recording, spool, file } = place.begin(
      'live',
      named().map((each, index) => processWith(index, each)),
    );
    try {
      const db = new Database(file);
      new WordWriter(db).step(Infinity, true);
      db.close();
      assert.deepEqual(candidates(file, 'word-of-555555'), [5]);
      const later = processWith(5, ['word-of-555555', 'came later']);
      later.write(spool);
      processWith(PROCESSES, ['came later']).write(spool);
      while (recording.pass().read > 0);
      assert.deepEqual(ask(file, { text: 'came later' }), ['6.2', '21.1']);
      assert.deepEqual(candidates(file, 'came later'), [5, 20]);
    } finally {
      recording.finish(undefined);
      recording.close();
    }
    noteWords(file);
    assert.deepEqual(candidates(file, 'came later'), [5, 20]);
    assert.deepEqual(candidates(file, 'word-of-555555'), [5]);
    assert.deepEqual(checkRun(file).problems, []);
  });

  it('is right where two processes note one file at a time', () => {
    const file = record(named());
    const connections = [new Database(file), new Database(file)];
    for (const words of connections.map((db) => new WordWriter(db))) while (words.step(Infinity, true));
    for (const db of connections) {
      assert.deepEqual(db.prepare('SELECT id FROM word_groups').pluck().all(), [1, 2]);
      db.close();
    }
    assert.deepEqual(candidates(file, 'word-of-777777'), [7]);
    assert.deepEqual(ask(file, { text: 'word-of-777777' }), ['8.1']);
    assert.deepEqual(checkRun(file).problems, []);
  });

  it('looks into a block of more text than is noted, and notes none of it', () => {
    const large = Array.from({ length: 200 }, (_, index) => `line ${index} of a long text`);
    const values = named();
    values[3]!.push([large]);
    const file = record(values);
    const db = new Database(file);
    const id = (3 + 1) * 2 ** 22;
    const texts = new BlockTexts(db, 1000);
    assert.equal(texts.read(id)?.more, true);
    const group = new Group();
    group.add({ id, version: 1, more: true }, texts.pieces.take());
    assert.deepEqual([...group.pages(new Sink())], []);
    assert.equal(new BlockTexts(db).read(id)?.more, false);
    db.close();
  });

  it('takes fewer blocks into a group when they have many pieces', () => {
    const group = new Group();
    const pieces = Uint32Array.from({ length: 1_000_000 }, (_, index) => index);
    let blocks = 0;
    for (; !group.full; blocks++) group.add({ id: blocks, version: 1, more: false }, pieces);
    assert.equal(blocks, 5);
  });

  it('leaves a short run as it is', () => {
    const file = record(named().slice(0, 10));
    noteWords(file);
    assert.equal(candidates(file, 'not there at all')?.length, 10);
    assert.deepEqual(ask(file, { text: 'word-of-777777' }), ['8.1']);
  });

  it('is found out again for a run from elsewhere, which may say anything', async () => {
    const file = record(named());
    noteWords(file);
    change(file, 'UPDATE words SET pieces = zeroblob(1)');
    const folder = join(place.root, 'elsewhere');
    mkdirSync(folder);
    const { file: imported } = await importFile(file, join(folder, 'p', 'runs'));
    assert.deepEqual(ask(imported, { text: 'word-of-777777' }), ['8.1']);
    assert.deepEqual(candidates(imported, 'word-of-777777'), [7]);
  });

  it('is checked with the rest of the file, and a search does without it where it cannot be read', () => {
    const file = record(named());
    noteWords(file);
    assert.deepEqual(checkRun(file).problems, []);
    change(file, "UPDATE words SET pieces = x'008def02d2' WHERE id % 2 = 0");
    const lost = checkRun(file).problems.map(({ what }) => what);
    assert.deepEqual(lost, ['There are blocks of calls whose texts are not noted as they are']);
    change(file, "UPDATE words SET pieces = x'ffffff'");
    const damaged = checkRun(file).problems.map(({ what }) => what);
    assert.deepEqual(damaged, ['There are texts noted that cannot be read']);
    assert.deepEqual(ask(file, { text: 'word-of-777777' }), ['8.1']);
    change(file, "UPDATE word_groups SET blocks = x'ff'");
    assert.deepEqual(ask(file, { text: 'word-of-777777' }), ['8.1']);
  });

  it('is found whatever bit was lost in what is noted', () => {
    const file = record(named());
    noteWords(file);
    const db = new Database(file);
    let places = 0;
    for (const [table, column] of [
      ['words', 'pieces'],
      ['word_groups', 'blocks'],
    ] as const) {
      const put = db.prepare(`UPDATE ${table} SET ${column} = ? WHERE id = ?`);
      const rows = db.prepare<[], { id: number; bytes: Buffer }>(`SELECT id, ${column} AS bytes FROM ${table}`).all();
      const damage = (how: (bytes: Buffer, index: number) => Buffer): void =>
        rows.forEach(({ id, bytes }, index) => put.run(how(Buffer.from(bytes), index), id));
      damage((bytes, index) => {
        bytes[(index * 7) % bytes.length]! ^= 1 << (index % 8);
        return bytes;
      });
      assert.deepEqual(ask(file, { text: 'word-of-777777' }), ['8.1']);
      damage((bytes) => bytes.subarray(0, bytes.length >> 1));
      assert.deepEqual(ask(file, { text: 'word-of-777777' }), ['8.1']);
      damage((bytes) => bytes);
      places += rows.length;
    }
    db.close();
    assert.ok(places > 100);
    assert.deepEqual(candidates(file, 'word-of-777777'), [7]);
  });

  it('is noted by the recorder in its spare time', async () => {
    const spool = join(place.root, 'spool');
    const runFile = join(place.folder, 'a.db');
    mkdirSync(spool);
    // The newest block of each process may still change; the one before it does not.
    for (let index = 0; index < 70; index++) {
      const one = processWith(index, [`word-of-${String(index).repeat(6)}`]);
      one.add(3, 1030, 0, 1, 1, 900_000, dict({}), null).add(4, 1030, 900_005, 0, null, null).write(spool);
    }
    let processes = 0;
    const recorder = openRecorder({
      ...{ runFile, spoolFolder: spool, run: 'a', session: 's', name: 'app.py' },
      onProblem: (problem) => assert.fail(problem),
      indexFor: () => ++processes,
    });
    try {
      await recorder.sync();
      await until(() => candidates(runFile, 'not there at all')!.length < 140, 'texts to be noted');
      assert.equal(candidates(runFile, 'not there at all')!.length, 140 - 64);
      assert.equal(ask(runFile, { text: 'word-of-777777' }).length, 1);
    } finally {
      await recorder.close();
    }
  });
});
