import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync, inflateSync } from 'node:zlib';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { UserError } from '../../adapter/common/errors';
import { globalId } from '../../adapter/store/callNames';
import { CallReader } from '../../adapter/store/chunks/callReader';
import { CallWriter } from '../../adapter/store/chunks/callWriter';
import { Chunk, LONG, PARTS } from '../../adapter/store/chunks/chunk';
import { squeeze } from '../../adapter/store/chunks/pack';
import { count, select, type CallOrder, type Selection } from '../../adapter/store/chunks/select';
import { openForReading, openForWriting, type Connection } from '../../adapter/store/database';
import { density } from '../../adapter/store/reader/density';
import { RunFile } from '../../adapter/store/reader/runFile';
import { APPLICATION_ID, MIGRATIONS, migrate } from '../../adapter/store/schema';
import { SMALL_TASK, TileReader, Tiles, EVERY_TASK, LEVELS } from '../../adapter/store/tiles';

/** What was said of a call, in the plainest form. */
interface Known {
  parent?: number;
  task?: number;
  func?: number;
  start?: number;
  end?: number;
  status?: number;
  tokens?: number;
  edited?: boolean;
  parts: Map<number, number | string>;
}

const time = fc.oneof(fc.nat(5_000_000), fc.integer({ min: -(2 ** 51), max: 2 ** 51 }));
/** Within two processes, and both sides of the edge between two blocks. */
const id = fc
  .tuple(
    fc.integer({ min: 1, max: 2 }),
    fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1015, max: 1035 })),
  )
  .map(([process, number]) => globalId(process, number));
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      id,
      does: fc.constant('start' as const),
      parent: fc.nat(50),
      task: fc.nat(3),
      func: fc.nat(3),
      time,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      id,
      does: fc.constant('end' as const),
      time,
      status: fc.nat(3),
      tokens: fc.option(fc.nat()),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      id,
      does: fc.constant('part' as const),
      part: fc.nat(PARTS.length - 1),
      value: fc.oneof(fc.integer({ min: 1, max: 2 ** 40 }), fc.string({ maxLength: 120 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ id, does: fc.constant('edited' as const) }) },
  { weight: 1, arbitrary: fc.record({ id, does: fc.constantFrom('flush' as const, 'reopen' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

describe('store: blocks of calls', () => {
  let folder: string;
  let db: Connection;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolbreak-test-'));
    db = openForWriting(join(folder, 'a.db'));
  });
  afterEach(() => {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function write(steps: readonly Step[]): Map<number, Known> {
    db.exec(`DELETE FROM chunks; DELETE FROM long_calls; DELETE FROM failed_calls; DELETE FROM function_chunks;
      DELETE FROM longest_calls`);
    let writer = new CallWriter(db);
    const known = new Map<number, Known>();
    for (const one of steps) {
      if (one.does === 'flush' || one.does === 'reopen') {
        writer.flush();
        if (one.does === 'reopen') writer = new CallWriter(db);
        continue;
      }
      let call = known.get(one.id);
      if (call === undefined) known.set(one.id, (call = { parts: new Map() }));
      if (one.does === 'start' && call.start === undefined) {
        // Nobody is his own parent: what says so has none.
        const parent = one.parent === 0 || globalId(1, one.parent) === one.id ? 0 : globalId(1, one.parent);

        writer.start(one.id, one.parent === 0 ? 0 : globalId(1, one.parent), one.task + 1, one.func + 1, one.time);
        Object.assign(call, { parent, task: one.task + 1, func: one.func + 1, start: one.time });
      } else if (one.does === 'end' && call.end === undefined) {
        writer.end(one.id, one.time, one.status, one.tokens ?? undefined);
        Object.assign(call, { end: one.time, status: one.status, tokens: one.tokens ?? undefined });
      } else if (one.does === 'part') {
        const row = typeof one.value === 'number' ? one.value : 0;
        const bytes = Buffer.from(typeof one.value === 'string' ? one.value : '');
        if (bytes.length > 255) continue;
        writer.part(one.id, one.part, { row, bytes, length: bytes.length });
        call.parts.set(one.part, one.value);
      } else if (one.does === 'edited') {
        writer.edited(one.id);
        call.edited = true;
      } else if (call.parts.size === 0 && call.start === undefined && call.end === undefined && call.edited !== true)
        known.delete(one.id);
    }
    writer.flush();
    return known;
  }

  it('give back what was written, whatever came first', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const known = write(steps);
        const reader = new CallReader(db);
        for (const [call, said] of known) {
          assert.ok(reader.has(call));
          const found = reader.get(call);
          assert.equal(found === undefined, said.start === undefined);
          // Read alone, with some of its block, or with all of it, a call is the same.
          const alone = new CallReader(db).get(call);
          assert.deepEqual(alone && { ...alone }, found && { ...found });
          if (found === undefined) continue;
          const { parent, task, function: func, start, end, status, edited, tokens } = found;
          assert.deepEqual(
            {
              parent: parent ?? 0,
              task,
              func,
              start,
              end: end ?? undefined,
              status: status ?? undefined,
              tokens: tokens ?? undefined,
              edited: edited === 1,
            },
            {
              parent: said.parent,
              task: said.task,
              func: said.func,
              start: said.start,
              end: said.end,
              status: said.status,
              tokens: said.tokens,
              edited: said.edited === true,
            },
          );
          for (const [index, name] of PARTS.entries()) {
            const address: number | null = found[name];
            const value = said.parts.get(index);
            if (typeof value === 'string') assert.equal(reader.bytes(address!)!.toString(), value);
            else assert.equal(address ?? undefined, value);
          }
        }
        const started = [...known.values()].filter(({ start }) => start !== undefined).length;
        assert.equal([...reader.all()].length, started);
        assert.equal(
          reader.zones().reduce((sum, zone) => sum + zone.calls, 0),
          started,
        );
      }),
      { numRuns: 60 },
    );
  });

  it('are found in every order, page by page, as a plain filter finds them', () => {
    const orders = fc.constantFrom<CallOrder>('start', '-start', 'duration', '-duration');
    const wanted = fc.record({
      from: time,
      to: time,
      until: fc.option(time, { nil: undefined }),
      minimum: fc.oneof(fc.nat(1000), fc.constantFrom(40_000, 300_000)),
      maximum: fc.option(fc.constantFrom(LONG - 1, LONG, 100_000), { nil: undefined }),
      failed: fc.boolean(),
      functions: fc.option(fc.array(fc.integer({ min: 1, max: 4 }))),
      page: fc.integer({ min: 1, max: 7 }),
      order: orders,
    });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 120 }),
        wanted,
        (steps, { page, order, functions, maximum, until, ...given }) => {
          const range = { ...given, ...(maximum !== undefined && { maximum }), ...(until !== undefined && { until }) };
          const known = write(steps);
          const reader = new CallReader(db);
          const selection: Selection = { ...range, functions: functions === null ? undefined : new Set(functions) };
          const byDuration = order.endsWith('duration');
          const sign = order.startsWith('-') ? -1 : 1;
          const expected = [...known]
            .filter(([, { start, end, status, func }]) => {
              if (start === undefined || start < range.from || start > range.to) return false;
              if (end === undefined) {
                if (byDuration || range.maximum !== undefined) return false;
              } else if (end - start < range.minimum || end - start > (range.maximum ?? Infinity)) return false;
              else if (end < (range.until ?? -Infinity)) return false;
              if (range.failed && status !== 1) return false;
              return selection.functions?.has(func!) ?? true;
            })
            .map(([call, { start, end }]) => ({ id: call, key: byDuration ? end! - start! : start! }))
            .sort((one, other) => sign * (one.key - other.key || one.id - other.id));
          const found: number[] = [];
          let after = { key: -sign * Infinity, id: -sign * Infinity };
          for (;;) {
            const calls = select(reader, selection, order, after, page);
            found.push(...calls.map((call) => call.id));
            const last = calls.at(-1);
            if (last === undefined) break;
            after = { key: byDuration ? last.end! - last.start : last.start, id: last.id };
          }
          assert.deepEqual(
            found,
            expected.map((each) => each.id),
          );
          if (!byDuration) assert.equal(count(reader, selection), expected.length);
        },
      ),
      { numRuns: 80 },
    );
  });

  it('are drawn without unpacking blocks whose longest calls are named', () => {
    const writer = new CallWriter(db);
    const first = globalId(1, 1024);
    const expected: { id: number; parent: number | null; start: number; end: number; status: number }[] = [];
    // Some that are drawn in each of three blocks, many that are not, and a long one, which is found elsewhere.
    for (let number = 0; number < 3 * 1024; number++) {
      const [id, start] = [first + number, number * 1000];
      const length = number === 500 ? LONG : number % 100 === 7 ? 100_000 + number : 20_000;
      const parent = number % 5 === 0 ? 0 : id - 1;
      writer.start(id, parent, 1 + (number % 2), 1 + (number % 3), start);
      writer.depth(id, number % 4);
      writer.end(id, start + length, number % 7 === 0 ? 1 : 0, undefined);
      if (number === 107) writer.edited(id);
      if (length === 20_000 || length === LONG) continue;
      const status = number % 7 === 0 ? 1 : 0;
      expected.push({ id, parent: parent === 0 ? null : parent, start, end: start + length, status });
    }
    writer.flush();
    const drawn = (range: Partial<Selection> = {}) => {
      const selection = { from: -LONG, to: 5e6, until: 0, minimum: 50_000, maximum: LONG - 1, ...range };
      return select(new CallReader(db), selection, '-duration', { key: Infinity, id: Infinity }, 5000);
    };
    const unpacked = drawn().map((call) => ({ ...call }));
    db.exec('CREATE TEMP TABLE kept AS SELECT id, heads FROM chunks; UPDATE chunks SET heads = zeroblob(9)');
    assert.deepEqual(
      drawn().map(({ id, parent, start, end, status }) => ({ id, parent, start, end, status })),
      [...expected].reverse(),
    );
    assert.deepEqual(
      drawn().map((call) => ({ ...call })),
      unpacked,
    );
    assert.deepEqual(
      drawn({ failed: true, functions: new Set([2]) }).map(({ id }) => id),
      expected
        .filter(({ id, status }) => status === 1 && (id - first) % 3 === 1)
        .map(({ id }) => id)
        .reverse(),
    );
    // Where shorter ones are wanted the blocks are needed.
    assert.throws(() => drawn({ minimum: 20_000 }), /A part of the run cannot be read/);
    db.exec('DELETE FROM longest_calls');
    assert.throws(() => drawn(), /A part of the run cannot be read/);
    db.exec('UPDATE chunks SET heads = (SELECT heads FROM kept WHERE kept.id = chunks.id)');
    assert.deepEqual(
      drawn().map((call) => ({ ...call })),
      unpacked,
    );
  });

  it('are named in part where a block has too many that are drawn, and no more once they have changed', () => {
    const writer = new CallWriter(db);
    const first = globalId(1, 1024);
    for (let number = 0; number < 200; number++) {
      writer.start(first + number, 0, 1, 1, number);
      writer.end(first + number, number + 100_000 + number * 10, 0, undefined);
    }
    writer.flush();
    const [block] = new CallReader(db).ids();
    const longest = (minimum: number): number[] | undefined =>
      new CallReader(db).longest(block!, minimum)?.map(({ id }) => id - first);
    const named = longest(102_000)!;
    assert.ok(named.length >= 40 && named.length < 100);
    assert.deepEqual(
      named,
      Array.from(named, (_, index) => 200 - named.length + index),
    );
    const shortest = 100_000 + named[0]! * 10;
    assert.deepEqual(longest(shortest), named);
    assert.equal(longest(shortest - 10), undefined);
    for (let number = 0; number < 200; number++) writer.end(first + number, number + 7, 0, undefined);
    writer.flush();
    assert.equal(longest(102_000), undefined);
    assert.equal(db.prepare('SELECT count(*) FROM longest_calls').pluck().get(), 0);
  });

  it('that are named and damaged are refused with a sentence', () => {
    const writer = new CallWriter(db);
    writer.start(globalId(1, 1), 0, 1, 1, 0);
    writer.end(globalId(1, 1), 100_000, 0, undefined);
    writer.flush();
    const block = new CallReader(db).ids()[0]!;
    const change = db.prepare('UPDATE longest_calls SET calls = ?');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        change.run(Buffer.from(bytes));
        try {
          new CallReader(db).longest(block, 50_000);
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
        }
      }),
    );
  });

  it('that are damaged are refused with a sentence', () => {
    const whole = new Chunk(4_194_304);
    for (let slot = 0; slot < 200; slot++) whole.setStart(slot, 0, 1, 1, 0, slot);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, packed) => {
        const heads = packed ? squeeze(bytes) : Buffer.from(bytes);
        try {
          const chunk = Chunk.unpack(7, heads, () => heads);
          for (let slot = 0; slot < chunk.length; slot++) chunk.hasPart(slot, 0);
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
        }
      }),
      { numRuns: 500 },
    );
    assert.throws(
      () => Chunk.unpack(7, squeeze(Buffer.alloc(10_000_000)), () => null),
      /A part of the run cannot be read: a block of calls is damaged\./,
    );
  });

  it('of earlier formats, which have no checksum, are read as well', () => {
    const writer = new CallWriter(db);
    for (let number = 1; number <= 300; number++) {
      writer.start(globalId(1, number), 0, 1, 1, number);
      writer.end(globalId(1, number), number + 1, 0, undefined);
    }
    writer.flush();
    const [block] = new CallReader(db).ids();
    const { heads } = db.prepare<[], { heads: Buffer }>('SELECT heads FROM chunks').get()!;
    const everything: Selection = { from: 0, to: 1000, minimum: 0 };
    const read = () => select(new CallReader(db), everything, 'start', { key: -Infinity, id: 0 }, 1000);
    const before = read();
    assert.equal(before.length, 300);
    db.prepare('UPDATE chunks SET heads = ? WHERE id = ?').run(deflateRawSync(inflateSync(heads)), block);
    assert.deepEqual(read(), before);
  });

  it('are made from the rows of an earlier version', () => {
    const file = join(folder, 'old.db');
    const old = new Database(file);
    old.pragma(`application_id = ${APPLICATION_ID}`);
    for (const each of MIGRATIONS.slice(0, 3)) migrate(old, each);
    old.pragma('user_version = 3');
    old.exec(`
      INSERT INTO runs (id, run, session, name, number, started, pid, pid_start, first, last, calls) VALUES (1, 'a', 's', 'n', 1, 1, 4000002, '1', 10, 3000010, 3);
      INSERT INTO calls (id, parent, task, function, depth, start, end, status, args, result, edited, tokens) VALUES
        (4294967297, NULL, 4294967297, 4294967297, 0, 10, 3000010, 1, 5, NULL, 0, 12),
        (4294967298, 4294967297, 4294967297, 4294967298, 1, 20, 30, 0, 6, 7, 1, NULL),
        (4294967299, 4294967297, 4294967297, 4294967298, 1, 40, NULL, NULL, 6, NULL, 0, NULL)
    `);
    old.close();
    const migrated = openForReading(file);
    try {
      assert.equal(migrated.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'calls'").pluck().get(), 0);
      const calls = [...new CallReader(migrated).all()].map(
        ({ id: call, parent, depth, start, end, status, edited, tokens, args, result }) => [
          call % 2 ** 32,
          parent === null ? null : parent % 2 ** 32,
          depth,
          start,
          end,
          status,
          edited,
          tokens,
          args,
          result,
        ],
      );
      assert.deepEqual(calls, [
        [1, null, 0, 10, 3_000_010, 1, 0, 12, 5, null],
        [2, 1, 1, 20, 30, 0, 1, null, 6, 7],
        [3, 1, 1, 40, null, null, 0, null, 6, null],
      ]);
      assert.equal(migrated.prepare('SELECT id FROM long_calls').pluck().get(), 4_294_967_297);
      assert.equal(migrated.prepare('SELECT id FROM failed_calls').pluck().get(), 4_294_967_297);
      assert.equal(migrated.prepare('SELECT sum(calls) FROM function_totals').pluck().get(), 3);
      let counted = 0;
      new TileReader(migrated).each(EVERY_TASK, LEVELS[0], 0, 4e6, (_time, calls) => (counted += calls));
      assert.equal(counted, 3);
    } finally {
      migrated.close();
    }
  });
});

