import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, listProcesses, processesWithEnvironment } from '../../adapter/common/processes';
import { checkRun } from '../../adapter/store/life/check';
import { runQuery } from '../../adapter/store/query/query';
import type { Query } from '../../protocol/query';
import type { DapClient } from '../support/dap-client';
import { environment, functions, probes, run, startAdapter, type Outcome } from './e2e-outcomes-support';
import { toolbreakCommand } from '../support/adapter';
import { Place, python, until } from './target-support';

const program = join(probes, 'steady.py');
/** `TOOLBREAK_KILLS=1000` for a long run of everything here. */
const KILLS = Number(process.env['TOOLBREAK_KILLS'] ?? 40);
/** Each of these kills several processes, and leaves much to read. */
const HEAVY_KILLS = Math.ceil(KILLS / 8);
const SEED = Number(process.env['TOOLBREAK_KILL_SEED'] ?? Date.now() % 1_000_000);
const GONE = 'Toolbreak: the debugger went away; the program goes on.\n';
const AT_ONCE = 2;

/** Small and seeded, so that a failure can be had again. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Scene {
  place: Place;
  client: DapClient;
  /** Set where the app runs in the test's own terminal. */
  inTerminal: Promise<Outcome> | undefined;
  pid: number;
}

interface Manner {
  terminal?: boolean;
  hold?: boolean;
  /** Threads of each process, and processes below the first one. */
  load?: [threads: number, children: number];
}

async function begin(calls: number, options: Manner): Promise<Scene> {
  const place = new Place();
  const client = await startAdapter(place.folder);
  const scene: Scene = { place, client, inTerminal: undefined, pid: 0 };
  client.answer('runInTerminal', (given) => {
    const { args, cwd, env } = given as { args: string[]; cwd: string; env: Record<string, string> };
    return new Promise((resolve) => {
      const options = { cwd, env: { ...environment(place.folder), ...env } };
      scene.inTerminal = run(args, { ...options, onPid: (processId) => resolve({ processId }) });
    });
  });
  await client.initialize({ supportsRunInTerminalRequest: true });
  const launched = client.send('launch', {
    program,
    args: [place.folder, calls, ...(options.load ?? [])].map(String),
    cwd: probes,
    python,
    record: { functions: ['@usercode'] },
    ...(options.terminal && { console: 'integratedTerminal' }),
  }).answer;
  // Its adapter may be killed before it answers.
  launched.catch(() => undefined);
  await client.waitFor('initialized');
  if (options.hold) {
    // The second function is the one that is called once.
    const breakpoints = [{ line: functions(program)[1]! }];
    await client.request('setBreakpoints', { source: { path: program }, breakpoints });
  }
  await client.request('configurationDone', {});
  scene.pid = (await client.waitFor('process')).systemProcessId!;
  return scene;
}

async function end({ place, client, pid }: Scene): Promise<void> {
  if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  await client.end();
  place.remove();
}

/** Calls that the app says returned, one number a thread, by process. */
function returned({ place }: Scene): Map<number, number[]> {
  const counts = new Map<number, number[]>();
  for (const name of readdirSync(place.folder)) {
    const pid = Number(/^returned-(\d+)-\d+$/.exec(name)?.[1]);
    if (!pid) continue;
    const bytes = readFileSync(join(place.folder, name));
    counts.set(pid, [...(counts.get(pid) ?? []), bytes.length === 8 ? Number(bytes.readBigUInt64LE()) : 0]);
  }
  return counts;
}

/** Whether so many processes have so many threads each in which a call returned. */
function isBusy(scene: Scene, processes: number, threads: number): boolean {
  const counts = [...returned(scene).values()];
  return counts.length === processes && counts.every((each) => each.length === threads && each.every((one) => one > 0));
}

/** Calls of the tool in a run file. */
function recorded(runFile: string, query: Query): number {
  const whole = { rows: 1e9, counting: 1e9, milliseconds: 60_000 };
  const { rows, more, problems } = runQuery([runFile], { name: { equals: 'tool' }, limit: 1, ...query }, whole);
  assert.deepEqual(problems, []);
  assert.equal(more.exact, true);
  return rows.length + more.count;
}

/** Every call that returned is there, nothing runs any more, and all of the file can be read. */
function assertWhole(scene: Scene, runFile: string): void {
  for (const [pid, counts] of returned(scene)) {
    const said = counts.reduce((sum, count) => sum + count, 0);
    const found = recorded(runFile, { process: pid, status: ['returned'] });
    // A call may have returned whose note was not made any more, one in each thread.
    assert.ok(
      found >= said && found <= said + counts.length,
      `${pid}: ${found} recorded, ${counts.join(' + ')} returned`,
    );
  }
  assert.equal(recorded(runFile, { status: ['running'] }), 0);
  const { whole, problems } = checkRun(runFile);
  assert.deepEqual({ whole, problems }, { whole: true, problems: [] });
}

