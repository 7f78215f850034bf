import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { SPOOL_MAGIC } from '../../protocol/spool';
import { MarshalReader } from '../../adapter/store/spool/marshal';
import { Sink } from '../../adapter/store/values/canonical';
import { Complex, Float, SetValue, Tagged, Tuple, type Value } from '../../adapter/store/values/model';
import { SpoolFile, dict, encodeMarshal, frame } from '../support/spool';

export const CORPUS = join(__dirname, 'corpus');

/** The name of each kept file in its folder, and what it holds. The name says what is odd about it. */
export type Inputs = Record<string, Buffer>;

const SECRETLESS = 'a text that is long enough to be a part of its own, and said again and again; '.repeat(5);

// ---------------------------------------------------------------- values

const EVERY_KIND: Value = [
  null,
  true,
  -1,
  2 ** 52,
  -(2n ** 90n),
  new Float(-0.0),
  new Float(NaN),
  new Complex(1, -Infinity),
  'é\ud800 \u0000 <b>',
  Buffer.from([0, 255]),
  new Tuple([new Tuple([]), new SetValue([1, 'a'], false), new SetValue([], true)]),
  dict({ order_id: 7, 'a key': [SECRETLESS, SECRETLESS], empty: dict({}) }),
  new Tagged('object', ['shop.Order', dict({ id: 7, items: [dict({ price: new Float(1.5) })] }), null]),
  new Tagged('cut', ['list', [1, 2], 100, 'size']),
  new Tagged('cycle', [3]),
  new Tagged('error', ['ValueError', 'no such order', [new Tuple(['app.py', 3, 'lookup'])], null, dict({})]),
  new Tagged('enum', ['shop.State', 'SENT', 1]),
  new Tagged('time', ['datetime.datetime', '2026-01-01T00:00:00']),
  new Tagged('array', ['numpy.ndarray', new Tuple([2, 2]), 'int64', [1, 2, 3, 4]]),
];

/** As the store keeps it; parts of 256 bytes and more are references. */
function canonical(value: Value): Buffer {
  const sink = new Sink();
  new MarshalReader(encodeMarshal(value)).transcode(sink, (part) => createHash('sha256').update(part).digest());
  return Buffer.from(sink.bytes.subarray(0, sink.length));
}

const repeated = (bytes: number[], times: number): Buffer =>
  Buffer.concat(Array<Buffer>(times).fill(Buffer.from(bytes)));

export const values: Inputs = {
  'every-kind': canonical(EVERY_KIND),
  'text-of-2^54-bytes': Buffer.from([0x06, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f]),
  'number-without-end': Buffer.concat([Buffer.from([0x03]), repeated([0xff], 4000)]),
  'list-of-more-than-there-is': Buffer.from([0x08, 0xff, 0xff, 0xff, 0xff, 0x0f]),
  'lists-in-lists': repeated([0x08, 0x01], 4000),
  'dicts-as-keys-of-dicts': repeated([0x0a], 4000),
  'tags-as-tags': repeated([0x0d, 0x02], 4000),
  'dict-without-end': Buffer.concat([Buffer.from([0x0a]), repeated([0x00], 4000)]),
  'tag-of-no-parts': Buffer.from([0x0d, 0x00, 0x06, 0x01, 0x61]),
  'reference-cut-short': Buffer.from([0x0e, 1, 2, 3]),
  'minus-zero-as-bigint': Buffer.from([0x0f, 0x01, 0x00]),
  nothing: Buffer.alloc(0),
};

// ---------------------------------------------------------------- frames