describe('store: how busy a task was', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'toolbreak-test-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is told at every zoom, also when the writer is another one in between', () => {
    const file = join(folder, 'a.db');
    const db = openForWriting(file);
    db.exec(
      "INSERT INTO runs (id, run, session, name, number, started, pid, pid_start, first, last) VALUES (1, 'a', 's', 'n', 1, 1, 4000002, '1', 0, 0)",
    );
    const starts: { start: number; failed: boolean }[] = [];
    let tiles = new Tiles(db);
    for (let index = 0; index < SMALL_TASK * 2; index++) {
      const one = { start: index * 300_000 + ((index * 7919) % 100_000), failed: index % 50 === 0 };
      starts.push(one);
      tiles.count(1, one.start, 1, 0);
      if (one.failed) tiles.count(1, one.start, 0, 1);
      tiles.count(2, one.start, index % 4 === 0 ? 1 : 0, 0);
      if (index % 35 !== 34) continue;
      tiles.flush();
      tiles = new Tiles(db);
      // What a task has that is still small is counted again.
      if (index < SMALL_TASK) for (const each of starts) tiles.recount(1, each.start, each.failed);
    }
    tiles.flush();
    db.close();
    const run = new RunFile(file);
    try {
      const end = SMALL_TASK * 2 * 300_000;
      for (const [from, to, buckets] of [
        [0, end, 100],
        [0, end, 7],
        [end / 4, end / 2, 50],
      ] as const) {
        const { lanes } = density(run, { file, from, to, buckets, tasks: [1, 2] });
        const [lane] = lanes;
        assert.deepEqual([lanes.length, lane?.task], [1, 1]);
        const inside = starts.filter(({ start }) => start >= from && start <= to);
        const sum = (counts: number[]): number => counts.reduce((total, one) => total + one, 0);
        // A tile at the edge lies on one side of it as a whole.
        assert.ok(Math.abs(sum(lane!.calls) - inside.length) <= inside.length / buckets + 8);
        assert.ok(Math.abs(sum(lane!.errors) - inside.filter(({ failed }) => failed).length) <= 2);
      }
    } finally {
      run.close();
    }
  });
});
