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
say(event="output", stream="stdout", text="the last line")
say(event="bye", exitCode=7)
wire.close()
open(gone, "w").close()
`;

describe('Connection of a process', () => {
  it('reads its last words, also when something was written to it after it ended', async () => {
    const place = new Place();
    const gone = join(place.folder, 'gone');
    const said: unknown[] = [];
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
        // As busy as can be until it is gone.
        while (!existsSync(gone));
        for (let n = 0; n < 3; n++) connection.request('ping', {}).catch(() => {});
      });
      return connection;
    });
    try {
      const address = await server.listen(place.folder);
      const peer = spawn(python, ['-c', PEER, address, server.token, gone], { stdio: 'inherit' });
      assert.deepEqual(await endOf(peer), { code: 0 });
      assert.equal(await end, true);
      assert.deepEqual(said, [
        { event: 'output', stream: 'stdout', text: 'the last line' },
        { event: 'bye', exitCode: 7 },
      ]);
    } finally {
      server.close();
      place.remove();
    }
  });
});
