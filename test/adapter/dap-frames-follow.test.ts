import assert from 'node:assert/strict';
import type { Frame } from '../../protocol/control';
import type { DapClient } from '../support/dap-client';
import { Stage } from './dap-support';

const frames = ['work', 'main', '_start'].map((name, index): Frame => ({
  id: index + 1,
  kind: 'native',
  name,
  detail: '',
  line: 0,
  subtle: false,
  canRestart: false,
}));
const TASK = 7;
const HOLD = 70;

describe('A stop that is told before its frames', () => {
  let stage: Stage;
  let client: DapClient;
  let threadId: number;
  beforeEach(async () => {
    stage = new Stage();
    client = await stage.launched();
    // What was told before the stop is no part of what is looked at.
    stage.recorded.length = 0;
  });
  afterEach(async () => {
    await stage.end();
    assert.deepEqual(stage.problems, []);
  });

  const hold = async (id = HOLD): Promise<void> => {
    const follows = { frames: [], moreFrames: true, framesFollow: true };
    stage.target.hold({ id, task: TASK, boundary: 'line', whole: true, ...follows });
    threadId = (await client.waitFor('stopped')).threadId!;
  };
  const tellFrames = (id = HOLD): void =>
    stage.target.emit('control', stage.target.live[0]!, {
      event: 'frames',
      hold: id,
      task: TASK,
      frames: [...frames],
      moreFrames: false,
    });
  const recorded = (): [string, unknown][] => stage.recorded.map(({ name, data }) => [name, data['backtrace']]);
  const names = async (): Promise<string[]> => (await client.frames(threadId)).map(({ name }) => name);
  const whole = ['work', 'main', '_start'];

  it('is recorded with them, and shows each of them once', async () => {
    await hold();
    assert.deepEqual(recorded(), []);
    let asked!: () => void;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    let answer!: () => void;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    stage.target.answers.frames = async () => {
      asked();
      await answered;
      return { frames: [...frames], more: false };
    };
    const shown = names();
    await isAsked;
    tellFrames();
    answer();
    assert.deepEqual(await shown, whole);
    assert.deepEqual(await names(), whole);
    await client.request('continue', { threadId });
    tellFrames();
    assert.deepEqual(recorded(), [
      ['stop', whole],
      ['release', undefined],
    ]);
  });

  it('is recorded without them where it ends before', async () => {
    await hold();
    await client.request('continue', { threadId });
    tellFrames();
    await hold(HOLD + 1);
    stage.target.end(0);
    await client.waitFor('terminated');
    assert.deepEqual(recorded().slice(0, 3), [
      ['stop', []],
      ['release', undefined],
      ['stop', []],
    ]);
  });

  it('has them also where it came before the answer of the step to it', async () => {
    await hold();
    tellFrames();
    stage.target.answers.release = () => {
      const follows = { frames: [], moreFrames: true, framesFollow: true };
      stage.target.hold({ id: HOLD + 1, task: TASK, boundary: 'line', whole: true, ...follows });
      tellFrames(HOLD + 1);
      return {};
    };
    await client.request('next', { threadId });
    await client.waitFor('stopped');
    assert.deepEqual(await names(), whole);
    assert.deepEqual(recorded(), [
      ['stop', whole],
      ['release', undefined],
      ['stop', whole],
    ]);
  });
});