export const frames: Inputs = {
  'start-of-every-kind': encodeMarshal(new Tuple([3, 1, 0, 1, 1, 1000, dict({ every: EVERY_KIND }), null])),
  'end-of-a-model': encodeMarshal(new Tuple([4, 1, 2000, 0, 'x', dict({ 'gen_ai.usage.input_tokens': 2 ** 40 })])),
  'state-that-keeps': encodeMarshal(
    new Tuple([5, 1, 1500, 'before', dict({ big: new Tagged('keep', [1, [SECRETLESS]]) })]),
  ),
  'state-that-keeps-in-itself': encodeMarshal(
    new Tuple([5, 1, 1500, 'after', new Tagged('keep', [1, new Tagged('same', [1])])]),
  ),
  'reference-to-nothing': encodeMarshal(new Tuple([5, 1, 1500, 'after', new Tagged('same', [77])])),
  'kept-under-a-text': encodeMarshal(new Tuple([5, 1, 1500, 'after', new Tagged('keep', ['1', 2])])),
  'event-with-markup': encodeMarshal(
    new Tuple([6, 1500, '<script>', 1, dict({ text: '<img src=x onerror=alert(1)>', hold: -1 })]),
  ),
  'time-beyond-64-bits': encodeMarshal(new Tuple([4, 1, 2n ** 64n, 0, null, null])),
  'time-of-63-bits': encodeMarshal(new Tuple([3, 1, 0, 1, 1, 2n ** 63n - 1n, dict({}), null])),
  'time-before-time': encodeMarshal(new Tuple([4, 1, -(2n ** 63n), 0, null, null])),
  'id-below-zero': encodeMarshal(new Tuple([3, -1, 0, 1, 1, 1000, dict({}), null])),
  'status-of-no-kind': encodeMarshal(new Tuple([4, 1, 2000, -7, null, null])),
  'kind-of-later': encodeMarshal(new Tuple([99, 'whatever'])),
  'kind-that-is-text': encodeMarshal(new Tuple(['3', 1])),
  'dict-without-its-end': encodeMarshal(new Tuple([6, 1500, 'log', 0, dict({ text: 'a' })])).subarray(0, -1),
  'tuples-in-tuples': Buffer.concat(Array<Buffer>(1000).fill(Buffer.from([0x28, 1, 0, 0, 0]))),
  'tuple-of-2^31': Buffer.from([0x28, 0xff, 0xff, 0xff, 0x7f]),
};

// ---------------------------------------------------------------- spool files

const KEY = '10-a';
const AGENT = 'agent';

/** A workflow with two nodes, tools, states that refer to earlier ones, a log line; the last call runs. */
export function agent(): SpoolFile {
  const spool = new SpoolFile(KEY)
    .add(1, 1, 'workflow', AGENT, AGENT, 'app', '/app/app.py', 10, 30)
    .add(1, 2, 'tool', 'lookup_order', 'Shop.lookup_order', 'app', '/app/app.py', 1, 4)
    .add(2, 1, 'MainThread', 0)
    .add(3, 1, 0, 1, 1, 2000, dict({ question: 'where is my order?' }), null);
  for (let call = 2; call < 12; call++) {
    const kept = call === 2 ? new Tagged('keep', [1, [SECRETLESS, call]]) : new Tagged('same', [1]);
    spool
      .add(5, call, call * 1000 + 50, 'before', dict({ orders: kept, turn: call }))
      .add(3, call, 1, 2, 1, call * 1000 + 100, dict({ order_id: call, region: 'eu', note: SECRETLESS }), null)
      .add(6, call * 1000 + 200, 'log', call, dict({ text: `order ${call}` }))
      .add(4, call, call * 1000 + 900, call % 5 === 0 ? 1 : 0, dict({ order: call, text: SECRETLESS }), null);
  }
  return spool
    .add(2, 2, 'worker', 1)
    .add(7, 2, 'a better name')
    .add(3, 12, 1, 2, 2, 20_000, dict({ order_id: 12 }), null);
}

function spoolWith(odd: (spool: SpoolFile) => SpoolFile): Buffer {
  return odd(agent()).bytes(64);
}

const header = (length: number, checksum: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(length, 0);
  bytes.writeUInt32LE(checksum, 4);
  return bytes;
};

