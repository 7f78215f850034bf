import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { Log } from '../../adapter/common/log';
import { GATE_FLAGS, GateDoor, gateLibrary } from '../../adapter/targets/mixed/gate';
import { compile } from '../support/native';

const GATE = join(__dirname, '..', '..', 'runtimes', 'native', 'gate.c');
const HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n';

describe('The gate of programs that a tool starts', () => {
  let folder: string;
  let library: string;
  const before_ = process.env['XDG_STATE_HOME'];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolbreak-gate-'));
    process.env['XDG_STATE_HOME'] = folder;
    library = await gateLibrary();
    writeFileSync(join(folder, 'hello.c'), HELLO);
  });
  after(() => {
    if (before_ === undefined) delete process.env['XDG_STATE_HOME'];
    else process.env['XDG_STATE_HOME'] = before_;
    rmSync(folder, { recursive: true, force: true });
  });

  /** A door of the test: what came to it, answered or not. */
  async function door(answers: boolean): Promise<{ asked: string[]; address: string; close(): void }> {
    const asked: string[] = [];
    const sockets = new Set<Socket>();
    const address = join(mkdtempSync(join(folder, 'door-')), 'gate');
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('data', (chunk: Buffer) => {
        asked.push(chunk.toString().trim());
        if (answers) socket.end('.');
      });
    }).listen(address);
    await once(server, 'listening');
    const close = (): void => {
      server.close();
      for (const socket of sockets) socket.destroy();
    };
    return { asked, address, close };
  }

  /** What a program that is started through the gate prints, on both of its streams. */
  async function run(gate: string, address: string, command: string, args: string[] = []): Promise<string[]> {
    const env = { ...process.env, LD_PRELOAD: gate, TOOLBREAK_GATE: `1.2.3 ${process.pid} ${address}` };
    const { stdout, stderr } = await promisify(execFile)(command, args, { env });
    return [stdout, stderr];
  }

  it('holds a program until it is answered, and says which one it is', async () => {
    const { asked, address, close } = await door(true);
    compile([join(folder, 'hello.c')], join(folder, 'hello'));
    assert.deepEqual(await run(library, address, join(folder, 'hello')), ['hello\n', '']);
    assert.equal(asked.length, 1);
    assert.match(asked[0]!, /^\d+ 1\.2\.3 pid:\[\d+\]$/);
    close();
  });

  it('lets the next programs of a script pass where one waited in vain, until the adapter lives again', async () => {
    const { asked, address, close } = await door(false);
    const impatient = join(folder, 'impatient.so');
    compile([GATE], impatient, [...GATE_FLAGS, '-DPATIENCE_MS=50']);
    const script = ['-c', 'cat /dev/null; cat /dev/null; cat /dev/null; echo done'];
    assert.deepEqual(await run(impatient, address, 'sh', script), ['done\n', '']);
    assert.equal(asked.length, 1);
    rmSync(`${address}.late`);
    await run(impatient, address, 'cat', ['/dev/null']);
    assert.equal(asked.length, 2);
    close();
  });

  it('an adapter that lives says so with the first program that comes', async () => {
    const opened = await GateDoor.open(new Log(undefined), () => Promise.resolve());
    writeFileSync(`${opened.address}.late`, '');
    const socket = connect(opened.address);
    await once(socket, 'connect');
    socket.write(`${process.pid} 1.2.3 ${readlinkSync('/proc/self/ns/pid')}\n`);
    await once(socket.resume(), 'end');
    assert.equal(existsSync(`${opened.address}.late`), false);
    opened.close();
  });

  it('believes no number that counts elsewhere', async () => {
    const arrived: number[] = [];
    const opened = await GateDoor.open(new Log(undefined), (pid) => {
      arrived.push(pid);
      return Promise.resolve();
    });
    for (const space of ['pid:[1]', '', readlinkSync('/proc/self/ns/pid')]) {
      const socket = connect(opened.address);
      await once(socket, 'connect');
      socket.write(`${process.pid} 1.2.3 ${space}\n`);
      // Let pass, whoever it is.
      await once(socket.resume(), 'end');
    }
    assert.deepEqual(arrived, [process.pid]);
    opened.close();
  });

  it('is not noticed by a program that is linked statically', async () => {
    const { asked, address, close } = await door(true);
    compile([join(folder, 'hello.c')], join(folder, 'static'), ['-static']);
    assert.deepEqual(await run(library, address, join(folder, 'static')), ['hello\n', '']);
    assert.deepEqual(asked, []);
    close();
  });

  it('is not looked for behind another root', async () => {
    const { address, close } = await door(true);
    const root = mkdtempSync(join(folder, 'root-'));
    compile([join(folder, 'hello.c')], join(root, 'hello'));
    const needed = spawnSync('ldd', [join(root, 'hello')], { encoding: 'utf8' }).stdout.match(/\/\S+/g) ?? [];
    for (const path of needed) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      copyFileSync(path, join(root, path));
    }
    // Whoever is not root gets the right for it from a namespace of their own.
    const how = process.getuid?.() === 0 ? [] : ['unshare', '-r'];
    // Not every user has the system's own commands on the PATH.
    const chroot = ['/usr/sbin/chroot', '/sbin/chroot'].find(existsSync) ?? 'chroot';
    const [command, ...args] = [...how, chroot, root, '/hello'];
    assert.deepEqual(await run(library, address, command, args), ['hello\n', '']);
    close();
  });

  it('is there for 32-bit programs, too, in their kind and empty: their loader would complain', () => {
    if (!library.includes('$LIB')) return assert.equal(process.platform === 'linux' && process.arch === 'x64', false);
    const kinds = ['lib', 'lib32', 'lib64', 'lib/i386-linux-gnu', 'lib/x86_64-linux-gnu', 'lib/aarch64-linux-gnu']
      .map((one) => library.replace('$LIB', one))
      .filter(existsSync)
      .map((path) => readFileSync(path)[4]);
    assert.equal(kinds.filter((kind) => kind === 2).length, 1);
    if (process.arch === 'x64') assert.ok(kinds.includes(1));
  });
});
