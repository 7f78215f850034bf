import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runsFolder } from '../../adapter/common/paths';
import { importFile } from '../../adapter/store/life/import';
import { RunFile } from '../../adapter/store/reader/runFile';
import { unpackCalls } from '../support/run-file';
import { LifePlace } from './life-support';

const NOW = 1_700_000_000_000_000_000n;
const TRACE = '0af7651916cd43dd8448eb211c80319c';

describe('life: files of OTLP JSON', function () {
  this.timeout(60_000);
  let place: LifePlace;
  let count = 0;
  before(() => (place = new LifePlace()));
  after(() => place.remove());

  const span = (number: number): object => ({
    traceId: TRACE,
    spanId: String(number).padStart(16, '0'),
    ...(number > 1 && { parentSpanId: '1'.padStart(16, '0') }),
    name: `span ${number}`,
    startTimeUnixNano: String(NOW + 42_501n + BigInt(number)),
    endTimeUnixNano: String(NOW + 99_999n),
    attributes: [{ key: 'a_b', value: { stringValue: '"span_id": 1' } }],
    events: [{ name: 'word', timeUnixNano: String(NOW + 50_001n) }],
  });
  const document = (...numbers: number[]): object => ({
    resourceSpans: [{ scopeSpans: [{ spans: numbers.map(span) }] }],
  });
  const all = [1, 2, 3];
  const text = JSON.stringify(document(...all));

  interface Seen {
    leftOut: unknown;
    calls: unknown;
    event: unknown;
  }
  async function imported(content: string | Buffer): Promise<Seen> {
    const file = join(place.folder, `${++count}.json`);
    writeFileSync(file, content);
    const said = await importFile(file, runsFolder(join(place.folder, String(count)), place.state));
    const run = new RunFile(said.file);
    try {
      const calls = unpackCalls(run.db)
        .prepare(
          'SELECT f.name, c.parent IS NOT NULL, c.start, c.end FROM calls c JOIN functions f ON f.id = c.function ORDER BY c.id',
        )
        .raw()
        .all();
      const event = run.db.prepare("SELECT time FROM events WHERE name = 'log'").pluck().get();
      return { leftOut: said.leftOut, calls, event };
    } finally {
      run.close();
    }
  }
  const whole: Seen = {
    leftOut: undefined,
    calls: all.map((number) => [`span ${number}`, number > 1 ? 1 : 0, number - 1, 57_497]),
    event: 7499,
  };

  it('a line that is too long is said to be so, and no other reason', async () => {
    const long = text.replace('word', 'x'.repeat(129 * 1024 * 1024));
    await assert.rejects(imported(long), /that can be read: a line is longer than 128 MB\.$/);
  });

  it('a document, lines, a list of documents, and documents that are laid out', async () => {
    const three = all.map((number) => document(number));
    for (const content of [
      text,
      three.map((one) => JSON.stringify(one)).join('\r\n'),
      JSON.stringify(three),
      `\ufeff${JSON.stringify(three, null, 2)}`,
      three.map((one) => JSON.stringify(one, null, 2)).join('\n'),
      three.map((one) => JSON.stringify(one, null, 4)).join(''),
    ])
      assert.deepEqual(await imported(content), whole, content.slice(0, 40));
  });

  it('one that was not ended takes none along of those behind it', async () => {
    const lines = all.map((number) => JSON.stringify(document(number)));
    const cut = JSON.stringify(document(9), null, 2).slice(0, -2);
    for (const content of [`{\n${lines.join('\n')}`, `${cut}\n${lines.join('\n')}`]) {
      const { leftOut, ...others } = await imported(content);
      assert.deepEqual({ ...others, leftOut: undefined }, whole);
      assert.match(JSON.stringify(leftOut), /could not be read/);
    }
  });

  it('packed ones', async () => {
    assert.deepEqual(await imported(gzipSync(text)), whole);
    const lines = all.map((number) => `${JSON.stringify(document(number))}\n`);
    assert.deepEqual(await imported(Buffer.concat(lines.map((line) => gzipSync(line)))), whole);
  });

  it('one that is packed and cut off says so, and what is before is read', async () => {
    const noise = Array.from({ length: 200_000 }, (_, index) => `${(index * 7919) % 99_991}`).join();
    const packed = gzipSync(`${JSON.stringify(document(1))}\n${noise}\n`);
    const { leftOut, calls } = await imported(packed.subarray(0, packed.length - 1000));
    assert.equal((calls as unknown[]).length, 1);
    assert.match(JSON.stringify(leftOut), /the rest of the file could not be unpacked/);
    await assert.rejects(imported(gzipSync(text).subarray(0, 40)), /could not be unpacked\. Perhaps it is cut off\.$/);
  });

  it('refuses one that grows without end', async () => {
    const part = gzipSync(Buffer.alloc(100_000_000, ' '));
    await assert.rejects(
      imported(Buffer.concat(Array<Buffer>(11).fill(part))),
      /which no recording does\. It is not imported/,
    );
  });

  it('names and ids as protobuf itself writes them', async () => {
    const snake = text.replace(
      /"(\w+)":/g,
      (_, name: string) => `"${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}":`,
    );
    assert.ok(snake.includes('start_time_unix_nano'));
    assert.deepEqual(await imported(snake), whole);
    const base64 = text.replace(
      /"((?:[0-9a-f]{16}){1,2})"/g,
      (_, id: string) => `"${Buffer.from(id, 'hex').toString('base64')}"`,
    );
    assert.ok(base64.includes('='));
    assert.deepEqual(await imported(base64), whole);
    assert.deepEqual(await imported(text.replace('scopeSpans', 'instrumentationLibrarySpans')), whole);
    assert.deepEqual(await imported(text.replace('resourceSpans', 'batches')), whole);
  });

  it('times that are numbers, to the nanosecond', async () => {
    const numbers = text.replace(/Nano":"(\d+)"/g, 'Nano": $1');
    assert.ok(numbers.includes('Nano": 17'));
    assert.deepEqual(await imported(numbers), whole);
  });
});
