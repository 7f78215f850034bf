import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runsFolder } from '../../adapter/common/paths';
import { plainJson } from '../../adapter/store/formats/plain';
import { importFile, type Imported } from '../../adapter/store/life/import';
import { eventText } from '../../adapter/store/reader/eventText';
import { RunFile } from '../../adapter/store/reader/runFile';
import { unpackCalls } from '../support/run-file';
import { LifePlace } from './life-support';

const NOW = 1_700_000_000_000_000_000n;
const DAY = 86_400_000_000_000n;

describe('life: what an import of OTLP JSON leaves out', () => {
  let place: LifePlace;
  before(() => (place = new LifePlace()));
  after(() => place.remove());

  const text = (stringValue: string): object => ({ stringValue });
  const attributes = (values: Record<string, object>): object => ({
    attributes: Object.entries(values).map(([key, value]) => ({ key, value })),
  });
  const span = (name: string, start: bigint, more: object = {}): object => ({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: Buffer.from(name.padEnd(8)).toString('hex').slice(0, 16),
    name,
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + 1000n),
    ...more,
  });
  const document = (...spans: object[]): string => JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
  const made = (content: string): string => {
    const file = join(place.folder, 'spans.json');
    writeFileSync(file, content);
    return file;
  };
  async function imported<T>(content: string, look: (file: RunFile) => T): Promise<{ said: Imported; seen: T }> {
    const said = await importFile(made(content), runsFolder(place.project, place.state));
    const file = new RunFile(said.file);
    try {
      return { said, seen: look(file) };
    } finally {
      file.close();
      rmSync(said.file);
    }
  }
  const names = (file: RunFile): string[] =>
    unpackCalls(file.db)
      .prepare('SELECT f.name FROM calls c JOIN functions f ON f.id = c.function ORDER BY c.start')
      .pluck()
      .all() as string[];
  const texts = (file: RunFile): string[] =>
    (
      file.db.prepare('SELECT name, value, data FROM events ORDER BY time, id').all() as {
        name: string;
        value: number | null;
        data: string | null;
      }[]
    ).map(({ name, value, data }) => eventText(file, name, value, data));

  it('keeps the spans of one time where the clock of another was wrong', async () => {
    const real = Array.from({ length: 20 }, (_, index) => span(`real${index}`, NOW + BigInt(index) * 1000n));
    for (const [wrong, why] of [
      [[span('early', 1n)], 'a span lies more than 52 days from most of the others'],
      [[span('late', NOW + 90n * DAY)], 'a span lies more than 52 days from most of the others'],
      [
        [span('january', NOW - 243n * DAY), span('february', NOW - 213n * DAY)],
        'a span lies more than 52 days from most of the others',
      ],
      [
        [span('endless', NOW, { endTimeUnixNano: String(2n ** 61n) })],
        'a span ends more than 52 days behind the first',
      ],
    ] as const) {
      const { said, seen } = await imported(document(...wrong, ...real), (file) => ({
        names: names(file),
        length: file.length(),
        running: unpackCalls(file.db)
          .prepare('SELECT count(*) FROM calls WHERE end IS NULL OR status <> 0')
          .pluck()
          .get(),
      }));
      assert.deepEqual(said.leftOut, [{ why, count: wrong.length }]);
      assert.equal(seen.names.filter((name) => name.startsWith('real')).length, 20);
      assert.deepEqual([seen.length, seen.running], [20_000, 0]);
    }
  });

  it('says in a sentence and in JSON what was not as it should be', async () => {
    const far = { timeUnixNano: String(NOW + 60n * DAY), name: 'far' };
    const spans = [
      span('one', NOW, { events: [far, { timeUnixNano: '-5', name: 'x' }, { timeUnixNano: String(NOW) }] }),
      span('one', NOW),
      span('two', NOW, { startTimeUnixNano: '18446744073709551615' }),
      span('three', NOW, { endTimeUnixNano: '99999999999999999999' }),
      span('four', NOW, { endTimeUnixNano: '5' }),
      span(
        'five',
        NOW,
        attributes(Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`a${at}`, text('')]))),
      ),
    ];
    const content = `${document(...spans)}\nxx\n${document(span('six', NOW), span('one', NOW))}\n`;
    const [json] = await place.json<Imported[]>('import', made(content));
    const expected = {
      'two spans have one id': 2,
      'a span has no start': 1,
      'a span has no end': 1,
      'a span ends before it begins': 1,
      'a line could not be read': 1,
      'an event of a span has a time that cannot be': 1,
      'an event of a span has no name': 1,
      'an event lies too far from its run': 1,
      'a span has more than 10,000 attributes': 1,
    };
    assert.deepEqual(Object.fromEntries(json!.leftOut!.map(({ why, count }) => [why, count])), expected);
    rmSync(json!.file);
    const { stdout } = await place.say('import', made(content));
    const sentence = /Imported run \d+ \(service, 5 calls\)\. Not all of it could be taken: (.*)\.$/.exec(
      stdout.trim(),
    );
    const parts = sentence![1]!.split('; ');
    assert.equal(parts.length, Object.keys(expected).length);
    assert.ok(parts.includes('two spans have one id (2 times)') && parts.includes('a line could not be read'), stdout);
  });

  it('says nothing of what is whole', async () => {
    const { said } = await imported(document(span('one', NOW)), names);
    assert.deepEqual(Object.keys(said).sort(), ['calls', 'file', 'name', 'number', 'run']);
  });

  it('keeps every exception: the last one ends a span that failed, all others are events', async () => {
    const exceptions = [0, 1, 2].map((number) => ({
      ...(number === 0 ? {} : { timeUnixNano: String(NOW + BigInt(number)) }),
      name: 'exception',
      ...attributes({ 'exception.type': text(`T${number}`), 'exception.message': text(`why ${number}`) }),
    }));
    const events = [...exceptions, { timeUnixNano: '0', name: 'zero' }, { name: 'notime' }];
    const fine = await imported(document(span('fine', NOW, { status: { code: 1 }, events })), texts);
    assert.deepEqual(fine.seen.sort(), [
      'Log: exception T0: why 0',
      'Log: exception T1: why 1',
      'Log: exception T2: why 2',
      'Log: notime',
      'Log: zero',
    ]);
    assert.equal(fine.said.leftOut, undefined);
    const failed = await imported(document(span('failed', NOW, { status: { code: 2 }, events })), (file) => {
      const error = unpackCalls(file.db).prepare('SELECT error FROM calls').pluck().get() as number;
      return { texts: texts(file), error: plainJson(file.values.root(error), file.values, 1000).json };
    });
    assert.deepEqual(failed.seen.error, { type: 'T2', message: 'why 2' });
    assert.deepEqual(failed.seen.texts.sort(), [
      'Log: exception T0: why 0',
      'Log: exception T1: why 1',
      'Log: notime',
      'Log: zero',
    ]);
  });
});
