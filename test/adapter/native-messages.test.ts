import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { readableError } from '../../adapter/targets/native/quirks';
import { attachRefused } from '../../adapter/targets/native/refused';
import { Compiled, nativeFixtures } from '../support/native';
import { refusal, rows, scenes } from './e2e-support';
import { lineOf, nativeScenes } from './native-support';

const compiled = new Compiled();
after(() => compiled.remove());

function file(name: string, content: string | Buffer, mode = 0o644): string {
  const path = join(compiled.folder, name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

/** The beginning of a program for a machine, by its number. */
function header(machine: number): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.write('\x7fELF\x02\x01\x01', 'latin1');
  bytes.writeUInt16LE(machine, 18);
  return bytes;
}

const CHECK = 'Check "lldbDap" in launch.json or the setting toolbreak.lldbDap.';
const NEEDS = `Toolbreak needs lldb-dap, or gdb 14 or later. ${CHECK}`;

scenes('Sentences about native configurations', (scene) => {
  const launched = (attributes: Record<string, unknown>): Promise<string> =>
    refusal(scene().adapter().launch(attributes));
  const attached = (attributes: Record<string, unknown>): Promise<string> =>
    refusal(scene().adapter().attach(attributes));

  it('a program that is none says what to do', async () => {
    const source = file('app.cpp', 'int main() {}\n');
    const compile = 'Compile it with debug information, such as with';
    assert.equal(
      await launched({ program: source }),
      `app.cpp is a source file. ${compile} "g++ -g -O0 ${source} -o ${source.replace('.cpp', '')}", and name what the compiler made. It is "program" in launch.json.`,
    );
    assert.match(await launched({ program: 'app.cpp', cwd: compiled.folder }), /"g\+\+ -g -O0 app\.cpp -o app"/);
    assert.match(await launched({ program: file('text', 'text\n'), target: 'native' }), /is no native program/);
    const locked = join(compiled.folder, 'locked');
    copyFileSync(compiled.program('loop_basic.c'), locked);
    chmodSync(locked, 0o644);
    assert.match(
      await launched({ program: locked }),
      /locked may not be executed\. Make it executable with "chmod \+x .*locked"\.$/,
    );
    assert.match(await launched({ program: file('riscv', header(243), 0o755) }), /compiled for another machine/);
    assert.match(
      await launched({ program: 'gone/app', cwd: compiled.folder, target: 'native' }),
      new RegExp(`^The program ${compiled.folder}/gone/app does not exist\\. Check "program" in launch\\.json\\.$`),
    );
  });

  it('no debugger at all says which is needed, and how to install it', async () => {
    const nowhere = scene().adapter(['dap'], { PATH: '/nowhere', TOOLBREAK_LLDB_DAP: '' });
    assert.match(
      await refusal(nowhere.launch({ program: compiled.program('loop_basic.c') })),
      /^Native code needs lldb-dap, and none was found on the PATH\. Install it with ".+"/,
    );
  });

  it('a value of the wrong kind says what it may be', async () => {
    const program = compiled.program('loop_basic.c');
    const input = '"stdin" must be "console", "none", { "file": a text } or { "text": a text }.';
    for (const stdin of ['typed', {}, { fle: 'in.txt' }]) assert.equal(await launched({ program, stdin }), input);
    assert.equal(await launched({ program, stdin: { file: 3 } }), '"stdin.file" must be a text.');
    assert.equal(
      await launched({ program, stdin: { file: nativeFixtures } }),
      `${nativeFixtures} is a folder. Set "stdin" to a file in launch.json.`,
    );
    assert.equal(await launched({ program, record: 'yes' }), '"record" must be true or false or an object.');
    assert.equal(await launched({ program, env: { A: 3 } }), '"env.A" must be a text or null.');
  });

  it('what lldb says of several things is one sentence', () => {
    const said =
      "error: Couldn't look up symbols:\n  a::size() const\n  b::size()\nHint: The expression called them.\n";
    assert.equal(
      readableError(said),
      "Couldn't look up symbols: a::size() const, b::size(). The expression called them.",
    );
    assert.equal(readableError("error: Couldn't look up symbols:\n  a()\n"), "Couldn't look up symbols: a().");
    assert.equal(
      readableError('error: failed to parse:\nerror: <user expression 0>:1:1: no member\n 1 | x'),
      'No member.',
    );
    assert.equal(readableError('error: <user expression 0>:1:1: no member\n  1 | x\n'), 'No member.');
  });

  it('a debugger that is none says where another is named', async () => {
    const program = compiled.program('loop_basic.c');
    const answer = (lldbDap: string): Promise<string> => launched({ program, lldbDap });
    assert.equal(
      await answer('/nowhere/lldb-dap'),
      `The native debug adapter /nowhere/lldb-dap is not a program. ${CHECK}`,
    );
    assert.equal(await answer(compiled.folder), `The native debug adapter ${compiled.folder} is a folder. ${CHECK}`);
    assert.equal(await answer('/bin/ls'), `/bin/ls does not work as a debug adapter: it ended at once. ${NEEDS}`);
    assert.equal(await answer('/bin/cat'), `/bin/cat does not work as a debug adapter: it refuses to begin. ${NEEDS}`);
    const deaf = file('deaf', '#!/bin/sh\necho hello\nexec cat > /dev/null\n', 0o755);
    assert.equal(await answer(deaf), `${deaf} does not work as a debug adapter: it does not answer. ${NEEDS}`);
  });

  it('an attach to a process of another user', () => {
    const mine = process.getuid?.() ?? 0;
    assert.equal(
      attachRefused('error: Lost connection', process.pid, 'process 7', mine + 1),
      `Process 7 could not be attached to: Lost connection. It belongs to another user (${mine === 0 ? 'root' : `number ${mine}`}): attach as that user, or as root.`,
    );
  });

  it('an attach without anything to attach to', async () => {
    const nothing =
      'Nothing to attach to: set "connect" (printed by toolbreak.listen()), "session", or for native code "processId" or "coreFile" in launch.json.';
    assert.equal(await attached({}), nothing);
    assert.equal(await attached({ program: compiled.program('loop_basic.c') }), nothing);
    assert.equal(await attached({ processId: 'abc' }), '"processId" in launch.json must be the number of a process.');
    assert.equal(
      await attached({ coreFile: '/nowhere/core' }),
      'The core file /nowhere/core does not exist. Check "coreFile" in launch.json.',
    );
  });
});

nativeScenes('Sentences about a native program', (native) => {
  it('names the debugger as people do, and what it says', async () => {
    const { s, delegate } = native();
    const program = file(`broken${delegate.major}`, header(62), 0o755);
    const broken = await refusal(s.client.launch({ program, lldbDap: delegate.path }));
    assert.match(broken, /Exec format error|exec format/i);
    assert.match(broken, /It is damaged, or was compiled for another machine: compile it again\.$/);
  });

  it('a stop at watched memory names the variable, with what it was and what it is', async () => {
    const { s, order, stop, go } = native();
    await order([], ['sum']);
    const at = await stop();
    const { scopes } = await s.client.request('scopes', { frameId: at.top.id });
    const { variablesReference } = scopes.find(({ name }) => name === 'Locals')!;
    const info = await s.client.request('dataBreakpointInfo', { variablesReference, name: 'sum' });
    assert.match(info.description, /^sum, \d bytes at 0x[0-9a-f]+$/);
    await s.client.request('setBreakpoints', { source: { path: at.top.source!.path! }, breakpoints: [] });
    const sum = Number((await s.values(at, 'Locals'))['sum']);
    const watched = [{ dataId: info.dataId!, accessType: 'write' as const }];
    await s.client.request('setDataBreakpoints', { breakpoints: watched });
    await go(at);
    const changed = await stop();
    const now = (await s.values(changed, 'Locals'))['sum']!;
    assert.notEqual(Number(now), sum);
    assert.deepEqual(
      [changed.body.reason, changed.body.description, changed.body.text],
      ['data breakpoint', `Paused: sum changed from ${sum} to ${now}`, `sum changed from ${sum} to ${now}.`],
    );
    await go(changed);
    const again = await stop();
    const then = (await s.values(again, 'Locals'))['sum']!;
    assert.equal(again.body.description, `Paused: sum changed from ${now} to ${then}`);
    await s.client.request('setDataBreakpoints', { breakpoints: [] });
    await go(again);
    await s.exit();
    const stops = rows<{ data: string }>(await s.recording(), 'SELECT data FROM events WHERE data IS NOT NULL');
    assert.ok(
      stops.some(({ data }) => data.includes(`sum changed from ${sum} to ${now}`)),
      JSON.stringify(stops),
    );
  });

  it('more than the processor can watch says so', async () => {
    const { s, stop, go, delegate, compiled } = native();
    const program = compiled.program('recursive.c');
    const path = join(nativeFixtures, 'recursive.c');
    await s.client.launch({ program, cwd: nativeFixtures, lldbDap: delegate.path }, async () => {
      const breakpoints = [{ line: lineOf('recursive.c', 'globals') }];
      await s.client.request('setBreakpoints', { source: { path }, breakpoints });
    });
    const at = await stop();
    const breakpoints: DebugProtocol.DataBreakpoint[] = [];
    for (const name of ['one', 'two', 'three', 'four', 'five']) {
      const { dataId } = await s.client.request('dataBreakpointInfo', { name, frameId: at.top.id });
      breakpoints.push({ dataId: dataId!, accessType: 'write' });
    }
    const answer = await s.client.request('setDataBreakpoints', { breakpoints });
    const refused = answer.breakpoints.filter(({ verified }) => !verified).map(({ message }) => message);
    assert.deepEqual(refused, [
      'The processor can watch no more at once; on x86 it can watch four places. Watch fewer.',
    ]);
    await s.client.request('setDataBreakpoints', { breakpoints: [] });
    await go(at);
    await s.exit();
  });

  it('an expression that is watched is named, too, and one that is read', async () => {
    const { s, order, stop, go } = native();
    await order([], ['sum']);
    const at = await stop();
    const info = await s.client.request('dataBreakpointInfo', { name: 'sum', frameId: at.top.id });
    await s.client.request('setBreakpoints', { source: { path: at.top.source!.path! }, breakpoints: [] });
    await s.client.request('setDataBreakpoints', {
      breakpoints: [{ dataId: info.dataId!, accessType: 'readWrite' }],
    });
    await go(at);
    const used = await stop();
    assert.match(used.body.description!, /^Paused: sum (?:was read or written: \d+|changed from \d+ to \d+)$/);
    await s.client.request('setDataBreakpoints', { breakpoints: [] });
    await go(used);
    await s.exit();
  });

  it('a core file that is none is said to be none', async () => {
    const { s, delegate, compiled } = native();
    const program = compiled.program('order.c');
    const text = file(`core${delegate.major}`, `no core, line ${lineOf('order.c', 'sum')}\n`);
    const said = await refusal(s.client.attach({ coreFile: text, program, lldbDap: delegate.path }));
    assert.equal(said, `${text} is no core file. Check "coreFile" in launch.json.`);
    const folder = await refusal(s.adapter().attach({ coreFile: nativeFixtures, program, lldbDap: delegate.path }));
    assert.match(folder, / is no core file\. /);
    const executable = await refusal(s.adapter().attach({ coreFile: program, program, lldbDap: delegate.path }));
    assert.match(executable, / is no core file\. /);
  });
});
