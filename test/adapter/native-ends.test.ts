import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gone, refusal, rows } from './e2e-support';
import { lineOf, nativeScenes, ORDER } from './native-support';
import { nativeFixtures } from '../support/native';

interface Recorded {
  name: string;
  data: string;
}

/** What is kept of a crash. */
interface Crash {
  signal: string;
  address?: string;
  backtrace: string[];
  registers: Record<string, string>;
  locals: { frame: string; locals: Record<string, string> }[];
}

nativeScenes('Ends of a native program', (native) => {
  for (const [how, signal, words] of [
    ['segv', 'SIGSEGV', /Segmentation fault: .*0x10/],
    ['abort', 'SIGABRT', /Aborted/],
    ['fpe', 'SIGFPE', /Arithmetic error/],
  ] as const)
    it(`a crash stops where it happens, and is recorded: ${how}`, async () => {
      const { s, order, stop, go } = native();
      await order([how], []);
      const at = await stop();
      assert.deepEqual([at.body.reason, at.body.description], ['exception', `Paused on ${signal}`]);
      assert.match(at.body.text!, words);
      const info = await s.client.request('exceptionInfo', { threadId: at.threadId });
      assert.deepEqual([info.exceptionId, info.breakMode], [signal, 'unhandled']);
      assert.match(info.description!, words);
      assert.match(info.details!.stackTrace!, /fail @ .*order\.c:\d+\nmain @/);
      const frame = at.frames.find(({ name }) => name === 'fail')!;
      assert.equal((await s.client.scope(frame.id, 'Locals')).get('seed')?.value, '42');
      await go(at);
      const numbers = { SIGSEGV: 11, SIGABRT: 6, SIGFPE: 8 };
      await s.exit(128 + numbers[signal]);
      const file = await s.recording();
      const events = rows<Recorded>(file, 'SELECT name, data FROM events ORDER BY id');
      const crash = JSON.parse(events.find(({ name }) => name === 'crash')!.data) as Crash;
      assert.equal(crash.signal, signal);
      if (how === 'segv') assert.equal(crash.address, '0x10');
      assert.ok(crash.backtrace.some((line) => /^fail @ .*order\.c:\d+$/.test(line)));
      assert.ok(Object.keys(crash.registers).some((name) => /^(rip|pc)$/.test(name)));
      const { locals } = crash;
      assert.equal(locals.find(({ frame }) => frame.startsWith('fail'))?.locals['seed'], '42');
      assert.ok(events.some(({ name }) => name === 'crashed'));
      assert.ok(events.some(({ name, data }) => name === 'output' && data.includes('orders')));
    });

  it('a signal that is no crash stops, and goes on', async () => {
    const { s, order, stop, go } = native();
    await order(['usr1'], []);
    const at = await stop();
    assert.deepEqual([at.body.reason, at.body.description], ['exception', 'Paused on SIGUSR1']);
    await go(at);
    // Nobody handles it: it ends the program.
    await s.exit(128 + constants.signals.SIGUSR1);
  });

  it('input comes from a text, a file, what is typed, or not at all', async () => {
    const { s, order } = native();
    await order(['read'], [], { stdin: { text: 'one two\n' } });
    assert.match(await s.exit(), /read one\nread two\nend of input\n$/);
  });
  it('input comes from a file with a blank in its name', async () => {
    const { s, order } = native();
    const file = join(s.place.folder, 'in put.txt');
    writeFileSync(file, 'three\n');
    await order(['read'], [], { stdin: { file } });
    assert.match(await s.exit(), /read three\nend of input\n$/);
  });
  it('there is no input', async () => {
    const { s, order } = native();
    await order(['read'], [], { stdin: 'none' });
    assert.match(await s.exit(), /\nend of input\n$/);
  });
  it('what is typed while it runs is its input', async () => {
    const { s, order } = native();
    await order(['read'], []);
    await s.client.waitForOutput('stdout', '11.0');
    await s.client.request('evaluate', { expression: 'typed', context: 'repl' });
    await s.client.waitForOutput('stdout', 'read typed');
    await s.client.request('evaluate', { expression: '^D', context: 'repl' });
    assert.match(await s.exit(), /read typed\nend of input\n$/);
  });

  it('a flood of output arrives whole', async () => {
    const { s, order } = native();
    await order(['flood'], []);
    const text = await s.exit();
    assert.equal(text.split('\n').filter((line) => line.startsWith('line ')).length, 20000);
    assert.match(text, /line 19999 of a flood of lines that nobody asked for\n$/);
  });

  it('pauses a running program, and ends it', async () => {
    const { s, order, stop } = native();
    await order(['loop'], []);
    await s.client.waitForOutput('stdout', '11.0');
    const { threads } = await s.client.request('threads', {});
    assert.equal(threads.length, 1);
    await s.client.request('pause', { threadId: threads[0]!.id });
    const at = await stop();
    assert.deepEqual([at.body.reason, at.body.description], ['pause', 'Paused']);
    assert.ok(at.frames.some(({ name }) => name === 'main'));
    const { processes } = await s.client.request('toolbreak/status', {});
    await s.client.request('continue', { threadId: at.threadId });
    await s.client.request('terminate', {});
    await s.client.waitFor('terminated');
    await gone(processes.map(({ pid }) => pid));
  });

  it('an editor that goes takes the program with it', async () => {
    const { s, order, stop } = native();
    await order(['loop'], ['loop']);
    await stop();
    const { processes } = await s.client.request('toolbreak/status', {});
    s.client.child!.stdin!.end();
    await gone(processes.map(({ pid }) => pid));
  });

  it('attaches to a running program, and lets it go on', async () => {
    const { s, delegate, compiled, stop } = native();
    const program = compiled.program('order.c');
    const child = spawn(program, ['loop'], { stdio: 'ignore' });
    s.cleanup(() => child.kill('SIGKILL'));
    await s.client.attach({ processId: child.pid, lldbDap: delegate.path }, async () => {
      const breakpoints = [{ line: lineOf('order.c', 'loop') }];
      await s.client.request('setBreakpoints', { source: { path: ORDER }, breakpoints });
    });
    const at = await stop();
    assert.deepEqual([at.name, at.top.line], ['main', lineOf('order.c', 'loop')]);
    await s.client.request('disconnect', {});
    await s.client.closed;
    assert.equal(child.exitCode ?? child.signalCode, null);
    child.kill('SIGTERM');
    const [, signal] = await new Promise<[number | null, string | null]>((resolve) =>
      child.once('exit', (...end) => resolve(end)),
    );
    assert.equal(signal, 'SIGTERM');
  });

  it('an adapter that is killed leaves the program it is attached to alive, stopped at a dot or running', async () => {
    const { s, delegate, compiled } = native();
    const program = compiled.program('order.c');
    for (const stopped of [true, false]) {
      const child = spawn(program, ['read'], { stdio: ['pipe', 'pipe', 'ignore'] });
      s.cleanup(() => child.kill('SIGKILL'));
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
      const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve([code, signal])));
      const client = s.adapter();
      await client.attach({ processId: child.pid, lldbDap: delegate.path }, async () => {
        const breakpoints = [{ line: lineOf('order.c', 'end') }];
        await client.request('setBreakpoints', { source: { path: ORDER }, breakpoints });
      });
      if (stopped) {
        child.stdin.end('word\n');
        await client.waitFor('stopped');
      }
      client.child!.kill('SIGKILL');
      await client.closed;
      if (!stopped) child.stdin.end('word\n');
      assert.deepEqual(await ended, [0, null], `stopped: ${stopped}`);
      assert.match(text, /read word\nend of input\n$/);
    }
  });

  it('wrong programs get a sentence', async () => {
    const { s, delegate, compiled } = native();
    const launch = (attributes: Record<string, unknown>) =>
      s.adapter().launch({ target: 'native', lldbDap: delegate.path, cwd: nativeFixtures, ...attributes });
    assert.match(await refusal(launch({ program: 'nothing' })), /does not exist/);
    assert.match(await refusal(launch({ program: 'order.c' })), /order\.c is a source file/);
    const program = compiled.program('order.c');
    assert.match(await refusal(launch({ program, lldbDap: '/nonexistent/lldb-dap' })), /is not a program/);
    assert.match(await refusal(launch({ program, stdin: { file: 'nothing.txt' } })), /does not exist/);
    const pid = { processId: 4_000_000, lldbDap: delegate.path };
    assert.match(await refusal(s.adapter().attach(pid)), /no process 4000000/);
    assert.match(await refusal(s.adapter().attach({ ...pid, processId: 'x' })), /number of a process/);
  });

  it('variables are set and taken away', async () => {
    const { s, order } = native();
    await order(['env'], [], { env: { ORDER_ENV: 'a b=c', HOME: null } });
    assert.match(await s.exit(), /\na b=c\|no home\n$/);
  });

  it('runs without debugging: no breakpoint, its input typed, its code told', async () => {
    const { s, order } = native();
    await order(['read'], ['sum'], { noDebug: true });
    await s.client.waitForOutput('stderr', 'to stderr');
    await s.client.request('terminate', {});
    await s.client.waitFor('exited', ({ exitCode }) => exitCode === 128 + 15);
    await s.client.waitFor('terminated');
  });

  it('a core file shows where it ended', async () => {
    const { s, delegate, compiled, order, stop } = native();
    await order(['segv'], []);
    const core = join(s.place.folder, 'core');
    const saved = await s.evaluate(
      await stop(),
      `\`process save-core --plugin-name=minidump --style=stack ${core}`,
      'repl',
    );
    assert.ok(existsSync(core), saved);
    const client = s.adapter();
    await client.attach({ coreFile: core, program: compiled.program('order.c'), lldbDap: delegate.path });
    const { threadId, reason, description } = await client.waitFor('stopped');
    assert.deepEqual([reason, description], ['exception', 'Paused on SIGSEGV']);
    const frame = (await client.frames(threadId!)).find(({ name }) => name === 'fail')!;
    assert.equal(frame.line, lineOf('order.c', 'segv'));
    for (const command of ['continue', 'next', 'stepIn', 'stepOut'] as const)
      assert.match(
        await refusal(client.request(command, { threadId: threadId! })),
        /^order has ended: a core file shows where, and cannot go on\. /,
      );
    assert.equal((await client.scope(frame.id, 'Locals')).get('seed')?.value, '42');
    await client.request('disconnect', {});
    await client.closed;
  });

  it('sources that are elsewhere are found where the configuration says, else it is told', async () => {
    const { s, delegate, compiled, stop } = native();
    const copy = join(s.place.folder, 'built', 'moved.c');
    mkdirSync(dirname(copy));
    cpSync(ORDER, copy);
    const program = compiled.program(copy, [], `moved-${delegate.major}`);
    const here = join(s.place.folder, 'here');
    renameSync(dirname(copy), here);
    const line = lineOf('order.c', 'sum');
    const attributes = { program, cwd: s.place.folder, lldbDap: delegate.path };
    await s.client.launch({ ...attributes, sourceMap: { [dirname(copy)]: here } }, async () => {
      await s.client.request('setBreakpoints', { source: { path: join(here, 'moved.c') }, breakpoints: [{ line }] });
    });
    const at = await stop();
    assert.deepEqual([at.top.source?.path, at.top.line], [join(here, 'moved.c'), line]);
    const client = s.adapter();
    await client.launch(attributes, async () => {
      await client.request('setFunctionBreakpoints', { breakpoints: [{ name: 'total' }] });
    });
    const { threadId } = await client.waitFor('stopped');
    const [top] = await client.frames(threadId!);
    assert.deepEqual([top?.name, top?.source], ['total', undefined]);
    await client.waitForOutput('console', 'moved.c, which is not on this machine');
  });
});
