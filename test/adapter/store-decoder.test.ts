import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { MarshalReader, decodeMarshal } from '../../adapter/store/spool/marshal';
import { parseFrame } from '../../adapter/store/spool/frames';
import { SegmentReader } from '../../adapter/store/spool/segment';
import { Sink, decodeCanonical } from '../../adapter/store/values/canonical';
import {
  Complex,
  DecodeError,
  Dict,
  Float,
  Ref,
  SetValue,
  Tagged,
  Tuple,
  type Value,
} from '../../adapter/store/values/model';
import { SpoolFile, dict, encodeMarshal, frame } from '../support/spool';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';

/** Values of every kind, sets aside: they have no order of their own. */
const anyValue: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }).filter((number) => !Number.isSafeInteger(Number(number))),
    fc.double().map((number) => new Float(number)),
    fc.tuple(fc.double(), fc.double()).map(([real, imaginary]) => new Complex(real, imaginary)),
    fc.string({ unit: 'binary', maxLength: 400 }),
    fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.array(tie('value'), { maxLength: 6 }).map((items) => new Tuple(items)),
    fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 5 }).map((entries) => new Dict(entries)),
    fc
      .tuple(fc.string({ maxLength: 10 }), fc.array(tie('value'), { maxLength: 4 }))
      .map(([tag, parts]) => new Tagged(tag, parts)),
  ),
})).value;

/** Stores parts in a map, and puts them back when asked. */
function roundTrip(bytes: Buffer): { value: Value; stored: Map<string, Buffer> } {
  const stored = new Map<string, Buffer>();
  const sink = new Sink();
  new MarshalReader(bytes).transcode(sink, (part) => {
    const cid = createHash('sha256').update(part).digest();
    stored.set(cid.toString('hex'), Buffer.from(part));
    return cid;
  });
  const whole = (value: Value): Value => {
    if (value instanceof Ref) return whole(decodeCanonical(stored.get(value.cid.toString('hex'))!));
    if (Array.isArray(value)) return value.map(whole);
    if (value instanceof Tuple) return new Tuple(value.items.map(whole));
    if (value instanceof SetValue) return new SetValue(value.items.map(whole), value.frozen);
    if (value instanceof Dict) return new Dict(value.entries.map(([key, item]) => [whole(key), whole(item)]));
    return value instanceof Tagged ? new Tagged(value.tag, value.parts.map(whole)) : value;
  };
  return { value: whole(decodeCanonical(Buffer.from(sink.bytes.subarray(0, sink.length)))), stored };
}

/** Only the decoder's own error may come out. */
function harmless(work: () => void): void {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof DecodeError, `threw ${String(error)}`);
  }
}

