import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../adapter/common/errors';
import { refusal, Stage } from './dap-support';

const FILE = '/app/triage.py';

describe('DAP session: beginning, end and restart', () => {
  let stage: Stage;
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(async () => {
    await stage.end();
    assert.deepEqual(stage.problems, []);
  });

  it('says once that it exited and once that it is over, and closes the recording before', async () => {
    const client = await stage.launched();
    await stage.held(client);
    await client.request('terminate', {});
    assert.deepEqual(await client.waitFor('exited'), { exitCode: 0 });
    await client.waitFor('terminated');
    assert.equal(stage.recordersClosed, 1);
    await client.request('disconnect', {});
    await client.closed;
    const events = client.messages.flatMap(({ message }) => ('event' in message ? [message.event] : []));
    assert.equal(events.filter((event) => event === 'exited').length, 1);
    assert.equal(events.filter((event) => event === 'terminated').length, 1);
  });

  it('restarts in the same session, with the same breakpoints and new threads', async () => {
    const client = await stage.launched((c) =>
      c.request('setBreakpoints', { source: { path: FILE }, breakpoints: [{ line: 12 }] }),
    );
    const threadId = await stage.held(client);
    const [old] = stage.targets;
    await client.request('restart', {});
    assert.deepEqual(old?.ends, ['kill']);
    old?.end(1);
    assert.equal(stage.targets.length, 2);
    assert.equal(stage.target.configurations[0]?.breakpoints.length, 1);
    assert.notEqual(await stage.held(client), threadId);
    assert.deepEqual(client.pending('exited'), []);
  });

  it('ends the app when the client that launched it leaves, unless it says otherwise', async () => {
    const leaving = await stage.launched();
    await leaving.end();
    await stage.session.done;
    assert.deepEqual(stage.target.ends, ['kill']);
    const other = new Stage();
    const polite = await other.launched();
    await polite.request('disconnect', { terminateDebuggee: false });
    await other.end();
    assert.deepEqual(other.target.ends, ['detach']);
  });

  it('leaves an attached app running', async () => {
    const client = stage.client();
    await client.attach({ connect: 5678 });
    assert.equal(stage.targetRequests[0]?.mode, 'attach');
    await client.request('disconnect', {});
    assert.deepEqual(stage.target.ends, ['detach']);
  });

  it('leaves an app running when the client goes while it attaches', async () => {
    stage.prepare = (target) => {
      // It is connected, and takes its time with the breakpoints.
      target.configure = () => new Promise(() => undefined);
    };
    const client = stage.client();
    const attaching = client.attach({ connect: 5678 });
    await client.waitFor('process');
    await Promise.all([client.end(), assert.rejects(attaching)]);
    await stage.session.done;
    assert.ok(stage.target.ends.length > 0);
    assert.deepEqual(
      stage.target.ends.filter((end) => end !== 'detach'),
      [],
    );
  });

  it('restarts once, and not at all when the session ended meanwhile', async () => {
    const client = await stage.launched();
    let killed!: () => void;
    stage.target.kill = () => new Promise((resolve) => (killed = resolve));
    const restart = client.send('restart', {}).answer;
    const second = await refusal(client.request('restart', {}));
    assert.equal(second.message, 'The app is being restarted already.');
    await client.request('terminate', {});
    await client.waitFor('terminated');
    killed();
    assert.equal((await refusal(restart)).message, 'The session has ended.');
    assert.equal(stage.targets.length, 1);
  });

  it('says once that it is over when a restart fails, to every client', async () => {
    const client = await stage.launched();
    const other = stage.client();
    await other.attach({});
    stage.prepare = (target) => (target.startError = new UserError('Python not found.'));
    await refusal(client.request('restart', {}));
    for (const one of [client, other]) {
      await one.waitFor('terminated');
      await one.request('toolbreak/status', {});
      assert.deepEqual(one.pending('terminated'), []);
    }
  });

  it('lists the tasks of those that answer, beside a process that does not', async () => {
    const client = await stage.launched();
    const busy = stage.target.addProcess('worker.py');
    stage.target.answers.tasks = (_, process) =>
      process === busy ? new Promise(() => undefined) : { tasks: [{ id: 1, name: 'agent', where: 'in llm:x' }] };
    const { threads } = await client.request('threads', {});
    assert.deepEqual(
      threads.map(({ name }) => name),
      ['agent — in llm:x'],
    );
  });

  it('gives up a launch that is left before it was configured', async () => {
    const client = stage.client();
    await client.initialize();
    const launch = client.send('launch', { program: FILE }).answer;
    await client.waitFor('initialized');
    await client.request('terminate', {});
    assert.equal((await refusal(launch)).message, 'The session ended before the app started.');
    await client.waitFor('terminated');
    assert.equal(stage.targets.length, 0);
  });

  it('starts after a launch that was cancelled before it was configured', async () => {
    const client = stage.client();
    await client.initialize();
    const first = client.send('launch', { program: FILE });
    await client.waitFor('initialized');
    await client.send('cancel', { requestId: first.seq }).answer;
    await refusal(first.answer);
    await client.launch({ program: FILE }, () => Promise.resolve());
    assert.equal(stage.targets.length, 1);
  });

  it('writes a trace without secrets', async () => {
    const client = await stage.launched(undefined, {
      trace: true,
      env: { OPENAI_API_KEY: 'plain-secret-1', MY_PIN: 'plain-secret-2' },
      record: { maskKeys: ['*pin*'] },
    });
    const threadId = await stage.held(client);
    stage.target.answers.evaluate = () => ({ name: '', value: "'plain-secret-3'", ref: 0, editable: false });
    const [frame] = await client.frames(threadId);
    await client.request('evaluate', { expression: 'args["password"]', frameId: frame!.id });
    stage.target.emit('output', 'stdout', 'password=plain-');
    stage.target.emit('output', 'stdout', 'secret-4\n');
    await client.waitForOutput('stdout', 'secret-4');
    const trace = readFileSync(join(stage.folder, 'trace.log'), 'utf8');
    assert.match(trace, /stopped/);
    assert.match(trace, /control 1 evaluate/);
    assert.doesNotMatch(trace, /plain-secret/);
    // Each of its halves came alone, and neither has a form of its own.
    assert.doesNotMatch(trace, /plain-|secret-4/);
    assert.match(trace, /"category":"stdout","output":"\(15 characters\)"/);
    assert.doesNotMatch(trace, /args\[\\+"password/);
    assert.doesNotMatch(JSON.stringify(stage.recorded), /plain-secret/);
    assert.ok(stage.recorded.some((one) => one.name === 'output'));
  });

  it('writes a trace to a file of the working directory', async () => {
    await stage.launched(undefined, { trace: 'own.log', cwd: stage.folder });
    assert.match(readFileSync(join(stage.folder, 'own.log'), 'utf8'), /launch/);
  });

  it('records nothing when nothing is to be recorded, or debugged', async () => {
    await stage.launched(undefined, { record: false });
    assert.equal(stage.recorderOptions, undefined);
    assert.equal(stage.targetRequests[0]?.spoolFolder, undefined);
  });

  it('shows progress when a start takes long', async () => {
    const slow = new Stage(0);
    let go!: () => void;
    slow.prepare = (target) => (target.start = () => new Promise((resolve) => (go = resolve)));
    const client = slow.client();
    const launched = client.launch({ program: FILE });
    assert.equal((await client.waitFor('progressStart')).title, 'Starting triage.py');
    go();
    await launched;
    await client.waitFor('progressEnd');
    await slow.end();
  });
});
