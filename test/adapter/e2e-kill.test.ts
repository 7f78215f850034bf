import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../../adapter/common/processes';
import type { DapClient } from '../support/dap-client';
import { environment, functions, probes, run, startAdapter, type Outcome } from './e2e-outcomes-support';
import { toolbreakCommand } from '../support/adapter';
import { Place, python, until } from './target-support';
import { openWithCalls } from '../support/run-file';

const program = join(probes, 'steady.py');
const KILLS = Number(process.env['TOOLBREAK_KILLS'] ?? 100);
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

async function begin(calls: number, options: { terminal?: boolean; hold?: boolean }): Promise<Scene> {
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
    args: [place.folder, String(calls)],
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

/** Calls that the app says returned, by thread. */
function returned({ place }: Scene): number[] {
  return [0, 1].map((thread) => {
    const path = join(place.folder, `returned-${thread}`);
    const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    return bytes.length === 8 ? Number(bytes.readBigUInt64LE()) : 0;
  });
}

function recorded(runFile: string): { ended: number; open: number } {
  const db = openWithCalls(runFile);
  try {
    assert.equal(db.pragma('integrity_check', { simple: true }), 'ok');
    const count = (where: string): number =>
      db
        .prepare(
          `SELECT count(*) FROM calls c JOIN functions f ON f.id = c.function WHERE f.name = 'tool' AND ${where}`,
        )
        .pluck()
        .get() as number;
    return { ended: count('c.status = 0'), open: count('c.end IS NULL') };
  } finally {
    db.close();
  }
}

function runFileOf(place: Place): string {
  const projects = join(place.folder, 'state', 'toolbreak', 'projects');
  const found = readdirSync(projects, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.db'));
  assert.equal(found.length, 1, found.join());
  return join(projects, found[0]!);
}

/** So many kills, a few at a time; a failure says with which seed. */
async function kills(one: (random: () => number, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < KILLS; index = next++) {
      try {
        await one(randomFrom(SEED + index * 7919), index);
      } catch (error) {
        next = KILLS;
        const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
        throw new Error(`kill ${index} with TOOLBREAK_KILL_SEED=${SEED}: ${what}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('kill -9', function () {
  this.timeout(600_000);

  it(`of the adapter, ${KILLS} times: the app finishes with its normal result`, async () => {
    const place = new Place();
    const calls = 300;
    await run([python, program, place.folder, String(calls)], { cwd: probes, env: environment(place.folder) });
    const expected = readFileSync(join(place.folder, 'result'), 'utf8');
    place.remove();

    await kills(async (random, index) => {
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
          // The next session, or whoever opens the timeline, takes over what was recorded, also after the adapter's death.
          const tidy = [process.execPath, ...toolbreakCommand('tidy')];
          await scene.client.closed;
          const { code, stderr } = await run(tidy, { cwd: probes, env: environment(scene.place.folder) });
          assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
          assert.deepEqual(recorded(runFileOf(scene.place)), { ended: 2 * calls, open: 0 });
        }
      } finally {
        await end(scene);
      }
    });
  });

  it(`of the app, ${KILLS} times: the session ends and every returned call is in the store`, async () => {
    await kills(async (random) => {
      const scene = await begin(1_000_000, {});
      try {
        await until(() => returned(scene).every((count) => count > 0), 'the first calls');
        await wait(random() * 60);
        process.kill(scene.pid, 'SIGKILL');
        const { exitCode } = await scene.client.waitFor('exited');
        assert.equal(exitCode, 137);
        await scene.client.waitFor('terminated');
        const counts = returned(scene);
        const said = counts[0]! + counts[1]!;
        const { runFile } = await scene.client.waitFor('toolbreak/run');
        await scene.client.request('disconnect', {});
        await scene.client.closed;
        const { ended, open } = recorded(runFile);
        // A call may have returned whose note was not made any more, one in each thread.
        assert.ok(ended >= said && ended <= said + 2, `${ended} recorded, ${said} returned`);
        assert.equal(open, 0);
        assert.equal(isAlive(scene.pid), false);
      } finally {
        await end(scene);
      }
    });
  });
});