/** Each begins with all of `agent`, and then goes on oddly, where its name does not say otherwise. */
export const spools: Inputs = {
  good: agent().bytes(64),
  'empty-file': Buffer.alloc(0),
  'magic-alone': Buffer.from(SPOOL_MAGIC),
  'magic-of-another': Buffer.from('TBSPOOL9'.padEnd(64, '\0')),
  'zeros-alone': Buffer.alloc(4096),
  'no-segment-frame': Buffer.concat([
    Buffer.from(SPOOL_MAGIC),
    frame(frames['start-of-every-kind']!),
    Buffer.alloc(64),
  ]),
  closed: spoolWith((spool) => spool.raw(Buffer.from('ffffffff', 'hex'))),
  'frames-after-the-close': spoolWith((spool) =>
    spool.raw(Buffer.from('ffffffff00000000', 'hex')).add(2, 9, 'late', 0),
  ),
  'length-of-all-there-is': spoolWith((spool) => spool.raw(header(0xfffffffe, 0))),
  'length-beyond-the-end': spoolWith((spool) => spool.raw(header(4096, 0))),
  'length-of-one': spoolWith((spool) => spool.raw(header(1, 0)).raw(Buffer.alloc(4))),
  'cut-in-a-frame': spoolWith((spool) => spool.raw(frame(frames['start-of-every-kind']!).subarray(0, 40))),
  'later-version': spoolWith((spool) => spool.add(0, 3, KEY, 10, 1, 1, 'x', 1n, 1, dict({}))),
  'segment-of-another-process': spoolWith((spool) =>
    spool.add(0, 2, '../../x', -5, 2 ** 40, -1, '\u0000', -1n, 5, null),
  ),
  'start-of-a-call-that-ended': spoolWith((spool) => spool.add(3, 2, 2, 2, 1, 9000, dict({}), null)),
  'calls-that-are-each-others-parent': spoolWith((spool) =>
    spool.add(3, 20, 21, 2, 1, 30_000, dict({}), null).add(3, 21, 20, 2, 1, 30_001, dict({}), null),
  ),
  'tasks-that-are-each-others-parent': spoolWith((spool) => spool.add(2, 30, 'a', 31).add(2, 31, 'b', 30)),
  'call-of-nothing-on-nothing': spoolWith((spool) => spool.add(3, 40, 4_000_000_000, 999, 999, 5000, null, null)),
  'end-before-the-start': spoolWith((spool) =>
    spool.add(3, 41, 1, 2, 1, 50_000, dict({}), null).add(4, 41, 10, 0, 1, null),
  ),
  'largest-id': spoolWith((spool) => spool.add(3, 2 ** 32 - 1, 1, 2, 1, 50_000, dict({}), null)),
  'names-with-markup': spoolWith((spool) =>
    spool
      .add(1, 50, '<b>', '<img src=x onerror=alert(1)>', '\u001b[31m\r\n\u0000', '', '../../../etc/passwd', -5, -9)
      .add(3, 50, 1, 50, 1, 60_000, dict({ __proto__: 1, constructor: '</script>' }), dict({}))
      .add(4, 50, 60_001, 0, '<svg onload=alert(1)>', dict({})),
  ),
  ...Object.fromEntries(
    Object.entries(frames).map(([name, payload]) => [`frame-${name}`, spoolWith((spool) => spool.raw(frame(payload)))]),
  ),
};

// ---------------------------------------------------------------- bundles

function bundle(given: unknown, packed: Buffer, length?: number): Buffer {
  const text = Buffer.from(typeof given === 'string' ? given : JSON.stringify(given));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(length ?? text.length);
  return Buffer.concat([Buffer.from('TBRUN\r\n\n', 'latin1'), size, text, packed]);
}