/** What is left to read after the last answer is read before the adapter's process ends, however much it is. */
async function adapterEnded({ client }: Scene): Promise<void> {
  const child = client.child!;
  // As long as that takes: how much there is to read, and how quick the machine is, are no matter of right or wrong.
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Takes over what a dead session recorded, as the next session does, or whoever opens the timeline. */
async function takeOver({ place }: Scene): Promise<void> {
  const tidy = [process.execPath, ...toolbreakCommand('tidy')];
  const { code, stderr } = await run(tidy, { cwd: probes, env: environment(place.folder) });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
}

/** Nothing that was started for the scene, or by it, goes on. */
async function assertNoOrphan({ place }: Scene): Promise<void> {
  const left = async (): Promise<number[]> => processesWithEnvironment(await listProcesses(), place.folder);
  // Pruning goes on for a moment behind a session.
  await until(async () => (await left()).length === 0, 'all processes to end');
}

function runFileOf(place: Place): string {
  const projects = join(place.folder, 'state', 'toolbreak', 'projects');
  const found = readdirSync(projects, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.db'));
  assert.equal(found.length, 1, found.join());
  return join(projects, found[0]!);
}

/** So many kills, a few at a time; a failure says with which seed. */
async function kills(times: number, one: (random: () => number, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < times; index = next++) {
      try {
        await one(randomFrom(SEED + index * 7919), index);
      } catch (error) {
        next = times;
        const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
        throw new Error(`kill ${index} with TOOLBREAK_KILL_SEED=${SEED}: ${what}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('kill -9', function () {
  this.timeout(Math.max(600_000, KILLS * 4_000));

  it(`of the adapter, ${KILLS} times: the app finishes with its normal result`, async () => {
    const place = new Place();
    const calls = 300;
    await run([python, program, place.folder, String(calls)], { cwd: probes, env: environment(place.folder) });
    const expected = readFileSync(join(place.folder, 'result'), 'utf8');
    place.remove();

    await kills(KILLS, async (random, index) => {
      const hold = index % 2 === 0;
      const terminal = index % 4 >= 2;
      const scene = await begin(calls, { terminal, hold });
      try {
        if (hold) await scene.client.waitFor('stopped');
        // The moment is what is random here, not how long anything takes.
        await wait(random() * 40);
        const early = existsSync(join(scene.place.folder, 'result'));
        scene.client.child!.kill('SIGKILL');
        await until(() => existsSync(join(scene.place.folder, 'result')) && !isAlive(scene.pid), 'the result');
        assert.equal(readFileSync(join(scene.place.folder, 'result'), 'utf8'), expected);
        if (terminal) {
          const { code, stderr, stdout } = await scene.inTerminal!;
          assert.equal(code, 0);
          if (hold) assert.equal(stderr, GONE);
          else assert.ok(stderr === GONE || (stderr === '' && (early || stdout.endsWith('done\n'))), stderr);
        }
        if (index % 10 < 2) {
          await takeOver(scene);
          const runFile = runFileOf(scene.place);
          assert.equal(recorded(runFile, { status: ['returned'] }), 2 * calls);
          assertWhole(scene, runFile);
        }
        await assertNoOrphan(scene);
      } finally {
        await end(scene);
      }
    });
  });

  it(`of the app, ${KILLS} times: the session ends and every returned call is in the store`, async () => {
    await kills(KILLS, async (random) => {
      const scene = await begin(1_000_000, {});
      try {
        await until(() => isBusy(scene, 1, 2), 'the first calls');
        await wait(random() * 60);
        process.kill(scene.pid, 'SIGKILL');
        const { exitCode } = await scene.client.waitFor('exited');
        assert.equal(exitCode, 137);
        await scene.client.waitFor('terminated');
        const { runFile } = await scene.client.waitFor('toolbreak/run');
        await scene.client.request('disconnect', {});
        await adapterEnded(scene);
        assertWhole(scene, runFile);
        await assertNoOrphan(scene);
      } finally {
        await end(scene);
      }
    });
  });

  it(`of three processes with four threads each, and of the adapter, ${HEAVY_KILLS} times: every returned call is in the store`, async () => {
    await kills(HEAVY_KILLS, async (random, index) => {
      const scene = await begin(1_000_000, { load: [4, 2] });
      try {
        await until(() => isBusy(scene, 3, 4), 'the first calls');
        const withAdapter = index % 2 === 1;
        const { runFile } = await scene.client.waitFor('toolbreak/run');
        const victims = [...returned(scene).keys(), ...(withAdapter ? [scene.client.child!.pid!] : [])];
        while (victims.length > 0) {
          const [victim] = victims.splice(Math.floor(random() * victims.length), 1);
          await wait(random() * 40);
          process.kill(victim!, 'SIGKILL');
        }
        if (withAdapter) {
          await adapterEnded(scene);
          await until(() => [...returned(scene).keys()].every((pid) => !isAlive(pid)), 'the app to be gone');
          await takeOver(scene);
        } else {
          await scene.client.waitFor('terminated');
          await scene.client.request('disconnect', {});
          await adapterEnded(scene);
        }
        assertWhole(scene, runFile);
        await assertNoOrphan(scene);
      } finally {
        await end(scene);
      }
    });
  });
});
