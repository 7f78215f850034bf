import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { endOf } from '../../adapter/targets/python/base';
import { Connection } from '../../adapter/targets/python/connection';
import { ControlServer } from '../../adapter/targets/python/server';
import { Place, configuration, python } from './target-support';

const PEER = `
import json, socket, sys
address, token, gone = sys.argv[1:]
host, _, port = address.rpartition(":")
if port.isdigit() and "/" not in address:
    wire = socket.create_connection((host, int(port)))
else:
    wire = socket.socket(socket.AF_UNIX)
    wire.connect(address)
def say(**message):
    wire.sendall(json.dumps(message).encode() + b"\\n")
say(event="hello", token=token, version=1, pid=1, parentPid=1, runtime="0", languageVersion="3", process="p", name="n", cwd="/", executable="x")
wire.recv(65536)
`;
const ENDS = `
say(event="output", stream="stdout", text="the last line")
say(event="bye", exitCode=7)
wire.close()
open(gone, "w").close()
`;
const STOPS_LISTENING = `
wire.shutdown(socket.SHUT_RD)
say(event="output", stream="stdout", text="one more")
open(gone, "w").close()
sys.stdin.read()
`;

describe('Connection of a process', () => {
  /** What is heard of a peer that is written to once it has done its part, without a look in between; whether it said goodbye. */
  async function heard(part: string): Promise<{ said: unknown[]; saidBye: boolean; refused: number }> {
    const place = new Place();
    const done = join(place.folder, 'done');
    const said: unknown[] = [];
    let refused = 0;
    let closed: (saidBye: boolean) => void = () => {};
    const end = new Promise<boolean>((resolve) => (closed = resolve));
    const server = new ControlServer(place.log(), (hello, socket) => {
      const connection = new Connection(socket, hello.name, place.log(), {
        event: (event) => said.push(event),
        closed,
        silent: () => {},
      });
      connection.welcome(configuration);
      setImmediate(() => {
        const deadline = Date.now() + 10_000;
        while (!existsSync(done) && Date.now() < deadline);
        for (let n = 0; n < 3; n++) connection.request('ping', {}).catch(() => refused++);
      });
      return connection;
    });
    const address = await server.listen(place.folder);
    const peer = spawn(python, ['-c', PEER + part, address, server.token, done], {
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    const ended = endOf(peer);
    try {
      const saidBye = await end;
      peer.stdin.end();
      assert.deepEqual(await ended, { code: 0 });
      return { said, saidBye, refused };
    } finally {
      peer.kill();
      server.close();
      place.remove();
    }
  }

  it('reads its last words, also when something was written to it after it ended', async function () {
    // Over TCP the system may throw them away.
    if (process.platform === 'win32') this.skip();
    assert.deepEqual(await heard(ENDS), {
      said: [
        { event: 'output', stream: 'stdout', text: 'the last line' },
        { event: 'bye', exitCode: 7 },
      ],
      saidBye: true,
      refused: 3,
    });
  });

  it('ends when the process lives but does not listen any more', async function () {
    if (process.platform === 'win32') this.skip();
    assert.deepEqual(await heard(STOPS_LISTENING), {
      said: [{ event: 'output', stream: 'stdout', text: 'one more' }],
      saidBye: false,
      refused: 3,
    });
  });
});