const NOTHING = { version: 1, toolbreak: '0.1.0', run: 'r', format: 1, bytes: 7, sha256: '0'.repeat(64) };
const inside = (content: Buffer): object => ({
  ...NOTHING,
  bytes: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
});
const packed = (content: Buffer): Buffer => {
  const bytes = gzipSync(content);
  // The system that packed it is noted there; the file is to be the same on all of them.
  bytes[9] = 255;
  return bytes;
};
const SQLITE_WITHOUT_MORE = Buffer.concat([Buffer.from('SQLite format 3\0', 'latin1'), Buffer.alloc(4080)]);

/** None of them is a run. */
export const bundles: Inputs = {
  'mark-alone': Buffer.from('TBRUN\r\n\n', 'latin1'),
  'mark-after-a-transfer-as-text': Buffer.from('TBRUN\n\n\0\0\0\x02{}', 'latin1'),
  'header-longer-than-the-file': bundle('{}', Buffer.alloc(0), 4000),
  'header-of-4-gigabytes': bundle('{}', Buffer.alloc(0), 0xffffffff),
  'header-of-nothing': bundle('', packed(Buffer.from('x'))),
  'header-that-is-a-list': bundle('[]', packed(Buffer.from('x'))),
  'header-with-a-prototype': bundle('{"__proto__":{"version":1},"version":1}', packed(Buffer.from('x'))),
  'header-of-later': bundle({ ...NOTHING, version: 2 }, packed(Buffer.from('x'))),
  'size-below-zero': bundle({ ...NOTHING, bytes: -1 }, packed(Buffer.from('x'))),
  'size-of-petabytes': bundle({ ...NOTHING, bytes: 2 ** 52 }, packed(Buffer.from('x'))),
  'more-than-it-says': bundle({ ...NOTHING, bytes: 1 }, packed(Buffer.alloc(100_000))),
  'less-than-it-says': bundle({ ...NOTHING, bytes: 100_000 }, packed(Buffer.alloc(1))),
  'not-packed': bundle(NOTHING, Buffer.from('hello')),
  'nothing-packed': bundle(NOTHING, Buffer.alloc(0)),
  'no-database': bundle(inside(Buffer.from('hello, hello')), packed(Buffer.from('hello, hello'))),
  'empty-database': bundle(inside(SQLITE_WITHOUT_MORE), packed(SQLITE_WITHOUT_MORE)),
  'run-file-without-pages': SQLITE_WITHOUT_MORE,
  'run-file-cut-in-its-mark': Buffer.from('SQLite form', 'latin1'),
};

// ---------------------------------------------------------------- spans

const NANO = 1_700_000_000_000_000_000n;
const span = (number: number, more: object = {}): object => ({
  traceId: 'a'.repeat(32),
  spanId: number.toString(16).padStart(16, '0'),
  name: `lookup ${number}`,
  startTimeUnixNano: String(NANO + BigInt(number) * 1000n),
  endTimeUnixNano: String(NANO + BigInt(number) * 1000n + 500n),
  ...(number > 1 && { parentSpanId: '1'.padStart(16, '0') }),
  ...more,
});
const attribute = (key: string, value: object): object => ({ key, value });
const document = (...list: object[]): object => ({
  resourceSpans: [
    {
      resource: { attributes: [attribute('service.name', { stringValue: 'shop' })] },
      scopeSpans: [{ scope: { name: 'scope' }, spans: list }],
    },
  ],
});
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const nested = (depth: number, open: string, close: string): string => open.repeat(depth) + close.repeat(depth);

