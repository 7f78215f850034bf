import { chmodSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Delegate } from './native';

/**
 * A program that stands between us and a real delegate. `code` may set `asked(message, pass)` and `told(message, pass)`: each gets what comes from us, or
 * from the delegate, and passes it on, as it is or changed, now or later, or not; `send(message)` writes to us. Answers the program's path.
 */
export function delegateBetween(name: string, folder: string, { path, major }: Delegate, code: string): string {
  const program = join(folder, `lldb-dap-${name}-${major}-${basename(path)}`);
  writeFileSync(
    program,
    `#!${process.execPath}
const { spawn } = require('node:child_process');
const child = spawn(${JSON.stringify(path)}, process.argv.slice(2), { stdio: ['pipe', 'pipe', 'inherit'] });
let asked = (message, pass) => pass();
let told = (message, pass) => pass();
const write = (stream, message) => {
  const body = Buffer.from(JSON.stringify(message));
  stream.write(Buffer.concat([Buffer.from('Content-Length: ' + body.length + '\\r\\n\\r\\n'), body]));
};
const send = (message) => write(process.stdout, message);
const reader = (take, stream) => {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = /^Content-Length: (\\d+)\\r\\n\\r\\n/.exec(rest.toString('latin1', 0, 40));
      const end = head ? head[0].length + Number(head[1]) : Infinity;
      if (rest.length < end) return;
      const message = JSON.parse(rest.toString('utf8', head[0].length, end));
      rest = rest.subarray(end);
      take(message, (changed = message) => write(stream, changed));
    }
  };
};
process.stdin.on('data', reader((...given) => asked(...given), child.stdin));
process.stdin.on('end', () => child.stdin.end());
child.stdout.on('data', reader((...given) => told(...given), process.stdout));
child.on('exit', (code) => process.exit(code ?? 1));
${code}
`,
  );
  chmodSync(program, 0o755);
  return program;
}

/**
 * A delegate as it is on a busy machine: of a second thread that stopped in the same moment it tells only once it has answered which threads stopped, or
 * just before it says that the program goes on. All words are the real one's, in its order.
 */
export function lateDelegate(folder: string, delegate: Delegate): string {
  return delegateBetween(
    'late',
    folder,
    delegate,
    `
const lists = new Set();
let stops = 0;
let held = [];
const release = () => held.splice(0).forEach((pass) => pass());
asked = (message, pass) => {
  if (message.command === 'evaluate' && message.arguments.expression === '\`thread list') lists.add(message.seq);
  pass();
};
told = (message, pass) => {
  if (message.event === 'stopped' && stops++ > 0) {
    held.push(pass);
    return;
  }
  if (message.event !== undefined && message.event !== 'stopped' && held.length > 0) release();
  if (message.event === 'continued') stops = 0;
  pass();
  // The answer is there before the word.
  if (lists.delete(message.request_seq)) setImmediate(release);
};`,
  );
}

/**
 * A delegate that answers that the program goes on, and does not let it, as lldb-dap before 21 now and then does: at the start, and each second time that it
 * is asked.
 */
export function refusingDelegate(folder: string, delegate: Delegate): string {
  return delegateBetween(
    'refusing',
    folder,
    delegate,
    `
let times = 0;
let hasBegun = false;
asked = (message, pass) => {
  if (message.command === 'launch' || message.command === 'attach')
    pass({ ...message, arguments: { ...message.arguments, stopOnEntry: true } });
  else if (message.command === 'continue' && ++times % 2 === 0)
    send({ seq: 0, type: 'response', request_seq: message.seq, command: 'continue', success: true, body: {} });
  else pass();
};
told = (message, pass) => {
  // Of this stop it says nothing, where it was to go on.
  if (message.event === 'stopped' && !hasBegun) hasBegun = true;
  else pass();
};`,
  );
}

/** A delegate that is slow to say that the program goes on, and until then answers a request to pause without a pause, as lldb-dap 19 does on a busy machine. */
export function tardyDelegate(folder: string, delegate: Delegate): string {
  return delegateBetween(
    'tardy',
    folder,
    delegate,
    `
let goesOn = true;
asked = (message, pass) => {
  if (message.command === 'continue') goesOn = false;
  if (message.command === 'pause' && !goesOn)
    send({ seq: 0, type: 'response', request_seq: message.seq, command: 'pause', success: true });
  else pass();
};
told = (message, pass) => {
  if (message.event !== 'continued') return pass();
  setTimeout(() => {
    goesOn = true;
    pass();
  }, 100);
};`,
  );
}
