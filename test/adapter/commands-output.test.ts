import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { toolbreakCommand } from '../support/adapter';
import { AGENT_EVENTS, agentSpool, RecordedProject } from './recorded';

describe('commands: with an output that fails', function () {
  this.timeout(60_000);
  let project: RecordedProject;
  before(() => {
    project = new RecordedProject();
    project.record('first', [agentSpool()], AGENT_EVENTS);
  });
  after(() => project.remove());

  const WAYS = [['query'], ['runs', '--json'], ['sessions'], ['sessions', '--json']];

  /** With its output into this, which is closed here at once. */
  async function into(stdout: number | 'pipe', args: string[]): Promise<[number | null, string]> {
    const child = spawn(process.execPath, toolbreakCommand(...args), {
      cwd: project.project,
      env: { ...process.env, XDG_STATE_HOME: project.state, HOME: project.root, LOCALAPPDATA: project.state },
      stdio: ['ignore', stdout, 'pipe'],
    });
    child.stdout?.destroy();
    const [stderr, [code]] = await Promise.all([text(child.stderr!), once(child, 'close') as Promise<[number | null]>]);
    return [code, stderr];
  }

  it('says nothing to who has read enough', async () => {
    for (const args of WAYS) assert.deepEqual(await into('pipe', args), [0, ''], args.join(' '));
  });

  if (process.platform === 'linux')
    it('says that the disk is full', async () => {
      const full = openSync('/dev/full', 'w');
      try {
        for (const args of WAYS) {
          const [code, stderr] = await into(full, args);
          assert.match(stderr, /^toolbreak: The output could not be written: .*no space left.*\n$/, args.join(' '));
          assert.equal(code, 1);
        }
      } finally {
        closeSync(full);
      }
    });
});
