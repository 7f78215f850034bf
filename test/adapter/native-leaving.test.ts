import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, listProcesses, processesWithEnvironment } from '../../adapter/common/processes';
import { Log } from '../../adapter/common/log';
import { DelegateClient } from '../../adapter/targets/delegate/client';
import { leaveRunning } from '../../adapter/targets/native/halt';
import { refusal, until } from './e2e-support';
import { lineOf, nativeScenes, ORDER, type Native } from './native-support';

/** `TOOLBREAK_NATIVE_KILLS=100` for a long run. */
const KILLS = Number(process.env['TOOLBREAK_NATIVE_KILLS'] ?? 5);

nativeScenes('Leaving a native program', (native) => {
  /** Attached to a program that runs for ever into a breakpoint whose condition is not met. */
  async function attachHot({ s, delegate, compiled }: Native): Promise<ChildProcess> {
    const child = spawn(compiled.program('order.c'), ['spin'], { stdio: 'ignore' });
    s.cleanup(() => child.kill('SIGKILL'));
    await s.client.attach({ processId: child.pid, lldbDap: delegate.path }, async () => {
      const breakpoints = [{ line: lineOf('order.c', 'spin'), condition: 'served < 0' }];
      await s.client.request('setBreakpoints', { source: { path: ORDER }, breakpoints });
    });
    await s.client.request('modules', {});
    return child;
  }

  /** It runs on, nobody looks into it, and it ends by what it is told, not by what was left in it. */
  async function runsOn(child: ChildProcess): Promise<void> {
    const status = () => (isAlive(child.pid!) ? readFileSync(`/proc/${child.pid}/status`, 'utf8') : 'ended');
    await until(() => /^TracerPid:\s+0$/m.test(status()) || status() === 'ended', 'the debugger to be gone');
    const turns = () => Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status())?.[1] ?? NaN);
    const before = turns();
    // A turn of its loop each.
    await until(() => turns() > before + 20 || status() === 'ended', 'the program to run');
    assert.deepEqual([child.exitCode, child.signalCode], [null, null]);
    const ended = new Promise<unknown>((resolve) => child.once('exit', (_, signal) => resolve(signal)));
    child.kill('SIGTERM');
    assert.equal(await ended, 'SIGTERM');
  }

  /** Processes that the adapter started: debuggers and their guardians. */
  async function helpersOf(adapter: number): Promise<number[]> {
    return (await listProcesses()).filter(({ parent }) => parent === adapter).map(({ pid }) => pid);
  }

  it('the guardian is a Node also where the editor runs us by its Electron', async () => {
    const child = await attachHot(native());
    const { client } = native().s;
    const nodes = processesWithEnvironment(await listProcesses(), 'ELECTRON_RUN_AS_NODE=1');
    const helpers = await helpersOf(client.child!.pid!);
    assert.equal(helpers.filter((pid) => nodes.includes(pid)).length, 1);
    await client.request('disconnect', {});
    await client.closed;
    await runsOn(child);
  });

  it('disconnect while a condition that is not met is asked all the time lets the program go on', async () => {
    const child = await attachHot(native());
    const { client } = native().s;
    const helpers = await helpersOf(client.child!.pid!);
    assert.equal(helpers.length, 2);
    await client.request('disconnect', {});
    await client.closed;
    await runsOn(child);
    await until(() => !helpers.some(isAlive), 'the end of the debugger and its guardian');
  });

  it('a program that the debugger is not attached to is not stopped', async () => {
    const script = 'trap "echo went on" CONT; echo begins; read line; echo $line';
    const child = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
    native().s.cleanup(() => child.kill('SIGKILL'));
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const closed = new Promise((resolve) => child.once('close', resolve));
    await until(() => printed.length > 0, 'the program to begin');
    const log = new Log(undefined);
    const client = new DelegateClient({ command: native().delegate.path, name: 'lldb-dap', log });
    await client.start();
    await leaveRunning(client, child.pid!, { isHeld: false, log });
    child.stdin.end('ends\n');
    await closed;
    assert.equal(printed, 'begins\nends\n');
  });

  for (const how of ['stopped', 'running', 'asked for a condition all the time'])
    it(`kill -9 of the adapter ends a program that was launched with its debugger: ${how}`, async () => {
      const { s, order } = native();
      const condition = how === 'stopped' ? undefined : 'served < 0';
      await order([how === 'running' ? 'loop' : 'spin'], [{ at: 'spin', ...(condition && { condition }) }]);
      if (how === 'stopped') await s.client.waitFor('stopped');
      else await s.client.request('modules', {});
      const { processes } = await s.client.request('toolbreak/status', {});
      const adapter = s.client.child!.pid!;
      await until(async () => (await helpersOf(adapter)).length === 2, 'the guardian of its debugger');
      const left = [processes[0]!.pid, ...(await helpersOf(adapter))];
      process.kill(adapter, 'SIGKILL');
      await s.client.closed;
      await until(() => !left.some(isAlive), 'the end of the program and its debugger');
    });

  it('kill -9 of the adapter before there is a guardian ends a program that was launched', async () => {
    const { s, order } = native();
    await order(['loop'], ['loop']);
    await s.client.waitFor('stopped');
    const { processes } = await s.client.request('toolbreak/status', {});
    const adapter = s.client.child!.pid!;
    const left = [processes[0]!.pid, ...(await helpersOf(adapter))];
    process.kill(adapter, 'SIGKILL');
    await s.client.closed;
    await until(() => !left.some(isAlive), 'the end of the program and its debugger');
  });

  it('a process that another debugger holds is not attached to, and a sentence says which', async () => {
    const { s, delegate, compiled } = native();
    const child = spawn(compiled.program('order.c'), ['loop'], { stdio: 'ignore' });
    s.cleanup(() => child.kill('SIGKILL'));
    await s.client.attach({ processId: child.pid, lldbDap: delegate.path }, async () => {});
    const tracer = /^TracerPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1];
    const said = await refusal(s.adapter().attach({ processId: child.pid, lldbDap: delegate.path }, async () => {}));
    assert.ok(said.includes(`Another debugger (process ${tracer}) is attached to it already`), said);
    await s.client.request('disconnect', {});
    await s.client.closed;
    await runsOn(child);
  });

  it('kill -9 of adapter and guardian at once lets a program go on that is stopped', async () => {
    const { s, delegate, compiled } = native();
    const child = spawn(compiled.program('order.c'), ['spin'], { stdio: 'ignore' });
    s.cleanup(() => child.kill('SIGKILL'));
    await s.client.attach({ processId: child.pid, lldbDap: delegate.path }, async () => {
      const breakpoints = [{ line: lineOf('order.c', 'spin') }];
      await s.client.request('setBreakpoints', { source: { path: ORDER }, breakpoints });
    });
    const { threadId } = await s.client.waitFor('stopped');
    const frames = await s.client.frames(threadId!);
    const rows = (await listProcesses()).filter(({ parent }) => parent === s.client.child!.pid!);
    const guardian = rows.find(({ command }) => !command.startsWith('lldb'))!;
    // The debugger is in the middle of an answer, which nobody reads any more.
    const begun = join(s.place.folder, 'begun');
    const slow = join(s.place.folder, 'slow.sh');
    writeFileSync(slow, `touch '${begun}'\nsleep 0.2\n`);
    const expression = `\`platform shell sh ${slow}`;
    const unread = s.client.request('evaluate', { expression, frameId: frames[0]!.id, context: 'repl' });
    await until(() => existsSync(begun), 'the debugger to be asked');
    process.kill(guardian.pid, 'SIGKILL');
    process.kill(s.client.child!.pid!, 'SIGKILL');
    await s.client.closed;
    await assert.rejects(unread);
    await runsOn(child);
  });

  /** The debugger says and hears nothing any more, until the answer is called. */
  async function hang({ s }: Native): Promise<{ delegate: number; wake: () => void }> {
    const adapter = s.client.child!.pid!;
    await until(async () => (await helpersOf(adapter)).length === 2, 'the guardian of its debugger');
    const rows = (await listProcesses()).filter(({ parent }) => parent === adapter);
    const delegate = rows.find(({ command }) => command.startsWith('lldb'))!.pid;
    process.kill(delegate, 'SIGSTOP');
    const wake = () => void (isAlive(delegate) && process.kill(delegate, 'SIGCONT'));
    s.cleanup(wake);
    return { delegate, wake };
  }

  for (const how of ['disconnect', 'kill -9 of the adapter'])
    it(`${how} while the debugger hangs: a program that runs goes on, also before the debugger wakes up`, async () => {
      const { s, delegate, compiled } = native();
      const child = spawn(compiled.program('order.c'), ['loop'], { stdio: 'ignore' });
      s.cleanup(() => child.kill('SIGKILL'));
      await s.client.attach({ processId: child.pid, lldbDap: delegate.path }, async () => {});
      await s.client.request('modules', {});
      const hung = await hang(native());
      const helpers = await helpersOf(s.client.child!.pid!);
      if (how === 'disconnect') await s.client.request('disconnect', {});
      else process.kill(s.client.child!.pid!, 'SIGKILL');
      await s.client.closed;
      const left = how === 'disconnect' ? [] : helpers.filter((pid) => pid !== hung.delegate);
      // The adapter, or its guardian, does nothing to the program any more.
      await until(() => !left.some(isAlive), 'the end of the guardian');
      const turns = () =>
        Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]);
      const before = turns();
      await until(() => turns() > before + 20, 'the program to run');
      hung.wake();
      await runsOn(child);
    });

  it('disconnect of a launched program that is to go on, while its debugger hangs, leaves it alive', async () => {
    const { s, order } = native();
    await order(['loop'], []);
    await s.client.request('modules', {});
    const { pid } = (await s.client.request('toolbreak/status', {})).processes[0]!;
    s.cleanup(() => void (isAlive(pid) && process.kill(pid, 'SIGKILL')));
    const { wake } = await hang(native());
    const helpers = await helpersOf(s.client.child!.pid!);
    await s.client.request('disconnect', { terminateDebuggee: false });
    await s.client.closed;
    wake();
    await until(() => !helpers.some(isAlive), 'the end of the debugger and its guardian');
    assert.ok(isAlive(pid));
  });

  for (let round = 1; round <= KILLS; round++) {
    it(`kill -9 of the adapter while a condition that is not met is asked all the time lets the program go on (${round})`, async () => {
      const { s } = native();
      const child = await attachHot(native());
      const adapter = s.client.child!.pid!;
      const helpers = await helpersOf(adapter);
      process.kill(adapter, 'SIGKILL');
      await s.client.closed;
      await runsOn(child);
      await until(() => !helpers.some(isAlive), 'the end of the debugger and its guardian');
    });
  }
});
