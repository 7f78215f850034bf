import assert from 'node:assert/strict';
import { duplexPair, PassThrough, type Duplex } from 'node:stream';
import { frame, FrameReader } from '../../adapter/common/framing';
import { Front, type FrontOptions } from '../../adapter/doors/front';
import { DapClient } from '../support/dap-client';
import { until } from './target-support';

/** What stands between a client and a session; the session elsewhere is played by the test. */
describe('Front', () => {
  const fronts: Front[] = [];
  afterEach(() => fronts.splice(0).forEach((front) => front.close('the test ended')));

  function open(options: Partial<FrontOptions>): { client: DapClient; input: PassThrough; output: PassThrough } {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const front = new Front(input, output, {
      here: () => assert.fail('nobody is served here'),
      elsewhere: () => Promise.reject(new Error('nobody is there')),
      log: { info: () => undefined },
      ...options,
    });
    fronts.push(front);
    return { client: new DapClient(output, input), input, output };
  }

  /** A session that answers `initialize` and `attach`, its bytes cut where they hurt. */
  function session(cut: number): { stream: Duplex; asked: Record<string, unknown>[] } {
    const [ours, theirs] = duplexPair();
    const asked: Record<string, unknown>[] = [];
    const reader = new FrameReader();
    theirs.on('data', (chunk: Buffer) => {
      for (const framed of reader.push(chunk)) {
        if (!('message' in framed)) continue;
        const request = framed.message as { seq: number; command: string; arguments?: Record<string, unknown> };
        asked.push(request.arguments ?? {});
        if (request.command !== 'attach') continue;
        const answer = (seq: number, command: string) =>
          frame({ seq: 0, type: 'response', request_seq: seq, command, success: true });
        const first = answer(request.seq - 1, 'initialize');
        const rest = answer(request.seq, 'attach');
        theirs.write(Buffer.concat([first, rest.subarray(0, cut)]));
        setImmediate(() => theirs.write(rest.subarray(cut)));
      }
    });
    return { stream: ours, asked };
  }

  for (const cut of [0, 5, 40]) {
    it(`passes a message on whole that was cut after ${cut} bytes`, async () => {
      const { stream, asked } = session(cut);
      const { client } = open({ elsewhere: () => Promise.resolve({ stream, token: 'theirs' }) });
      await client.request('initialize', { adapterID: 'toolbreak' });
      await client.request('attach', { session: 'brave-otter-1' } as never);
      assert.deepEqual(asked.at(-1), { token: 'theirs' });
    });
  }

  it('leaves no connection behind when the client goes while the session is reached', async () => {
    const { stream } = session(0);
    let reached!: () => void;
    const { client, input } = open({
      elsewhere: () => new Promise((resolve) => (reached = () => resolve({ stream }))),
    });
    await client.request('initialize', { adapterID: 'toolbreak' });
    const attach = client.send('attach', { session: 'brave-otter-1' }).answer;
    await until(() => reached !== undefined, 'the question for the session');
    input.end();
    await assert.rejects(attach);
    reached();
    await until(() => stream.destroyed, 'the end of the connection');
  });

  it('takes no large message from a client that has not shown the token', async () => {
    const { input, output } = open({ token: 'secret' });
    input.write('Content-Length: 60000000\r\n\r\n');
    output.resume();
    await until(() => output.readableEnded, 'the end of the connection');
  });
});
