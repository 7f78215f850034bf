import { chmodSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Delegate } from './native';

/**
 * A delegate as it is on a busy machine: of a second thread that stopped in the same moment it tells only once it has answered which threads stopped, or
 * just before it says that the program goes on. All words are the real one's, in its order. Answers the path of a program.
 */
export function lateDelegate(folder: string, { path, major }: Delegate): string {
  const program = join(folder, `lldb-dap-late-${major}-${basename(path)}`);
  writeFileSync(
    program,
    `#!${process.execPath}
const { spawn } = require('node:child_process');
const child = spawn(${JSON.stringify(path)}, process.argv.slice(2), { stdio: ['pipe', 'pipe', 'inherit'] });
const lists = new Set();
let stops = 0;
let held = [];
const reader = (take) => {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = /^Content-Length: (\\d+)\\r\\n\\r\\n/.exec(rest.toString('latin1', 0, 40));
      const end = head ? head[0].length + Number(head[1]) : Infinity;
      if (rest.length < end) return;
      const whole = rest.subarray(0, end);
      rest = rest.subarray(end);
      take(JSON.parse(whole.toString('utf8', head[0].length)), whole);
    }
  };
};
const release = () => held.splice(0).forEach((whole) => process.stdout.write(whole));
process.stdin.on('data', reader((message, whole) => {
  if (message.command === 'evaluate' && message.arguments.expression === '\`thread list') lists.add(message.seq);
  child.stdin.write(whole);
}));
process.stdin.on('end', () => child.stdin.end());
child.stdout.on('data', reader((message, whole) => {
  if (message.event === 'stopped' && stops++ > 0) {
    held.push(whole);
    return;
  }
  if (message.event !== undefined && message.event !== 'stopped' && held.length > 0) release();
  if (message.event === 'continued') stops = 0;
  process.stdout.write(whole);
  if (lists.delete(message.request_seq)) {
    // The answer is there before the word.
    setImmediate(release);
  }
}));
child.on('exit', (code) => process.exit(code ?? 1));
`,
  );
  chmodSync(program, 0o755);
  return program;
}