describe('store: decoder', () => {
  it('reads back every kind of value', () => {
    fc.assert(fc.property(anyValue, (value) => assert.deepEqual(decodeMarshal(encodeMarshal(value)), value)));
  });

  it('keeps every value through the canonical form', () => {
    fc.assert(fc.property(anyValue, (value) => assert.deepEqual(roundTrip(encodeMarshal(value)).value, value)));
  });

  it('knows the bytes that Python writes', () => {
    // marshal.dumps((None, True, -1, 2**40, 1.5, 1j, "a\ud800é", b"\x00", [1], {"k": {1}}, frozenset(), ...), 2)
    const python =
      '280c0000004e5469ffffffff6c03000000000000000004' +
      '67000000000000f83f790000000000000000000000000000f03f75060000006' +
      '1eda080c3a97301000000005b0100000069010000007b75010000006b3c010000006901000000303e000000002e';
    assert.deepEqual(
      decodeMarshal(Buffer.from(python, 'hex')),
      new Tuple([
        null,
        true,
        -1,
        2 ** 40,
        new Float(1.5),
        new Complex(0, 1),
        'a\ud800é',
        Buffer.from([0]),
        [1],
        dict({ k: new SetValue([1], false) }),
        new SetValue([], true),
        new Tagged('ellipsis', []),
      ]),
    );
  });

  it('shares parts of 256 bytes or more, and gives sets one form', () => {
    const long = 'x'.repeat(300);
    const { stored } = roundTrip(encodeMarshal([long, [long], dict({ a: long })]));
    assert.equal(stored.size, 1);
    const sink = (items: Value[]): string => {
      const into = new Sink();
      new MarshalReader(encodeMarshal(new SetValue(items, false))).transcode(into, () => Buffer.alloc(32));
      return into.bytes.toString('hex', 0, into.length);
    };
    assert.equal(sink([1, 'b', null]), sink([null, 1, 'b']));
  });

  it('survives random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (random) => {
        const bytes = Buffer.from(random);
        harmless(() => decodeMarshal(bytes));
        harmless(() => decodeCanonical(bytes));
        harmless(() => parseFrame(bytes));
        harmless(() => new MarshalReader(bytes).transcode(new Sink(), () => Buffer.alloc(32)));
      }),
      { numRuns: 2000 },
    );
  });

  it('survives changed frames', () => {
    const starts = new Tuple([
      3,
      1,
      0,
      1,
      1,
      1000,
      dict({ order: [1, 'a'.repeat(300), new SetValue([1], true)] }),
      null,
    ]);
    const good = encodeMarshal(starts);
    const change = fc.tuple(fc.nat(good.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const bytes = Buffer.from(good);
        for (const [at, byte] of changes) bytes[at] = byte;
        harmless(() => decodeMarshal(bytes));
        harmless(() => {
          const parsed = parseFrame(bytes);
          if (parsed !== undefined && 'reader' in parsed) parsed.reader.transcode(new Sink(), () => Buffer.alloc(32));
        });
      }),
      { numRuns: 2000 },
    );
  });

  it('refuses hostile lengths and nesting', () => {
    const hostile = (code: string, count: number): Buffer => {
      const bytes = Buffer.alloc(5);
      bytes.write(code, 'latin1');
      bytes.writeInt32LE(count, 1);
      return bytes;
    };
    for (const code of '([<>sul') {
      for (const count of [0x7fffffff, -0x80000000, 1])
        assert.throws(() => decodeMarshal(hostile(code, count)), DecodeError);
    }
    const deep = Buffer.concat(Array.from({ length: 100_000 }, () => hostile('[', 1)));
    assert.throws(() => decodeMarshal(deep), DecodeError);
    assert.throws(() => new MarshalReader(deep).transcode(new Sink(), () => Buffer.alloc(32)), DecodeError);
    // A reference to an earlier object, and code: neither belongs here.
    assert.throws(() => decodeMarshal(Buffer.from('r\0\0\0\0')), DecodeError);
    assert.throws(() => decodeMarshal(Buffer.from('c\0\0\0\0')), DecodeError);
  });
});

