import assert from 'node:assert/strict';
import { filtersOn } from '../../adapter/dap/capabilities';
import { spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { nativeFixtures, type Delegate } from '../support/native';
import { gone, linesOf, type Scene } from './e2e-support';
import { lineOf, nativeScenes, ORDER } from './native-support';

/** The delegate behind a script that notes the process number of every start. */
function noting(s: Scene, delegate: Delegate, name: string): { command: string; starts: string } {
  const command = join(s.place.folder, name);
  const starts = `${command}.starts`;
  writeFileSync(command, `#!/bin/sh\necho $$ >> '${starts}'\nexec '${delegate.path}' "$@"\n`);
  chmodSync(command, 0o755);
  return { command, starts };
}

nativeScenes('A debugger of native code that is started ahead', (native) => {
  it('starts with the adapter, and is the one that the program runs under', async () => {
    const { s, delegate, compiled } = native();
    const { command, starts } = noting(s, delegate, 'lldb-dap');
    const client = s.adapter(['dap', '--native', '--lldb-dap', command]);
    const [ahead] = await linesOf(starts);
    const program = compiled.program('order.c');
    await client.launch({ program, cwd: nativeFixtures, lldbDap: command, args: ['seven'] }, () =>
      client.request('setBreakpoints', {
        source: { path: ORDER },
        breakpoints: [{ line: lineOf('order.c', 'sum') }],
      }),
    );
    const { threadId } = await client.waitFor('stopped');
    assert.equal((await client.frames(threadId!))[0]?.name, 'total');
    await client.request('disconnect', {});
    await gone([Number(ahead)]);
    assert.deepEqual(await linesOf(starts), [ahead]);
  });

  it('stops at native faults are offered where they are known to work', () => {
    const has = (platform: string, arch: string): boolean =>
      filtersOn(platform, arch).some(({ label }) => label === 'Native Faults');
    assert.deepEqual(
      [has('linux', 'x64'), has('linux', 'arm64'), has('linux', 'arm'), has('darwin', 'arm64'), has('win32', 'x64')],
      [true, true, false, false, false],
    );
  });

  it('an adapter that knows of native code offers its exceptions from the first answer on, and stops are at lines', async () => {
    const { s, delegate, compiled } = native();
    const client = s.adapter(['dap', '--native', '--lldb-dap', delegate.path]);
    const answer = await client.request('initialize', { adapterID: 'toolbreak' });
    assert.deepEqual(
      answer.exceptionBreakpointFilters?.map(({ filter }) => filter),
      ['cpp_throw', 'cpp_catch'],
    );
    const other = s.adapter(['dap', '--native', '--lldb-dap', delegate.path]);
    const program = compiled.program('order.c');
    await other.launch({ program, cwd: nativeFixtures, args: ['seven'] }, () =>
      other.request('setBreakpoints', {
        source: { path: ORDER },
        breakpoints: [{ line: lineOf('order.c', 'sum') }],
      }),
    );
    const { threadId } = await other.waitFor('stopped');
    const { holds } = await other.request('toolbreak/status', {});
    assert.deepEqual(
      holds.map((hold) => [hold.threadId, hold.line]),
      [[threadId, true]],
    );
    await other.request('disconnect', {});
  });

  it('ends where another one is named, and where no native code is debugged', async () => {
    const { s, delegate, compiled } = native();
    const unused = noting(s, delegate, 'unused');
    const used = noting(s, delegate, 'used');
    const client = s.adapter(['dap', '--native', '--lldb-dap', unused.command]);
    await client.launch({ program: compiled.program('order.c'), cwd: nativeFixtures, lldbDap: used.command });
    await gone((await linesOf(unused.starts)).map(Number));
    assert.equal((await linesOf(used.starts)).length, 1);
    await client.waitFor('terminated');

    const other = s.adapter(['dap', '--native', '--lldb-dap', unused.command]);
    const [, second] = await linesOf(unused.starts, 2);
    await s.launch({ program: s.app('app.py', 'input()\n') }, {}, other);
    await gone([Number(second)]);
    await other.request('disconnect', {});
  });

  it('is the one that attaches where the adapter knew of that, and another one where it did not', async () => {
    const { s, delegate, compiled } = native();
    const { command, starts } = noting(s, delegate, 'lldb-dap');
    const child = spawn(compiled.program('order.c'), ['loop'], { stdio: 'ignore' });
    s.cleanup(() => child.kill('SIGKILL'));
    for (const [options, number] of [
      [['--attach'], 1],
      [[], 3],
    ] as const) {
      const client = s.adapter(['dap', '--native', '--lldb-dap', command, ...options]);
      await client.attach({ processId: child.pid, lldbDap: command });
      const { processes } = await client.request('toolbreak/status', {});
      assert.equal(processes[0]?.pid, child.pid);
      assert.equal((await linesOf(starts)).length, number);
      await client.request('disconnect', {});
      await client.closed;
    }
  });

  it('is found on the PATH where none is named, by an adapter that knew nothing of native code', async () => {
    const { s, delegate, compiled } = native();
    const { command, starts } = noting(s, delegate, 'lldb-dap');
    const path = `${dirname(command)}${delimiter}${process.env['PATH']}`;
    const client = s.adapter(['dap'], { PATH: path, TOOLBREAK_LLDB_DAP: undefined });
    await client.launch({ program: compiled.program('order.c'), cwd: nativeFixtures, args: ['seven'] }, () =>
      client.request('setBreakpoints', {
        source: { path: ORDER },
        breakpoints: [{ line: lineOf('order.c', 'sum') }],
      }),
    );
    await client.waitFor('stopped');
    await client.request('disconnect', {});
    assert.equal((await linesOf(starts)).length, 1);
  });

  it('that cannot start is told of when the program is to run under it, and not before', async () => {
    const { s, compiled } = native();
    const client = s.adapter(['dap', '--native', '--lldb-dap', '/nowhere/lldb-dap']);
    const program = compiled.program('order.c');
    await assert.rejects(
      client.launch({ program, cwd: nativeFixtures, lldbDap: '/nowhere/lldb-dap' }),
      /The native debug adapter \/nowhere\/lldb-dap is not a program\./,
    );
  });
});