export const GOOD_SPANS = document(
  span(1, { attributes: [attribute('gen_ai.operation.name', { stringValue: 'invoke_agent' })] }),
  span(2, {
    attributes: [
      attribute('gen_ai.operation.name', { stringValue: 'chat' }),
      attribute('gen_ai.usage.input_tokens', { intValue: '12' }),
      attribute('gen_ai.input.messages', { stringValue: '[{"role":"user","parts":[]}]' }),
      attribute('list', { arrayValue: { values: [{ doubleValue: 0.5 }, { boolValue: true }] } }),
      attribute('deep', { kvlistValue: { values: [attribute('order_id', { intValue: 7 })] } }),
      attribute('bytes', { bytesValue: 'AAEC' }),
    ],
    status: { code: 2, message: 'no such order' },
    events: [
      {
        timeUnixNano: String(NANO + 2100n),
        name: 'exception',
        attributes: [
          attribute('exception.type', { stringValue: 'ValueError' }),
          attribute('exception.message', { stringValue: 'no' }),
          attribute('exception.stacktrace', { stringValue: 'Traceback\n  File "a.py", line 3, in f\n' }),
        ],
      },
    ],
  }),
  span(3, { attributes: [attribute('thread.id', { intValue: '5' }), attribute('code.line.number', { intValue: 3 })] }),
);

export const spans: Inputs = {
  good: json(GOOD_SPANS),
  'good-in-lines': Buffer.from(`${[1, 2, 3].map((one) => JSON.stringify(document(span(one)))).join('\n')}\n`),
  'no-spans': json({ resourceSpans: [] }),
  'no-object': Buffer.from('{"resourceSpans":'),
  'lines-of-which-one-is-broken': Buffer.from(`${JSON.stringify(document(span(1)))}\n{"resourceSpans":[}\n`),
  'own-parent': json(document(span(1, { parentSpanId: '1'.padStart(16, '0') }), span(2))),
  'parents-in-a-circle': json(
    document(...[1, 2, 3].map((one) => span(one, { parentSpanId: String((one % 3) + 1).padStart(16, '0') }))),
  ),
  'parent-that-is-missing': json(document(span(1), span(2, { parentSpanId: 'f'.repeat(16) }))),
  'one-id-twice': json(document(span(1), span(1))),
  'times-beyond-64-bits': json(
    document(span(1, { startTimeUnixNano: '9'.repeat(30) }), span(2, { endTimeUnixNano: -1 })),
  ),
  'times-at-both-ends-of-64-bits': json(
    document(span(1, { startTimeUnixNano: '1' }), span(2, { startTimeUnixNano: '9223372036854775807' })),
  ),
  'end-before-the-start': json(document(span(1, { endTimeUnixNano: '1' }))),
  'names-with-markup': json(document(span(1, { name: '<img src=x onerror=alert(1)>\u001b[2J\u0000' }))),
  'names-that-are-no-texts': json(document(span(1, { name: { toString: 'x' } }), span(2, { kind: [], status: 7 }))),
  'keys-of-prototypes': Buffer.from(
    JSON.stringify(document(span(1, { attributes: [attribute('__proto__', { stringValue: 'x' })] }))).replace(
      '"name"',
      '"__proto__":{"spanId":1},"name"',
    ),
  ),
  'attributes-without-values': json(
    document(span(1, { attributes: [null, 7, {}, { key: 1 }, { key: 'a', value: null }] })),
  ),
  'lists-in-lists': Buffer.from(
    JSON.stringify(document(span(1, { attributes: 'HERE' }))).replace('"HERE"', nested(20_000, '[', ']')),
  ),
  'values-in-values': json(
    document(
      span(1, {
        attributes: [
          attribute(
            'deep',
            Array.from({ length: 500 }).reduce<object>((value) => ({ arrayValue: { values: [value] } }), {
              stringValue: 'bottom',
            }),
          ),
        ],
      }),
    ),
  ),
  'byte-order-mark': Buffer.concat([Buffer.from('\ufeff'), json(document(span(1)))]),
};

export const ALL: Record<string, Inputs> = { values, frames, spools, bundles, spans };

if (require.main === module) {
  rmSync(CORPUS, { recursive: true, force: true });
  for (const [folder, inputs] of Object.entries(ALL)) {
    mkdirSync(join(CORPUS, folder), { recursive: true });
    for (const [name, bytes] of Object.entries(inputs)) writeFileSync(join(CORPUS, folder, name), bytes);
  }
}