describe('store: segments', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'toolbreak-test-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function readAll(path: string, dead: boolean): { frames: number; damaged: number; tail: string } {
    const reader = new SegmentReader(path, 0);
    let frames = 0;
    do reader.read(100, dead, () => frames++);
    while (reader.tail === 'more');
    const { damaged, tail } = reader;
    reader.close();
    return { frames, damaged, tail };
  }

  it('tells "not yet" from "torn"', () => {
    const torn = frame(encodeMarshal(new Tuple([6, 1, 'log', 0, dict({})])));
    torn[12]! ^= 0xff;
    const path = new SpoolFile('10-a').add(2, 1, 'agent', 0).raw(torn).write(folder);
    assert.deepEqual(readAll(path, false), { frames: 2, damaged: 0, tail: 'unsettled' });
    assert.deepEqual(readAll(path, true), { frames: 2, damaged: 1, tail: 'waiting' });
  });

  it('goes on behind one damaged frame of a dead process', () => {
    const torn = frame(encodeMarshal(new Tuple([6, 1, 'log', 0, dict({})])));
    torn[12]! ^= 0xff;
    const path = new SpoolFile('10-a').raw(torn).add(2, 1, 'agent', 0).write(folder);
    assert.deepEqual(readAll(path, true), { frames: 2, damaged: 1, tail: 'waiting' });
  });

  it('loses a frame where any byte is damaged, its header too', () => {
    const spool = new SpoolFile('10-a');
    for (let id = 1; id <= 12; id++) spool.add(2, id, 'agent '.repeat(id), 0);
    const path = spool.write(folder);
    const whole = spool.bytes(0);
    const { frames } = readAll(path, true);
    const lost: number[] = [];
    for (let at = 8; at < whole.length; at++) {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 0xff;
      writeFileSync(path, bytes);
      const found = readAll(path, true);
      // Behind the end of a payload stands what fills its last word.
      if (found.frames === frames) continue;
      assert.equal(found.damaged, 1, `byte ${at}`);
      lost.push(frames - found.frames);
    }
    // A length that became another one may lead to a later frame by chance.
    assert.ok(lost.filter((count) => count === 1).length > lost.length * 0.99 && Math.max(...lost) <= 2, `${lost}`);
  });

  it('knows a closed segment', () => {
    const path = new SpoolFile('10-a').raw(Buffer.from('ffffffff', 'hex')).write(folder);
    assert.deepEqual(readAll(path, false), { frames: 1, damaged: 0, tail: 'closed' });
    assert.deepEqual(readAll(path, true), { frames: 1, damaged: 0, tail: 'closed' });
  });

  it('takes a file that was taken away before anything of it was read for one with nothing in it', () => {
    assert.deepEqual(readAll(join(folder, '10-a-1.spool'), false), { frames: 0, damaged: 0, tail: 'closed' });
    const path = new SpoolFile('10-a').write(folder);
    const begun = new SegmentReader(path, 8);
    rmSync(path);
    assert.throws(() => begun.read(100, false, () => undefined), /cannot be read/);
  });

  it('sees frames that are appended, and a file that grows', () => {
    const spool = new SpoolFile('10-a');
    const path = spool.write(folder, 0);
    const reader = new SegmentReader(path, 0);
    let frames = 0;
    const read = (): void => reader.read(100, false, () => frames++);
    read();
    assert.equal(frames, 1);
    assert.equal(reader.tail, 'waiting');
    spool.add(2, 1, 'x'.repeat(100_000), 0).add(2, 2, 'b', 0);
    const whole = spool.bytes(0);
    writeFileSync(path, whole.subarray(0, whole.length - 60_000));
    read();
    assert.equal(frames, 1);
    writeFileSync(path, whole);
    read();
    read();
    assert.equal(frames, 3);
    reader.close();
  });

  it('tells the same frames whatever is asked for at once, while the file grows', () => {
    const path = join(folder, '10-a-1.spool');
    const step = fc.tuple(fc.nat(1000), fc.boolean(), fc.integer({ min: 1, max: 40 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(fc.nat(900), { maxLength: 60 }), fc.array(step, { maxLength: 12 }), (sizes, steps) => {
        const spool = new SpoolFile('10-a');
        sizes.forEach((size, number) => spool.add(2, number, 'x'.repeat(size), 0));
        const whole = spool.raw(Buffer.from('ffffffff', 'hex')).bytes(64);
        const reader = new SegmentReader(path, 0);
        const told: string[] = [];
        const read = (limit: number): void =>
          reader.read(limit, false, (bytes, from, to) => void told.push(bytes.toString('latin1', from, to)));
        let written = 0;
        for (const [share, cut, limit, release] of steps) {
          written = Math.max(written, Math.floor((whole.length * share) / 1000));
          // Either the file ends there, or nothing is in the rest of it yet.
          const bytes = Buffer.from(whole.subarray(0, cut ? written : whole.length));
          bytes.fill(0, written);
          writeFileSync(path, bytes);
          read(limit);
          if (release) reader.release();
        }
        writeFileSync(path, whole);
        do read(7);
        while (reader.tail === 'more');
        assert.equal(reader.tail, 'closed');
        reader.close();
        const expected: string[] = [];
        const other = new SegmentReader(path, 0);
        do other.read(100_000, false, (bytes, from, to) => void expected.push(bytes.toString('latin1', from, to)));
        while (other.tail === 'more');
        other.close();
        assert.equal(expected.length, sizes.length + 1);
        assert.deepEqual(told, expected);
      }),
      { numRuns: 200 },
    );
  });

  it('survives random files', () => {
    const path = join(folder, '1-a-1.spool');
    const good = new SpoolFile('1-a').add(2, 1, 'agent', 0).add(3, 1, 0, 1, 1, 5, dict({}), null).bytes(64);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 6 }),
        fc.nat(good.length),
        fc.boolean(),
        (changes, length, dead) => {
          const bytes = Buffer.from(good);
          for (const [at, byte] of changes) bytes[at] = byte;
          writeFileSync(path, bytes.subarray(0, length));
          readAll(path, dead);
        },
      ),
      { numRuns: 500 },
    );
  });
});
