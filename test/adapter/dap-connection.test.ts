import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import fc from 'fast-check';
import { Connection } from '../../adapter/dap/connection';
import { frame, FrameReader, LARGEST_MESSAGE, type Framed } from '../../adapter/common/framing';
import { Stage } from './dap-support';

function read(bytes: Buffer, cuts: readonly number[] = []): Framed[] {
  const reader = new FrameReader();
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return ends.flatMap((end, index) => reader.push(bytes.subarray(index === 0 ? 0 : ends[index - 1], end)));
}

describe('DAP framing', () => {
  it('reads back what it writes, however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.array(fc.nat()), (messages, cuts) => {
        const framed = read(Buffer.concat(messages.map((message) => frame(message))), cuts);
        assert.deepEqual(
          framed,
          messages.map((message) => ({ message: JSON.parse(JSON.stringify(message)) as unknown })),
        );
      }),
    );
  });

  it('never throws, whatever comes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.array(fc.nat()),
        (bytes, cuts) => void read(Buffer.from(bytes), cuts),
      ),
    );
  });

  it('goes on after a bad header, bad JSON and a refused length', () => {
    const good = frame({ seq: 1 });
    const huge = Buffer.from(`Content-Length: ${LARGEST_MESSAGE + 1}\r\n\r\n`);
    const cases: [Buffer, RegExp][] = [
      [Buffer.from('Nonsense: 5\r\n\r\n'), /bad header/],
      [Buffer.from('Content-Length: 5\r\n\r\n{bad}'), /not JSON/],
      [Buffer.from('Content-Length: 0\r\n\r\n'), /not JSON/],
      [Buffer.from('x'.repeat(9000)), /without a header/],
    ];
    for (const [noise, sentence] of cases) {
      const reader = new FrameReader();
      const framed = [...reader.push(noise), ...reader.push(good)];
      assert.match((framed[0] as { problem: string }).problem, sentence);
      assert.deepEqual(framed.at(-1), { message: { seq: 1 } });
    }
    const reader = new FrameReader();
    assert.match((reader.push(huge)[0] as { problem: string }).problem, /was refused/);
    const chunk = Buffer.alloc(1024 * 1024);
    for (let i = 0; i < 64; i++) {
      assert.deepEqual(reader.push(chunk), []);
    }
    assert.deepEqual(reader.push(Buffer.concat([Buffer.alloc(1), good])), [{ message: { seq: 1 } }]);
  });
});

describe('DAP connection', () => {
  it('answers every request of a hostile client and lives on', async () => {
    const stage = new Stage();
    const [input, output] = [new PassThrough(), new PassThrough()];
    stage.session.accept(input, output);
    const answers: { success: boolean; command: string; message?: string }[] = [];
    const reader = new FrameReader();
    const wanted = 7;
    const all = new Promise<void>((resolve) => {
      output.on('data', (chunk: Buffer) => {
        for (const framed of reader.push(chunk)) {
          answers.push((framed as { message: (typeof answers)[number] }).message);
        }
        if (answers.length >= wanted) {
          resolve();
        }
      });
    });
    input.write('Content-Length: 3\r\n\r\n{a}');
    input.write(frame(null));
    input.write(frame({ seq: 'one', type: 'request', command: 'threads' }));
    input.write(frame({ seq: 2, type: 'request', command: 'threads' }));
    input.write(frame({ seq: 3, type: 'request', command: 'initialize', arguments: 'nothing' }));
    input.write(frame({ seq: 4, type: 'request', command: 'setBreakpoints', arguments: { source: null } }));
    input.write(frame({ seq: 5, type: 'response', request_seq: 99, success: true }));
    input.write(frame({ seq: 6, type: 'request', command: 'variables' }));
    await all;
    assert.equal(answers.filter((answer) => answer.success).length, 1);
    assert.ok(answers.every((answer) => answer.success || (answer.message ?? '').length > 0));
    assert.match(answers.find(({ command }) => command === 'variables')?.message ?? '', /needs "variablesReference"/);
    assert.deepEqual(stage.problems, []);
    input.end();
    await stage.session.done;
    await stage.end();
  });

  it('disconnects a client that does not read', async () => {
    const output = new Writable({ write: () => undefined });
    let closed = 0;
    const connection = new Connection(new PassThrough(), output, {
      handle: () => Promise.resolve(),
      closed: () => closed++,
      log: { info: () => undefined, error: () => undefined },
    });
    const gone = new Promise<void>((resolve) => output.once('close', resolve));
    const text = 'x'.repeat(8 * 1024 * 1024);
    for (let sent = 0; sent < 9; sent++) connection.event('output', { text });
    await gone;
    assert.equal(closed, 1);
  });

  it('does not cancel what releases or changes something', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const signals: AbortSignal[] = [];
    let done!: () => void;
    const connection = new Connection(input, output, {
      handle: (_command, _args, signal) => {
        signals.push(signal);
        return new Promise<void>((resolve) => (done = resolve));
      },
      closed: () => undefined,
      log: { info: () => undefined, error: () => undefined },
    });
    input.write(frame({ seq: 1, type: 'request', command: 'continue', arguments: { threadId: 1 } }));
    input.write(frame({ seq: 2, type: 'request', command: 'cancel', arguments: { requestId: 1 } }));
    await once(output, 'data');
    assert.equal(signals[0]?.aborted, false);
    done();
    const [answer] = new FrameReader().push(((await once(output, 'data')) as [Buffer])[0]);
    assert.equal((answer as { message: { success: boolean } }).message.success, true);
    connection.close();
  });
});
