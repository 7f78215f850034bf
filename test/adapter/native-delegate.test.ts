import assert from 'node:assert/strict';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { DelegateClient, DelegateError } from '../../adapter/targets/delegate/client';
import { Log } from '../../adapter/common/log';
import { listProcesses } from '../../adapter/common/processes';
import type { DapClient } from '../support/dap-client';
import { nativeFixtures } from '../support/native';
import { gone, refusal, scenes } from './e2e-support';
import { lineOf, nativeScenes, ORDER, standIn } from './native-support';
import { until } from './target-support';

const client = (command: string, patience = 10_000): DelegateClient =>
  new DelegateClient({ command, name: 'stand-in', log: new Log(undefined), patience });

const why = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'answered',
    (error: unknown) => (error instanceof DelegateError ? error.why : String(error)),
  );

scenes('A client of another debug adapter', (scene) => {
  it('asks only for what it can do, in the order of its numbers, and skips noise', async () => {
    const body = `
const on = (request) => {
  process.stdout.write('noise without a frame\\n');
  if (request.command === 'initialize') answer(request, { supportsModulesRequest: true });
  else if (request.command === 'modules') { send(17); send({ type: 'event' }); answer(request, { modules: [] }); }
  else if (request.command === 'threads') answer(request, { threads: 'none' });
  else if (request.command === 'evaluate') send({ type: 'response', request_seq: request.seq, success: false, message: '', body: { error: { format: 'no {what}', variables: { what: 'value' } } } });
  else if (request.command === 'disconnect') answer(request);
};`;
    const one = client(standIn(scene(), 'noisy', body));
    const names: string[] = [];
    one.on('event', (name) => names.push(name));
    await one.start();
    assert.deepEqual([one.can('modules'), one.can('readMemory'), one.can('threads')], [true, false, true]);
    assert.equal(await why(one.request('readMemory', { memoryReference: '0x1', count: 1 })), 'missing');
    assert.deepEqual((await one.request('modules', {})).modules, []);
    assert.equal(await why(one.request('threads', {})), 'nonsense');
    await assert.rejects(one.request('evaluate', { expression: 'x' }), /^UserError: no value$/);
    await one.leave();
    assert.equal(one.isGone, true);
  });

  it('a silent one, and one that dies, are told apart', async () => {
    const silent = `const on = (request) => { if (request.command === 'initialize') answer(request, {}); };`;
    const one = client(standIn(scene(), 'silent', silent), 300);
    await one.start();
    assert.equal(await why(one.request('threads', {})), 'silent');
    const controller = new AbortController();
    const cancelled = why(one.request('scopes', { frameId: 1 }, { signal: controller.signal, within: Infinity }));
    controller.abort();
    assert.match(await cancelled, /Cancelled/);
    const pid = one.pid!;
    await one.leave();
    await gone([pid]);

    const dying = `const on = (request) => { if (request.command === 'initialize') answer(request, {}); else { process.stderr.write('last words'); process.exit(3); } };`;
    const two = client(standIn(scene(), 'dying', dying));
    await two.start();
    const end = new Promise<{ expected: boolean; lastWords: string }>((resolve) => two.on('gone', resolve));
    assert.equal(await why(two.request('threads', {})), 'gone');
    const { expected, lastWords } = await end;
    assert.deepEqual([expected, lastWords], [false, 'last words']);
    assert.equal(await why(two.request('threads', {})), 'gone');
  });

  it('one that hangs is left without a signal, and ends when it wakes up', async () => {
    const body = `
const on = (request) => {
  if (request.command === 'initialize') answer(request, {});
  else if (request.command === 'launch') { answer(request); process.stdin.pause(); setTimeout(() => process.stdin.resume(), 1500); }
};`;
    const one = client(standIn(scene(), 'hanging', body));
    await one.start();
    await one.request('launch', {});
    const pid = one.pid!;
    await one.leave({}, 200);
    assert.equal(one.isGone, false);
    await gone([pid]);
  });

  it('one that takes its time to leave has no streams left for a guardian, and needs none', async () => {
    const body = `
process.stdin.removeAllListeners('end');
process.stdin.on('end', () => send({ type: 'event', event: 'output' }));
process.on('SIGUSR2', () => process.exit());
setTimeout(() => process.exit(), 60_000);
const on = (request) => answer(request);`;
    const one = client(standIn(scene(), 'slow', body));
    await one.start();
    const heard = new Promise((resolve) => one.on('event', resolve));
    const left = one.leave({}, 30_000);
    await heard;
    one.guard(process.pid);
    process.kill(one.pid!, 'SIGUSR2');
    await left;
    assert.equal(one.isGone, true);
  });
});

