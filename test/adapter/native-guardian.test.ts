import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { isAlive, startTimeOf } from '../../adapter/common/processes';
import { guardianProgram, type Watched } from '../../adapter/targets/delegate/guard';
import { until } from './e2e-support';

describe('The guardian of a native debugger', () => {
  const started: ChildProcess[] = [];
  afterEach(() => started.splice(0).forEach((child) => child.kill('SIGKILL')));

  /** A process that lasts until its input ends. */
  function lasting(): ChildProcess {
    const child = spawn('cat', { stdio: ['pipe', 'pipe', 'ignore'] });
    started.push(child);
    return child;
  }

  /** What becomes of a process when the adapter dies, by what its guardian was told of it. */
  async function afterwards(
    told: (child: ChildProcess) => Promise<Watched | undefined>,
    known: (child: ChildProcess) => string[] = () => [],
  ): Promise<ChildProcess> {
    const [delegate, held] = [lasting(), lasting()];
    const stdio = ['pipe', 'ignore', 'inherit', delegate.stdin, delegate.stdout] as const;
    const command = [...guardianProgram(), String(delegate.pid), ...known(held)];
    const guardian = spawn(process.execPath, command, { stdio: [...stdio] });
    started.push(guardian);
    // As from an adapter that dies after it has told this. What stands for the debugger ends with its input, which the guardian shares.
    const line = await told(held);
    guardian.stdin!.end(line === undefined ? '' : `${JSON.stringify(line)}\n`);
    delegate.stdin!.destroy();
    await until(() => !isAlive(guardian.pid!), 'the end of the guardian');
    return held;
  }

  it('ends a program that was launched when the adapter dies', async () => {
    const held = await afterwards(async ({ pid }) => ({ pid: pid!, ends: true, born: await startTimeOf(pid!) }));
    await until(() => held.signalCode === 'SIGKILL', 'the end of the program');
  });

  it('ends it also when the adapter dies before it says a word', async () => {
    const held = await afterwards(
      () => Promise.resolve(undefined),
      ({ pid }) => [JSON.stringify({ pid, ends: true })],
    );
    await until(() => held.signalCode === 'SIGKILL', 'the end of the program');
  });

  it('leaves a process alone that got the number of one that ended', async () => {
    const held = await afterwards(({ pid }) => Promise.resolve({ pid: pid!, ends: true, born: 'long ago' }));
    assert.ok(isAlive(held.pid!));
  });
});
