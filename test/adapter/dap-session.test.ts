import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BreakpointState } from '../../protocol/control';
import { UserError } from '../../adapter/common/errors';
import { assertGolden } from '../support/golden';
import { transcript } from '../support/transcript';
import { refusal, Stage } from './dap-support';
import { innerFrame, nodeFrame, toolFrame } from './fake-target';

const FILE = '/app/triage.py';

describe('DAP session', () => {
  let stage: Stage;
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(async () => {
    await stage.end();
    assert.deepEqual(stage.problems, []);
  });

  it('holds, shows, edits and releases: the whole conversation', async () => {
    const client = await stage.launched(async (c) => {
      await c.request('setBreakpoints', {
        source: { path: FILE },
        breakpoints: [{ line: 12, condition: 'args["order_id"] == 7' }],
      });
      await c.request('setExceptionBreakpoints', { filters: ['uncaught'] });
    });
    const [breakpoint] = stage.target.configurations.at(-1)!.breakpoints;
    stage.target.answers.scopes = () => ({
      scopes: [{ name: 'Arguments', hint: 'arguments', ref: 5, named: 1, expensive: false }],
    });
    stage.target.answers.variables = () => ({
      variables: [
        { name: 'order_id', value: '7', type: 'int', ref: 0, evaluateName: 'args["order_id"]', editable: true },
      ],
    });
    stage.target.answers.setVariable = () => ({ name: 'order_id', value: '70', type: 'int', ref: 0, editable: true });
    stage.target.answers.frames = () => ({ frames: [] });
    stage.target.hold({ task: 1, breakpoints: [breakpoint!.id] });
    const stopped = await client.waitFor('stopped');
    const threadId = stopped.threadId!;
    await client.request('threads', {});
    const [frame] = await client.frames(threadId);
    const { scopes } = await client.request('scopes', { frameId: frame!.id });
    const { variablesReference } = scopes[0]!;
    await client.request('variables', { variablesReference });
    await client.request('setVariable', { variablesReference, name: 'order_id', value: '70' });
    await client.waitFor('invalidated');
    await client.request('continue', { threadId });
    stage.target.emit('output', 'stdout', 'done\n');
    stage.target.end(0);
    await client.waitFor('terminated');
    await client.request('disconnect', {});
    assertGolden('dap-hold-edit-release', transcript(client));
    assert.deepEqual(
      stage.recorded.map(({ name, call }) => [name, call]),
      [
        ['stop', '1.42'],
        ['edit', '1.42'],
        ['release', '1.42'],
        ['output', undefined],
        ['exited', undefined],
      ],
    );
  });

  it('has the stack fetched again only when it looks different', async () => {
    const client = await stage.launched(() => Promise.resolve());
    stage.target.answers.evaluate = () => ({ value: '7', type: 'int', ref: 0 });
    stage.target.hold({ task: 1 });
    const { threadId } = await client.waitFor('stopped');
    const [frame] = await client.frames(threadId!);
    let frames = [toolFrame, nodeFrame, innerFrame].map((one) => ({ ...one }));
    stage.target.answers.frames = () => ({ frames });
    const type = async (expression: string) => {
      await client.request('evaluate', { expression, frameId: frame!.id, context: 'repl' });
      return (await client.waitFor('invalidated')).areas;
    };
    assert.deepEqual(await type('args["order_id"]'), ['variables']);
    frames = [{ ...toolFrame, name: 'lookup_order(order_id=70)' }, nodeFrame, innerFrame];
    assert.deepEqual(await type('args["order_id"] = 70'), ['stacks', 'variables']);
  });

  it('knows no task that ended while its process listed it', async () => {
    const client = await stage.launched(() => Promise.resolve());
    stage.target.hold({ task: 1 });
    await client.waitFor('stopped');
    const info = (id: number, name: string) => ({ id, name, where: '' });
    const list = [info(1, 'agent-1'), info(2, 'ended'), info(3, 'used again'), info(4, 'running')];
    stage.target.answers.tasks = (_args, process) => {
      const tell = (task: number, change: 'started' | 'exited') =>
        stage.target.emit('control', process, { event: 'task', task, name: list[task - 1]!.name, change });
      tell(2, 'started');
      tell(2, 'exited');
      tell(3, 'exited');
      tell(3, 'started');
      return { tasks: list };
    };
    const { threads } = await client.request('threads', {});
    assert.deepEqual(threads.map(({ name }) => name).sort(), ['agent-1', 'running', 'used again']);
  });

  it('has the first breakpoints in force when the app starts', async () => {
    await stage.launched((c) => c.request('setFunctionBreakpoints', { breakpoints: [{ name: 'tool:search@after' }] }));
    const [first] = stage.target.configurations;
    assert.deepEqual(first?.breakpoints, [
      { id: 1, enabled: true, target: { type: 'function', kind: 'tool', glob: 'search' }, boundaries: ['after'] },
    ]);
  });

  it('gives each client its own numbers, lines and breakpoints, and the app their union', async () => {
    const first = await stage.launched((c) =>
      c.request('setBreakpoints', { source: { path: FILE }, breakpoints: [{ line: 1 }, { line: 12 }] }),
    );
    const second = stage.client();
    await second.initialize({ linesStartAt1: false, columnsStartAt1: false });
    const attach = second.send('attach', {}).answer;
    await second.waitFor('initialized');
    const answer = await second.request('setBreakpoints', {
      source: { path: FILE },
      breakpoints: [{ line: 11 }, { line: 29 }],
    });
    assert.deepEqual(
      answer.breakpoints.map((b) => [b.id, b.line]),
      [
        [1, 11],
        [2, 29],
      ],
    );
    await second.request('configurationDone', {});
    await attach;
    const lines = stage.target.configurations
      .at(-1)!
      .breakpoints.map((b) => b.target.type === 'source' && b.target.line);
    assert.deepEqual(lines, [1, 12, 30]);
    const shared = stage.target.configurations.at(-1)!.breakpoints[1]!.id;
    stage.target.hold({ task: 1, breakpoints: [shared] });
    const [a, b] = [await first.waitFor('stopped'), await second.waitFor('stopped')];
    assert.deepEqual(a.hitBreakpointIds, [2]);
    assert.deepEqual(b.hitBreakpointIds, [1]);
    assert.equal((await second.frames(b.threadId!))[0]?.line, 11);
    await second.request('disconnect', {});
    await second.closed;
    assert.equal(stage.target.configurations.at(-1)!.breakpoints.length, 2);
    assert.deepEqual(stage.target.ends, []);
  });

  it('tells a client that comes later what is held, and every other client what goes on', async () => {
    const first = await stage.launched();
    const threadId = await stage.held(first);
    const second = stage.client();
    await second.attach({ session: 'quick-otter-1' });
    assert.equal((await second.waitFor('stopped')).threadId, threadId);
    await second.request('continue', { threadId });
    assert.deepEqual(await first.waitFor('continued'), { threadId, allThreadsContinued: false });
    assert.deepEqual(second.pending('continued'), []);
    assert.equal(stage.recorded.find((one) => one.name === 'release')?.data['client'], 'client-2');
  });

  it('records who let a call go on by the name that it gives itself, and tells two of one name apart', async () => {
    await stage.launched();
    for (const id of [1, 2]) {
      stage.target.hold({ id: 20 + id, task: 1 });
      const client = stage.client();
      client.clientName = 'Neo\nvim';
      await client.attach({ session: 'quick-otter-1' });
      const { threadId } = await client.waitFor('stopped');
      await client.request('continue', { threadId: threadId! });
    }
    assert.deepEqual(
      stage.recorded.filter(({ name }) => name === 'release').map(({ data }) => data['client']),
      ['client-2 (Neo vim)', 'client-3 (Neo vim 2)'],
    );
  });

  it('tells stops in the order in which they came, also of two tasks of which one is just let go', async () => {
    const client = await stage.launched();
    const threadId = await stage.held(client);
    stage.target.answers.release = () => {
      stage.target.hold({ id: 11, task: 1 });
      stage.target.hold({ id: 12, task: 2 });
      return {};
    };
    await client.request('continue', { threadId });
    const stops = [await client.waitFor('stopped'), await client.waitFor('stopped')];
    assert.equal(stops[0]!.threadId, threadId);
    assert.notEqual(stops[1]!.threadId, threadId);
  });

  it('answers a release before the next stop is heard', async () => {
    const client = await stage.launched();
    const threadId = await stage.held(client);
    stage.target.answers.release = () => {
      stage.target.emit('control', stage.target.live[0]!, { event: 'resumed', hold: 10, task: 1, why: 'release' });
      stage.target.hold({ task: 1, id: 11, reason: 'step' });
      return {};
    };
    await client.request('next', { threadId });
    await client.waitFor('stopped', (body) => body.reason === 'step');
    const order = client.messages.map(({ message }) =>
      'command' in message && message.type === 'response' ? message.command : 'event' in message ? message.event : '',
    );
    assert.ok(order.lastIndexOf('next') < order.lastIndexOf('stopped'));
    assert.equal((await client.frames(threadId)).length, 3);
  });

  it('keeps numbers while a task is held and drops them when it goes on', async () => {
    const client = await stage.launched();
    const threadId = await stage.held(client);
    const [first, again] = [await client.frames(threadId), await client.frames(threadId)];
    assert.deepEqual(first, again);
    assert.deepEqual((await client.request('stackTrace', { threadId, startFrame: 1, levels: 1 })).stackFrames, [
      first[1],
    ]);
    await client.request('continue', { threadId });
    const refused = await refusal(client.request('scopes', { frameId: first[0]!.id }));
    assert.equal(refused.message, 'This frame is gone: its task went on.');
    const running = await refusal(client.request('stackTrace', { threadId }));
    assert.equal(running.message, 'agent-1 is running. Pause it first.');
  });

  it('shows an editor that asks too late nothing in red, and refuses what never was', async () => {
    const client = stage.client();
    await client.initialize({ clientID: 'vscode' });
    const begun = client.send('launch', { program: '/app/triage.py' }).answer;
    await client.waitFor('initialized');
    await client.request('configurationDone', {});
    await begun;
    const threadId = await stage.held(client);
    const [top] = await client.frames(threadId);
    stage.target.answers.scopes = () => ({ scopes: [{ name: 'Arguments', ref: 5, expensive: false }] });
    const { scopes } = await client.request('scopes', { frameId: top!.id });
    const { variablesReference } = scopes[0]!;
    // One that is on its way to the app when the task goes on, too.
    let asked = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    stage.target.answers.scopes = () => {
      asked();
      stage.target.emit('control', stage.target.live[0]!, { event: 'resumed', hold: 10, task: 1, why: 'release' });
      throw new Error('This frame belongs to an earlier stop.');
    };
    assert.deepEqual(await client.request('scopes', { frameId: top!.id }), { scopes: [] });
    await isAsked;
    assert.deepEqual(await client.request('scopes', { frameId: top!.id }), { scopes: [] });
    // What a person evaluated stays in the Debug Console, and says why it shows no more.
    const value = await refusal(client.request('variables', { variablesReference }));
    assert.equal(value.message, 'This value is gone: its task went on.');
    assert.match((await refusal(client.request('scopes', { frameId: 4711 }))).message, /^This frame is gone/);
    const late = await refusal(client.request('evaluate', { expression: '1', frameId: top!.id, context: 'watch' }));
    assert.equal(late.message, 'This frame is gone: its task went on.');
  });

  it('says the boundary in the frame, except where the client says it beside the thread', async () => {
    const names = async (clientID: string): Promise<string[]> => {
      const client = stage.client();
      await client.initialize({ clientID });
      const begun = client.send('launch', { program: '/app/triage.py' }).answer;
      await client.waitFor('initialized');
      await client.request('configurationDone', {});
      await begun;
      const tool = await client.frames(await stage.held(client));
      stage.target.hold({
        task: 2,
        call: 41,
        boundary: 'after',
        description: 'Paused after node',
        frames: [{ ...nodeFrame, detail: 'node, step 2, after' }, innerFrame],
      });
      const node = await client.frames((await client.waitFor('stopped')).threadId!);
      return [...tool, ...node].map(({ name }) => name);
    };
    assert.deepEqual(await names('test'), [
      'lookup_order(order_id=7) · tool, before',
      'tools · node, step 2',
      'invoke',
      'tools · node, step 2, after',
      'invoke',
    ]);
    await stage.end();
    stage = new Stage();
    assert.deepEqual(await names('vscode'), [
      'lookup_order(order_id=7)',
      'tools · node, step 2',
      'invoke',
      'tools · node, step 2',
      'invoke',
    ]);
  });

  it('does not steal the focus from a task that is held, except when the person stepped', async () => {
    const client = await stage.launched();
    const threadId = await stage.held(client, 1);
    stage.target.hold({ task: 2 });
    assert.equal((await client.waitFor('stopped')).preserveFocusHint, true);
    await client.request('next', { threadId });
    stage.target.hold({ task: 1, id: 12, reason: 'step' });
    assert.equal((await client.waitFor('stopped')).preserveFocusHint, undefined);
  });

  it('holds and releases every task together when asked to', async () => {
    const client = await stage.launched(undefined, { hold: 'all' });
    const first = await stage.held(client, 1);
    const second = await stage.held(client, 2);
    assert.deepEqual(stage.target.stopFlags, [true]);
    await client.request('continue', { threadId: first });
    assert.deepEqual(await client.waitFor('continued'), { threadId: second, allThreadsContinued: false });
    assert.deepEqual(stage.target.stopFlags, [true, false]);
    assert.equal(stage.target.requested('release').length, 2);
  });

  it('releases only one task when only one is meant', async () => {
    const client = await stage.launched(undefined, { hold: 'all' });
    const first = await stage.held(client, 1);
    await stage.held(client, 2);
    await client.request('next', { threadId: first, singleThread: true });
    assert.deepEqual(stage.target.requested('release'), [
      { hold: 10, action: 'continue', step: 'over', client: 'client-1' },
    ]);
  });

  it('names running tasks by where they are, and tasks of other processes by their process', async () => {
    const client = await stage.launched();
    assert.deepEqual(
      (await client.request('threads', {})).threads.map((t) => t.name),
      ['triage.py'],
    );
    const child = stage.target.addProcess('Process-2');
    stage.target.answers.tasks = (_, process) => ({
      tasks: [
        {
          id: 1,
          name: process === child ? 'add' : 'support_agent',
          where: process === child ? '' : 'in llm:gpt-x, 12 s',
        },
      ],
    });
    const { threads } = await client.request('threads', {});
    assert.deepEqual(
      threads.map((t) => t.name),
      ['support_agent — in llm:gpt-x, 12 s', 'Process-2 › add'],
    );
    assert.equal(new Set(threads.map((t) => t.id)).size, 2);
  });

  it('has names asked for again when a running task is elsewhere, or is there for long', async () => {
    const client = await stage.launched();
    const held = await stage.held(client);
    const at = (where: string): void => {
      stage.target.answers.tasks = () => ({ tasks: [{ id: 7, name: 'check', where }] });
    };
    const names = async (): Promise<string[]> => (await client.request('threads', {})).threads.map(({ name }) => name);
    at('in llm:gpt-x, 0.3 s');
    const [first, ...others] = await names();
    assert.deepEqual(others, ['check — in llm:gpt-x, 0.3 s']);
    while (client.pending('thread').length > 0) await client.waitFor('thread');
    for (const [where, expected] of [
      ['in llm:gpt-x, 1.3 s', 'check — in llm:gpt-x, 1.3 s'],
      ['', 'check'],
    ] as const) {
      at(where);
      const { reason, threadId } = await client.waitFor('thread');
      assert.equal(reason, 'started');
      assert.notEqual(threadId, held);
      assert.deepEqual(await names(), [first, expected]);
    }
    // The held one goes on, into a call: nobody had asked for its name since.
    await client.request('continue', { threadId: held });
    stage.target.answers.tasks = () => ({ tasks: [{ id: 1, name: 'agent', where: 'in llm:gpt-x, 1.1 s' }] });
    assert.deepEqual(await client.waitFor('thread'), { reason: 'started', threadId: held });
    assert.deepEqual(await names(), ['agent — in llm:gpt-x, 1.1 s', 'check']);
  });

  it('asks a process that does not answer once for its tasks', async () => {
    const client = await stage.launched();
    let asked = 0;
    let answer!: () => void;
    const late = new Promise<void>((resolve) => (answer = resolve));
    stage.target.answers.tasks = async () => {
      asked++;
      await late;
      return { tasks: [{ id: 1, name: 'agent', where: '' }] };
    };
    await client.request('threads', {});
    await client.request('threads', {});
    assert.equal(asked, 1);
    answer();
    await client.request('threads', {});
    const { threads } = await client.request('threads', {});
    assert.deepEqual([asked, threads.map(({ name }) => name)], [2, ['agent']]);
  });

  it('pauses every task, and lets a pause go with the first release', async () => {
    const client = await stage.launched();
    await client.request('pause', { threadId: (await client.request('threads', {})).threads[0]!.id });
    assert.deepEqual(stage.target.stopFlags, [true]);
    assert.equal(stage.target.requested('pause').length, 1);
    const threadId = await stage.held(client);
    await client.request('continue', { threadId });
    assert.deepEqual(stage.target.stopFlags, [true, false]);
  });

  it('skips, runs again, cancels and restarts through release', async () => {
    const client = await stage.launched();
    const threadId = await stage.held(client);
    stage.target.answers.release = (args) => {
      stage.target.emit('control', stage.target.live[0]!, {
        event: 'resumed',
        hold: args.hold,
        task: 1,
        why: 'release',
      });
      return {};
    };
    await client.request('toolbreak/skip', { threadId, result: '{"status": "lost"}' });
    assert.deepEqual(await client.waitFor('toolbreak/released'), { threadId, action: 'skip', client: 'client-1' });
    await client.waitFor('continued');
    await stage.held(client);
    const early = await refusal(client.request('toolbreak/again', { threadId }));
    assert.match(early.message, /has not run yet/);
    stage.target.hold({ task: 1, boundary: 'after' });
    await client.waitFor('stopped');
    await client.request('toolbreak/again', { threadId });
    await stage.held(client);
    const { targets } = await client.request('gotoTargets', { source: { path: FILE }, line: 13 });
    assert.deepEqual(
      targets.map((target) => target.label),
      ['Skip lookup_order(order_id=7)'],
    );
    await refusal(client.request('goto', { threadId, targetId: targets[0]!.id + 1 }));
    await client.request('goto', { threadId, targetId: targets[0]!.id });
    await stage.held(client);
    await refusal(client.request('goto', { threadId, targetId: targets[0]!.id }));
    const frames = await client.frames(threadId);
    await refusal(client.request('restartFrame', { frameId: frames[1]!.id }));
    await client.request('restartFrame', { frameId: frames[0]!.id });
    await stage.held(client);
    await client.request('terminateThreads', { threadIds: [threadId] });
    const actions = stage.target.requested('release').map((args) => (args as { action: string }).action);
    assert.deepEqual(actions, ['skip', 'again', 'skip', 'restart', 'cancel']);
  });

  it('offers the lines on which calls and lines of bodies can be stopped', async () => {
    const path = join(stage.folder, 'agent.py');
    writeFileSync(path, '@tool\ndef search(query):\n    return query\n\n\nasync def plan():\n    pass\n');
    const client = await stage.launched();
    const { breakpoints } = await client.request('breakpointLocations', { source: { path }, line: 1, endLine: 9 });
    assert.deepEqual(
      breakpoints.map(({ line }) => line),
      [2, 3, 6, 7],
    );
    assert.deepEqual(await client.request('breakpointLocations', { source: { path: '/no/such.py' }, line: 1 }), {
      breakpoints: [],
    });
  });

  it('completes, evaluates and sets with the numbers of the client', async () => {
    const client = stage.client();
    await client.initialize({ columnsStartAt1: false });
    const launched = client.send('launch', { program: FILE }).answer;
    await client.waitFor('initialized');
    await client.request('configurationDone', {});
    await launched;
    const threadId = await stage.held(client);
    const [frame] = await client.frames(threadId);
    stage.target.answers.completions = () => ({ targets: [{ label: 'args', start: 4, length: 2 }] });
    const { targets } = await client.request('completions', { text: 'x = ar', column: 6, frameId: frame!.id });
    assert.deepEqual(stage.target.requested('completions'), [{ frame: 1, text: 'x = ar', column: 7, hold: 10 }]);
    assert.deepEqual(targets, [{ label: 'args', start: 4, length: 2 }]);
    stage.target.answers.setExpression = () => {
      throw new UserError('order_id must be an integer.');
    };
    const refused = await refusal(
      client.request('setExpression', { expression: 'args["order_id"]', value: '"abc"', frameId: frame!.id }),
    );
    assert.equal(refused.message, 'order_id must be an integer.');
    assert.equal((await client.frames(threadId)).length, 3);
  });

  it('watches values in the state', async () => {
    const client = await stage.launched();
    const info = await client.request('dataBreakpointInfo', { name: 'state:verdict' });
    assert.deepEqual([info.dataId, info.accessTypes], ['state:verdict', ['write']]);
    assert.equal((await client.request('dataBreakpointInfo', { name: 'f()' })).dataId, null);
    await client.request('setDataBreakpoints', {
      breakpoints: [{ dataId: info.dataId!, condition: "value == 'scored'" }],
    });
    assert.deepEqual(stage.target.configurations.at(-1)!.breakpoints, [
      {
        id: 1,
        enabled: true,
        target: { type: 'data', path: 'verdict' },
        boundaries: ['after'],
        condition: "value == 'scored'",
      },
    ]);
  });

  it('refuses breakpoints that make no sense with a sentence each', async () => {
    const client = await stage.launched();
    const { breakpoints } = await client.request('setBreakpoints', {
      source: { path: FILE },
      breakpoints: [
        { line: 1, mode: 'sideways' },
        { line: 2, hitCondition: 'often' },
        { line: 3, mode: 'before and after' },
      ],
    });
    assert.deepEqual(
      breakpoints.map((b) => [b.verified, b.message]),
      [
        [false, 'The mode "sideways" is not known. Use before, after, "before and after" or error.'],
        [false, 'The hit count "often" cannot be read. Use a number, or one of ==5, >5, >=5, <5, %3.'],
        [true, undefined],
      ],
    );
    const filters = await client.request('setExceptionBreakpoints', {
      filters: ['tool', 'everything'],
      filterOptions: [{ filterId: 'model', condition: 'True' }],
    });
    assert.deepEqual(
      filters?.breakpoints?.map((b) => b.verified),
      [true, false, true],
    );
    assert.deepEqual(stage.target.configurations.at(-1)!.exceptions, [
      { filter: 'tool' },
      { filter: 'model', condition: 'True' },
    ]);
  });

  it('hears when a hold ends by itself', async () => {
    const client = await stage.launched();
    const threadId = await stage.held(client);
    stage.target.emit('control', stage.target.live[0]!, { event: 'resumed', hold: 10, task: 1, why: 'deadline' });
    assert.equal((await client.waitFor('continued')).threadId, threadId);
    assert.equal(
      (await refusal(client.request('continue', { threadId }))).message,
      'agent-1 is running. Pause it first.',
    );
  });

  it('forgets the tasks of a process that dies while held', async () => {
    const client = await stage.launched();
    const threadId = await stage.held(client);
    stage.target.answers.release = () => Promise.reject(new UserError('triage.py is gone.'));
    const [process] = stage.target.live.splice(0);
    stage.target.emit('processEnded', process!, true);
    assert.deepEqual(await client.waitFor('thread', (body) => body.reason === 'exited'), {
      reason: 'exited',
      threadId,
    });
    assert.equal((await refusal(client.request('continue', { threadId }))).message, 'This task has ended.');
  });

  it('answers unknown and cancelled requests', async () => {
    const client = await stage.launched();
    const threadId = await stage.held(client);
    const [frame] = await client.frames(threadId);
    assert.equal((await refusal(client.send('fly').answer)).message, 'The request "fly" is not supported.');
    assert.equal((await refusal(client.send('__proto__').answer)).message, 'The request "__proto__" is not supported.');
    let asked!: () => void;
    const evaluating = new Promise<void>((resolve) => (asked = resolve));
    stage.target.answers.evaluate = () => {
      asked();
      return new Promise(() => undefined);
    };
    const slow = client.send('evaluate', { expression: 'while_true()', frameId: frame!.id, context: 'watch' });
    await evaluating;
    await client.send('cancel', { requestId: slow.seq }).answer;
    assert.equal((await refusal(slow.answer)).message, 'cancelled');
  });

  it('explains a name that matches nothing, and says so no more when it is known', async () => {
    stage.prepare = (target) => {
      target.states = (configuration) => configuration.breakpoints.map(({ id }) => ({ id, verified: false }));
      target.answers.names = () => ({
        names: ['search', 'refund', 'lookup_order'].map((name) => ({ kind: 'tool', name })),
      });
    };
    const client = await stage.launched();
    const set = (name: string) => client.request('setFunctionBreakpoints', { breakpoints: [{ name }] });
    const [wrong] = (await set('tool:serach')).breakpoints;
    assert.deepEqual(
      [wrong?.verified, wrong?.message],
      [false, 'No tool matches. Known tools: lookup_order, refund, search'],
    );
    const [bad] = (await set('tol:search')).breakpoints;
    assert.equal(bad?.message, '"tol" is not a kind of call. Use tool, node, workflow, llm or function.');
    const [waiting] = (await set('tool:search')).breakpoints;
    assert.equal(waiting?.message, 'Waiting for the first call.');
    const { id } = stage.target.configurations.at(-1)!.breakpoints[0]!;
    const say = (state: Omit<BreakpointState, 'id'>) =>
      stage.target.emit('control', stage.target.live[0]!, { event: 'breakpoints', breakpoints: [{ id, ...state }] });
    say({ verified: false, message: 'No tool matches yet.' });
    say({ verified: true });
    const changed = await client.waitFor('breakpoint', (body) => body.breakpoint.verified);
    assert.deepEqual([changed.breakpoint.id, changed.breakpoint.message], [waiting?.id, undefined]);
  });

  it('keeps what a process said of a breakpoint when names come after its end', async () => {
    let answer = (): void => undefined;
    let isAsked = (): void => undefined;
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    const names = new Promise<{ names: [] }>((resolve) => (answer = () => resolve({ names: [] })));
    stage.prepare = (target) => {
      target.states = (configuration) => configuration.breakpoints.map(({ id }) => ({ id, verified: false }));
    };
    const client = await stage.launched();
    await client.request('setFunctionBreakpoints', { breakpoints: [{ name: 'tool:search' }] });
    stage.target.answers.names = () => {
      isAsked();
      return names;
    };
    const { id } = stage.target.configurations.at(-1)!.breakpoints[0]!;
    const [process] = stage.target.live;
    const message = "Condition failed once: KeyError 'total'. The breakpoint did not stop.";
    const breakpoints = [{ id, verified: false, message }];
    stage.target.emit('control', process!, { event: 'breakpoints', breakpoints });
    await client.waitFor('breakpoint', ({ breakpoint }) => breakpoint.message === message);
    await asked;
    stage.target.live.splice(0);
    stage.target.emit('processEnded', process!, true);
    answer();
    await client.request('threads', {});
    assert.deepEqual(client.pending('breakpoint'), []);
  });
});
