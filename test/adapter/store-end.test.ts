import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isAlive, startMark } from '../../adapter/store/alive';
import { DapClient } from '../support/dap-client';
import { findPython } from '../support/python';
import { ReaderProcess, until } from './store-support';

const root = join(__dirname, '..', '..');
const CALLS = 20_000;

/** Makes many calls; with `wait` it then says so and goes on calling until it is killed. */
const PROGRAM = `
import os, sys

def work(number, text):
    return {"number": number, "text": text * 20}

def main(calls):
    for number in range(calls):
        work(number, "abc")

main(${CALLS})
print("pid", os.getpid(), flush=True)
while "wait" in sys.argv:
    main(100)
`;

describe('store: the end of a run', function () {
  this.timeout(120_000);
  let folder: string;
  let client: DapClient;
  let reader: ReaderProcess;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolbreak-test-'));
    mkdirSync(join(folder, 'work'));
    writeFileSync(join(folder, 'work', 'many.py'), PROGRAM);
    const env = { ...process.env, XDG_STATE_HOME: join(folder, 'state'), XDG_RUNTIME_DIR: folder };
    const command = ['--import', 'tsx', join(root, 'adapter', 'doors', 'start.ts'), 'dap'];
    client = DapClient.start(process.execPath, command, { cwd: root, env });
    reader = new ReaderProcess();
  });
  afterEach(async () => {
    reader.end();
    await client.end();
    rmSync(folder, { recursive: true, force: true });
  });

  async function launch(args: string[] = []): Promise<string> {
    const program = join(folder, 'work', 'many.py');
    await client.launch({
      program,
      args,
      python: findPython(),
      cwd: dirname(program),
      record: { functions: ['@usercode'] },
    });
    return (await client.waitFor('toolbreak/run')).runFile;
  }

  async function run(file: string) {
    const { runs } = await reader.ask('runs', { folder: dirname(file) });
    assert.equal(runs.length, 1);
    return runs[0]!;
  }

  /** `many.py` itself may be recorded as a call, too. */
  const whole = (calls: number): boolean => calls >= CALLS + 1;

  it('is whole on the timeline after kill -9 of the adapter right after it said that all is over', async () => {
    const file = await launch();
    await client.waitFor('terminated');
    // Its streams end before it is gone; what still lives is not taken over.
    const gone = once(client.child!, 'exit');
    client.child!.kill('SIGKILL');
    await gone;
    const found = await run(file);
    assert.ok(whole(found.calls), `${found.calls} calls`);
    assert.deepEqual([found.live, found.reading, found.errors], [false, undefined, 0]);
    const { buckets } = await reader.ask('overview', { file, buckets: 50 });
    assert.equal(
      buckets.reduce((sum, bucket) => sum + bucket.calls, 0),
      found.calls,
    );
  });

  it('is read to its end in the background when the editor leaves at once and ends the adapter', async () => {
    const file = await launch();
    await client.waitFor('terminated');
    const { pid } = client.child!;
    const mark = startMark(pid!);
    void client.request('disconnect', {}).catch(() => undefined);
    client.child!.stdin!.end();
    client.child!.kill('SIGTERM');
    await until(() => !isAlive(pid!, mark), 'the adapter to end');
    const found = await run(file);
    assert.ok(whole(found.calls), `${found.calls} calls`);
    assert.equal(found.live, false);
    const sessions = join(folder, 'state', 'toolbreak', 'sessions');
    const [session] = readdirSync(sessions, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    assert.equal(
      existsSync(join(sessions, session!.name, 'spool')),
      false,
      'what is in the run file has no spool any more',
    );
  });

  it('is recovered when the timeline is opened, after kill -9 of app and adapter in the middle', async () => {
    const file = await launch(['wait']);
    await client.waitForOutput('stdout', '\n');
    const app = Number(/pid (\d+)/.exec(client.output['stdout'] ?? '')![1]);
    const mark = startMark(app);
    const gone = once(client.child!, 'exit');
    client.child!.kill('SIGKILL');
    process.kill(app, 'SIGKILL');
    await gone;
    await until(() => !isAlive(app, mark), 'the app to end');
    const found = await run(file);
    assert.ok(whole(found.calls), `${found.calls} calls`);
    assert.equal(found.live, false);
    const { calls } = await reader.ask('calls', { file, from: 0, to: found.duration, minimum: 0, limit: 20_000 });
    assert.equal(calls.filter((call) => call.state === 'running').length, 0, 'what was running is ended');
    assert.equal((await run(file)).calls, found.calls, 'taken over once');
    assert.ok(readFileSync(file).length > 0);
  });
});
