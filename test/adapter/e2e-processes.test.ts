import assert from 'node:assert/strict';
import { join } from 'node:path';
import { apps, rows, scenes, type Scene, type Stop } from './e2e-support';

const program = join(apps, 'pools', 'pools.py');
const child = join(apps, 'pools', 'child.py');

scenes('Threads and processes', (scene) => {
  const dots = { [program]: ['square'], [child]: ['cube'] };

  /** Name of the thread as the Call Stack shows it. */
  async function threadOf(s: Scene, stop: Stop): Promise<string> {
    const { threads } = await s.client.request('threads', {});
    return threads.find(({ id }) => id === stop.threadId)?.name ?? 'no thread';
  }

  /** Processes of the run file that made calls of this function, with the number of calls. */
  function callers(runFile: string, name: string): { process: number; pid: number; calls: number }[] {
    return rows(
      runFile,
      `SELECT t.process, p.pid, count(*) AS calls FROM calls c JOIN functions f ON f.id = c.function
       JOIN tasks t ON t.id = c.task JOIN processes p ON p.id = t.process WHERE f.name = '${name}' GROUP BY t.process`,
    );
  }

  it('holds the calls of a thread pool at the same time, each released on its own', async () => {
    const s = scene();
    await s.launch({ program, args: ['threads'] }, { dots });
    const stops = [await s.stop(), await s.stop(), await s.stop()];
    assert.equal(new Set(stops.map(({ threadId }) => threadId)).size, 3);
    for (const stop of stops) assert.match(await threadOf(s, stop), /^ThreadPoolExecutor-0_\d/);
    // The last one first.
    for (const stop of stops.reverse()) {
      assert.match(await s.evaluate(stop, 'n * 10'), /^(0|10|20)$/);
      await s.set(stop, 'Arguments', 'n', 'n + 1');
      await s.go(stop);
    }
    assert.equal(await s.exit(), 'threads: [1, 4, 9]\n');
  });

  it('holds workers of a process pool as threads of the session', async () => {
    const s = scene();
    await s.launch({ program, args: ['processes'] }, { dots });
    const first = await s.stop();
    assert.match(await threadOf(s, first), / › SpawnProcess-\d+$/);
    const seen = [first];
    await s.set(first, 'Arguments', 'n', '10');
    await s.go(first);
    for (let left = 2; left > 0; left--) {
      const stop = await s.stop();
      seen.push(stop);
      await s.go(stop);
    }
    const text = await s.exit();
    assert.equal(text.match(/\b100\b/g)?.length, 1, text);
    const made = callers(await s.recording(), 'square');
    assert.equal(
      made.reduce((sum, { calls }) => sum + calls, 0),
      3,
    );
    assert.ok(made.length >= 1 && made.length <= 2);
  });

  for (const way of ['spawn', 'fork', 'forkserver'] as const) {
    it(`holds a child made by ${way}`, async () => {
      const s = scene();
      const app =
        way === 'forkserver'
          ? s.app(
              'serve.py',
              `
import multiprocessing

def square(n):  # BP: square
    return n * n

def worker(n, queue):
    queue.put(square(n))

if __name__ == "__main__":
    context = multiprocessing.get_context("forkserver")
    queue = context.Queue()
    process = context.Process(target=worker, args=(6, queue), name="forkserver-worker")
    process.start()
    print("forkserver:", queue.get())
    process.join()
`,
            )
          : program;
      await s.launch(
        { program: app, args: [way], record: { functions: ['@usercode'] } },
        { dots: { [app]: ['square'] } },
      );
      const stop = await s.stop();
      assert.match(await threadOf(s, stop), new RegExp(` › ${way}-worker`));
      assert.equal(stop.name, 'square(n=6) · function, before');
      await s.set(stop, 'Arguments', 'n', '5');
      const { processes } = await s.client.request('toolbreak/status', {});
      assert.ok(processes.length >= 2, JSON.stringify(processes));
      await s.go(stop);
      assert.equal(await s.exit(), `${way}: 25\n`);
      const runFile = await s.recording();
      const [made, ...more] = callers(runFile, 'square');
      assert.deepEqual(more, []);
      assert.equal(made!.calls, 1);
      const [parent] = rows<{ pid: number }>(runFile, 'SELECT pid FROM processes ORDER BY id LIMIT 1');
      assert.notEqual(made!.pid, parent!.pid);
    });
  }

  it('holds a call of a program that the app starts', async () => {
    const s = scene();
    await s.launch({ program, args: ['program'] }, { dots });
    const stop = await s.stop();
    assert.match(await threadOf(s, stop), /^child\.py/);
    await s.set(stop, 'Arguments', 'n', '2');
    await s.go(stop);
    assert.equal(await s.exit(), 'program: 8\n');
  });

  it('leaves children alone with "subProcess": false', async () => {
    const s = scene();
    await s.launch({ program, args: ['program', 'spawn'], subProcess: false }, { dots });
    assert.equal(await s.exit(), 'program: 512\nspawn: 36\n');
    assert.deepEqual(callers(await s.recording(), 'cube'), []);
  });

  it('holds calls in two processes at once, and the session ends when both ended', async () => {
    const s = scene();
    const app = s.app(
      'two.py',
      `
import multiprocessing

def tool(n):  # BP: tool
    return n

def worker(n, queue):
    queue.put(tool(n))

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    processes = [context.Process(target=worker, args=(n, queue), name=f"worker-{n}") for n in (1, 2)]
    for process in processes:
        process.start()
    print(sorted([queue.get(), queue.get()]), tool(3))
    for process in processes:
        process.join()
`,
    );
    await s.launch({ program: app }, { dots: { [app]: ['tool'] } });
    const stops = [await s.stop(), await s.stop()];
    const names = (await Promise.all(stops.map((stop) => threadOf(s, stop)))).sort();
    assert.deepEqual(
      names.map((name) => name.replace(/^.* › /, '')),
      ['worker-1', 'worker-2'],
    );
    for (const stop of stops) {
      await s.set(stop, 'Arguments', 'n', 'n * 10');
      await s.go(stop);
    }
    const main = await s.stop();
    assert.equal(main.name, 'tool(n=3) · function, before');
    await s.go(main);
    assert.equal(await s.exit(), '[10, 20] 3\n');
  });
});
