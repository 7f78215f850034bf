import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Client } from '../../adapter/dap/client';
import { RunningNames } from '../../adapter/dap/runningNames';
import type { Engine } from '../../adapter/engine/engine';
import type { Task } from '../../adapter/engine/tasks';

describe('DAP: when names of running tasks are looked at again', () => {
  const task = { thread: 1, name: 'agent', where: 'in llm:x, 0.3 s', process: { index: 1 } } as Task;
  let looks: (() => void)[];
  let resume: () => void;
  let names: RunningNames;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    looks = [];
    const engine = {
      on: (_name: string, listener: () => void) => (resume = listener),
      tasks: { all: () => [task] },
      threads: () => new Promise((resolve) => looks.push(() => resolve([task]))),
    };
    names = new RunningNames(engine as unknown as Engine, new Set());
    names.told({} as Client, [task]);
  });
  afterEach(() => mock.timers.reset());

  /** The last look gets its answer. */
  async function answered(): Promise<void> {
    looks.at(-1)!();
    await new Promise((resolve) => setImmediate(resolve));
  }

  it('later each time that nothing has changed', async () => {
    for (const wait of [1000, 2000, 4000, 4000]) {
      const before = looks.length;
      mock.timers.tick(wait - 1);
      assert.equal(looks.length, before);
      mock.timers.tick(1);
      assert.equal(looks.length, before + 1);
      await answered();
    }
  });

  it('once, also where a task goes on while they are looked at', async () => {
    mock.timers.tick(1000);
    resume();
    await answered();
    for (let second = 1; second <= 14; second++) {
      mock.timers.tick(1000);
      await answered();
    }
    // After 1, 2, 4, 8 and 12 s.
    assert.equal(looks.length, 5);
  });
});