nativeScenes('A delegate in trouble', (native) => {
  it('one that speaks nonsense, says nothing or dies is a sentence at the start', async () => {
    const { s, compiled } = native();
    const program = compiled.program('order.c');
    const launch = (lldbDap: string) => s.adapter().launch({ program, cwd: nativeFixtures, lldbDap, target: 'native' });
    const dies = standIn(s, 'dies', 'const on = () => process.exit(1);');
    assert.match(await refusal(launch(dies)), /dies does not work as a debug adapter: it ended at once\. /);
    const fails = standIn(
      s,
      'fails',
      `const on = (request) => request.command === 'initialize' ? answer(request, {}) : send({ type: 'response', request_seq: request.seq, success: false, message: 'out of luck' });`,
    );
    assert.match(await refusal(launch(fails)), /Out of luck\./);
  });

  it('one that speaks nonsense of threads and frames does not keep a stop to itself', async () => {
    const { s, compiled } = native();
    const mute = standIn(
      s,
      'mute',
      `const event = (event, body = {}) => send({ seq: 0, type: 'event', event, body });
const on = (request) => {
  if (request.command === 'stackTrace') {
    answer(request, { stackFrames: 'none' });
    return;
  }
  answer(request, request.command === 'initialize' ? { supportsConfigurationDoneRequest: true } : {});
  if (request.command === 'launch') event('initialized');
  else if (request.command === 'configurationDone') event('stopped', { reason: 'breakpoint', threadId: 1 });
  else if (request.command === 'continue') event('exited', { exitCode: 0 });
};`,
    );
    await s.client.launch({
      program: compiled.program('order.c'),
      cwd: nativeFixtures,
      lldbDap: mute,
      target: 'native',
    });
    const { threadId } = await s.client.waitFor('stopped');
    await s.client.request('continue', { threadId: threadId! });
    await s.client.waitFor('terminated');
  });

  it('one that tells the stack of a moment before is made to look again', async () => {
    const { s, compiled } = native();
    const late = standIn(
      s,
      'late',
      `const event = (event, body = {}) => send({ seq: 0, type: 'event', event, body });
let looks = 0;
const on = (request) => {
  if (request.command === 'evaluate' && /^.settings set /.test(request.arguments.expression)) looks++;
  const frame = looks > 0 ? { name: 'sum', line: 5 } : { name: '_dl_debug_state', line: 0 };
  answer(request, {
    initialize: { supportsConfigurationDoneRequest: true },
    threads: { threads: [{ id: 1, name: 'one' }] },
    stackTrace: { stackFrames: [{ id: 1, column: 1, source: { path: ${JSON.stringify(ORDER)} }, ...frame }] },
    setBreakpoints: { breakpoints: [{ id: 1, verified: true, line: 5 }] },
    evaluate: { result: '', variablesReference: 0 },
  }[request.command]);
  if (request.command === 'launch') event('initialized');
  else if (request.command === 'configurationDone') event('stopped', { reason: 'breakpoint', threadId: 1, hitBreakpointIds: [1] });
  else if (request.command === 'continue') event('exited', { exitCode: 0 });
};`,
    );
    await s.client.launch(
      { program: compiled.program('order.c'), cwd: nativeFixtures, lldbDap: late, target: 'native' },
      async () => {
        await s.client.request('setBreakpoints', { source: { path: ORDER }, breakpoints: [{ line: 5 }] });
      },
    );
    const { threadId } = await s.client.waitFor('stopped');
    const [top] = await s.client.frames(threadId!);
    assert.deepEqual([top!.name, top!.line], ['sum', 5]);
    await s.client.request('continue', { threadId: threadId! });
    await s.client.waitFor('terminated');
  });

  /** Stopped at the trap of a program whose only breakpoint is that one. `said`: values of expressions. */
  const trapped = async (dot: Partial<P.SourceBreakpoint>, said: Record<string, string>): Promise<DapClient> => {
    const { s, compiled } = native();
    const late = standIn(
      s,
      'trapping',
      `const event = (event, body = {}) => send({ seq: 0, type: 'event', event, body });
const said = ${JSON.stringify(said)};
const list = '2: file = order.c, line = 5\\n  2.1: where = order\`sum + 4 at order.c:5:3, address = 0x00005555555552ee, resolved, hit count = 0';
const on = (request) => {
  const expression = request.command === 'evaluate' && request.arguments.expression;
  answer(request, {
    initialize: { supportsConfigurationDoneRequest: true, supportsLogPoints: true },
    threads: { threads: [{ id: 1, name: 'one' }] },
    stackTrace: { stackFrames: [{ id: 1, name: 'sum', line: 5, column: 3, source: { path: ${JSON.stringify(ORDER)} }, instructionPointerReference: '0x5555555552EE' }] },
    setBreakpoints: { breakpoints: [{ id: 2, verified: true, line: 5 }] },
    evaluate: { result: /breakpoint list$/.test(expression) ? list : (said[expression] ?? ''), variablesReference: 0 },
  }[request.command]);
  if (request.command === 'launch') event('initialized');
  else if (request.command === 'configurationDone') event('stopped', { reason: 'exception', description: 'signal SIGTRAP', threadId: 1 });
  else if (request.command === 'continue') event('exited', { exitCode: 0 });
};`,
    );
    await s.client.launch(
      { program: compiled.program('order.c'), cwd: nativeFixtures, lldbDap: late, target: 'native' },
      async () => {
        await s.client.request('setBreakpoints', { source: { path: ORDER }, breakpoints: [{ line: 5, ...dot }] });
      },
    );
    return s.client;
  };

  it('one that takes a breakpoint, met in the moment in which it is set, for a trap: it is the breakpoint', async () => {
    const client = await trapped({}, {});
    const { reason, description, threadId, hitBreakpointIds } = await client.waitFor('stopped');
    assert.deepEqual([reason, description, hitBreakpointIds?.length], ['breakpoint', 'Paused on breakpoint', 1]);
    await client.request('continue', { threadId: threadId! });
    await client.waitFor('terminated');
  });

  it('such a trap stops nothing where its condition is not met', async () => {
    const no = await trapped({ condition: 'n > 3' }, { 'n > 3': 'false' });
    await no.waitFor('terminated');
    assert.deepEqual(no.pending('stopped'), []);
  });

  it('such a trap at a log point writes its message', async () => {
    const logs = await trapped({ logMessage: 'n is {n}' }, { n: '7' });
    await logs.waitFor('terminated');
    assert.deepEqual(logs.pending('stopped'), []);
    assert.match(logs.output['console'] ?? '', /n is 7/);
  });

  for (const refused of ['threads', 'stackTrace']) {
    it(`one that tells late of a thread loses no stop that comes meanwhile: ${refused} refused`, async () => {
      const { s, compiled } = native();
      const late = standIn(
        s,
        'late-thread',
        `const event = (event, body = {}) => send({ seq: 0, type: 'event', event, body });
let runs = false;
let waits;
process.on('SIGUSR2', () => {
  runs = false;
  event('stopped', { reason: 'step', threadId: 1 });
  send({ type: 'response', request_seq: waits.seq, success: false, message: 'the process is running' });
});
const on = (request) => {
  if (runs && request.command === ${JSON.stringify(refused)}) {
    waits = request;
    event('output', { category: 'stdout', output: 'asked' });
    return;
  }
  answer(request, {
    initialize: { supportsConfigurationDoneRequest: true },
    threads: { threads: [{ id: 1, name: 'one' }, { id: 2, name: 'two' }] },
    stackTrace: { stackFrames: [{ id: 1, name: 'main', line: 1, column: 1 }] },
    setBreakpoints: { breakpoints: [{ id: 1, verified: true }] },
    evaluate: { result: '', variablesReference: 0 },
  }[request.command]);
  if (request.command === 'launch') event('initialized');
  else if (request.command === 'configurationDone') {
    event('output', { category: 'stdout', output: 'I am ' + process.pid + '.' });
    event('stopped', { reason: 'step', threadId: 1 });
  }
  else if (request.command === 'continue') {
    runs = true;
    event('stopped', { reason: 'breakpoint', threadId: 2, hitBreakpointIds: [1] });
  }
};`,
      );
      await s.client.launch(
        { program: compiled.program('order.c'), cwd: nativeFixtures, lldbDap: late, target: 'native' },
        async () => {
          const breakpoints = [{ line: lineOf('order.c', 'sum'), hitCondition: '9' }];
          await s.client.request('setBreakpoints', { source: { path: ORDER }, breakpoints });
        },
      );
      const { threadId } = await s.client.waitFor('stopped');
      await s.client.waitForOutput('stdout', '.');
      const pid = Number(/I am (\d+)\./.exec(s.client.output['stdout']!)![1]);
      await s.client.request('continue', { threadId: threadId! });
      await s.client.waitForOutput('stdout', 'asked');
      process.kill(pid, 'SIGUSR2');
      const { reason } = await s.client.waitFor('stopped');
      assert.equal(reason, 'step');
      await s.client.request('disconnect', { terminateDebuggee: true });
    });
  }

  it('one that tells late of a thread tells of the stop before, as long as it has not said that the program goes on', async () => {
    const { s, compiled } = native();
    const late = standIn(
      s,
      'late-before',
      `const event = (event, body = {}) => send({ seq: 0, type: 'event', event, body });
let stops = 0;
const on = (request) => {
  answer(request, {
    initialize: { supportsConfigurationDoneRequest: true, $__lldb_version: 'lldb version 19.1.7' },
    threads: { threads: [{ id: 1, name: 'one' }, { id: 2, name: 'two' }] },
    stackTrace: { stackFrames: [{ id: 1, name: 'main', line: 1, column: 1 }] },
    setBreakpoints: { breakpoints: [{ id: 1, verified: true }] },
  }[request.command]);
  if (request.command === 'launch') event('initialized');
  else if (request.command === 'configurationDone') event('stopped', { reason: 'step', threadId: 1 });
  else if (request.command === 'continue' && ++stops < 3) {
    event('stopped', { reason: 'breakpoint', threadId: 2, hitBreakpointIds: [1] });
    event('continued', { threadId: 1 });
    event('stopped', { reason: 'step', threadId: 1 });
  }
  else if (request.command === 'continue') event('exited', { exitCode: 0 });
};`,
    );
    await s.client.launch(
      { program: compiled.program('order.c'), cwd: nativeFixtures, lldbDap: late, target: 'native' },
      async () => {
        await s.client.request('setBreakpoints', { source: { path: ORDER }, breakpoints: [{ line: 5 }] });
      },
    );
    const { threadId } = await s.client.waitFor('stopped');
    for (let turn = 0; turn < 2; turn++) {
      await s.client.request('continue', { threadId: threadId! });
      const stopped = await s.client.waitFor('stopped');
      assert.deepEqual([stopped.threadId, stopped.reason], [threadId, 'step']);
      assert.equal((await s.client.frames(threadId!)).length, 1);
      assert.equal(s.client.pending('stopped').length, 0);
    }
    await s.client.request('continue', { threadId: threadId! });
    await s.client.waitFor('terminated');
  });

  it('one that is slow to evaluate for another thread that stopped, too, is not told to go on meanwhile', async () => {
    const { s, compiled } = native();
    const slow = standIn(
      s,
      'slow',
      `const event = (event, body = {}) => send({ seq: 0, type: 'event', event, body });
let evaluate;
let runs = false;
process.on('SIGUSR1', () => event('stopped', { reason: 'breakpoint', threadId: 2, hitBreakpointIds: [1] }));
process.on('SIGUSR2', () => answer(evaluate, { result: runs ? 'none' : '7', variablesReference: 0 }));
const on = (request) => {
  if (request.command === 'evaluate' && !request.arguments.expression.endsWith('thread list')) {
    evaluate = request;
    event('output', { category: 'stdout', output: 'asked' });
    return;
  }
  answer(request, {
    initialize: { supportsConfigurationDoneRequest: true },
    threads: { threads: [{ id: 1, name: 'one' }, { id: 2, name: 'two' }] },
    stackTrace: { stackFrames: [{ id: 1, name: 'main', line: 1, column: 1 }] },
    setBreakpoints: { breakpoints: [{ id: 1, verified: true }] },
    evaluate: { result: '', variablesReference: 0 },
  }[request.command]);
  runs ||= request.command === 'continue';
  if (request.command === 'launch') event('initialized');
  else if (request.command === 'configurationDone') {
    event('output', { category: 'stdout', output: 'I am ' + process.pid + '.' });
    event('stopped', { reason: 'step', threadId: 1 });
  }
  else if (request.command === 'continue') event('exited', { exitCode: 0 });
};`,
    );
    await s.client.launch(
      { program: compiled.program('order.c'), cwd: nativeFixtures, lldbDap: slow, target: 'native' },
      async () => {
        const breakpoints = [{ line: lineOf('order.c', 'sum'), logMessage: 'seven is {seven}' }];
        await s.client.request('setBreakpoints', { source: { path: ORDER }, breakpoints });
      },
    );
    const { threadId } = await s.client.waitFor('stopped');
    await s.client.waitForOutput('stdout', '.');
    const pid = Number(/I am (\d+)\./.exec(s.client.output['stdout']!)![1]);
    process.kill(pid, 'SIGUSR1');
    await s.client.waitForOutput('stdout', 'asked');
    const goesOn = s.client.request('continue', { threadId: threadId! });
    // Answered after it came.
    await s.client.request('toolbreak/status', {});
    process.kill(pid, 'SIGUSR2');
    await goesOn;
    await s.client.waitFor('terminated');
    assert.match(s.client.output['console'] ?? '', /seven is 7/);
  });

  it('one that is killed while the program is held ends the session with a sentence, and the program', async () => {
    const { s, order, stop } = native();
    await order(['loop'], ['loop']);
    await stop();
    const { pid } = (await s.client.request('toolbreak/status', {})).processes[0]!;
    const rows = await listProcesses();
    // lldb-server stands between; the delegate is its parent.
    const server = rows.find((row) => row.pid === pid)!.parent;
    const delegate = rows.find((row) => row.pid === server)!.parent;
    process.kill(delegate, 'SIGKILL');
    await s.client.waitForOutput('important', 'ended unexpectedly');
    await s.client.waitFor('terminated');
    await gone([pid, delegate]);
  });

  it('one that hangs does not keep the session from ending', async () => {
    const { s, order, stop } = native();
    await order(['loop'], ['loop']);
    await stop();
    const { pid } = (await s.client.request('toolbreak/status', {})).processes[0]!;
    const rows = await listProcesses();
    const delegate = rows.find(
      (row) => row.pid === rows.find((one) => one.pid === rows.find((each) => each.pid === pid)!.parent)!.parent,
    )!.pid;
    process.kill(delegate, 'SIGSTOP');
    s.cleanup(() => {
      try {
        process.kill(delegate, 'SIGKILL');
      } catch {
        // It is gone, as it should be.
      }
    });
    await s.client.request('disconnect', {});
    await gone([pid, delegate]);
    await until(() => s.client.child!.exitCode !== null, 'the adapter to end');
  });
});
