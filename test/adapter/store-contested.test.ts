import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallDetail } from '../../protocol/timeline';
import { checkRun } from '../../adapter/store/life/check';
import { Reader } from '../../adapter/store/reader/reader';
import { recoverSpool } from '../../adapter/store/recover';
import { lockRecovery, writeOwner } from '../../adapter/store/spoolOwner';
import { SpoolFile, dict } from '../support/spool';
import { StorePlace } from './store-support';

const PROCESS = '4000001-abc';
const RECOVER = join(__dirname, '..', '..', 'adapter', 'store', 'recover.ts');

describe('store: contested and confused', function () {
  this.timeout(60_000);
  let place: StorePlace;

  beforeEach(() => {
    place = new StorePlace();
  });
  afterEach(() => place.remove());

  function spoolOf(calls: number): SpoolFile {
    const file = new SpoolFile(PROCESS).add(1, 1, 'tool', 't', 't', 'm', null, 1, 1).add(2, 1, 'agent', 0);
    for (let call = 1; call <= calls; call++) {
      file
        .add(3, call, 0, 1, 1, 2000 + call * 10, dict({ call }), null)
        .add(6, 2001 + call * 10, 'log', call, dict({ text: 'x' }))
        .add(4, call, 2005 + call * 10, 0, call, null);
    }
    return file;
  }
  const leave = (): void =>
    writeOwner(place.spool, {
      runFile: place.runFile,
      run: 'a',
      session: 's',
      name: 'app.py',
      pid: 4000002,
      pidStart: '1',
    });
  const counted = (): unknown =>
    place.rows("SELECT calls, (SELECT count(*) FROM events WHERE name <> 'mark') AS events FROM runs");

  it('two adapters on one spool: each frame is taken once, whoever is first', async () => {
    spoolOf(20_000).write(place.spool);
    leave();
    const script = `process.stdout.write(require(${JSON.stringify(RECOVER)}).recoverSpool(process.argv[1]).state)`;
    const states = await Promise.all(
      [1, 2, 3].map(async () => {
        const child = spawn(process.execPath, ['--import', 'tsx', '-e', script, place.spool], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        let said = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
        const [code] = (await once(child, 'close')) as [number];
        assert.equal(code, 0);
        return said;
      }),
    );
    assert.equal(states.filter((state) => state === 'recovered').length, 1, states.join());
    assert.ok(
      states.every((state) => ['recovered', 'busy', 'none'].includes(state)),
      states.join(),
    );
    assert.deepEqual(counted(), [{ calls: 20_000, events: 20_000 }]);
  });

  it('a second adapter keeps off a spool that another one follows or takes over', async () => {
    spoolOf(3).write(place.spool);
    const recorder = place.recorder();
    assert.deepEqual(recoverSpool(place.spool), { state: 'live' });
    await recorder.close();
    leave();
    const unlock = lockRecovery(place.spool)!;
    assert.deepEqual(recoverSpool(place.spool), { state: 'busy' });
    unlock();
    assert.equal(recoverSpool(place.spool).state, 'recovered');
    assert.deepEqual(counted(), [{ calls: 3, events: 3 }]);
  });

  it('a lock whose holder has not named itself yet is kept off, one that was left behind is not', () => {
    const lock = join(place.spool, 'recovering');
    mkdirSync(place.spool, { recursive: true });
    writeFileSync(lock, '');
    assert.equal(lockRecovery(place.spool), undefined);
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(lock, longAgo, longAgo);
    const unlock = lockRecovery(place.spool)!;
    assert.equal(lockRecovery(place.spool), undefined);
    unlock();
    writeFileSync(lock, JSON.stringify({ pid: 4000002, mark: '1' }));
    lockRecovery(place.spool)!();
    assert.deepEqual(readdirSync(place.spool), []);
  });

  it('a clock that jumps back: every call is read, and none but the one that it struck is missed', () => {
    const early = 5_000;
    spoolOf(2)
      .add(3, 3, 0, 1, 1, 1_000_000, dict({ call: 3 }), null)
      // It ends before it began, and the next one before anything was.
      .add(4, 3, early, 0, 3, null)
      .add(3, 4, 0, 1, 1, 10, dict({ call: 4 }), null)
      .add(4, 4, 20, 0, 4, null)
      .write(place.spool);
    // The clock on the wall stands still while five seconds pass; then it is another day.
    new SpoolFile(PROCESS, 2, 1, { name: 'app.py' }, 5_000_000_000)
      .add(3, 5, 0, 1, 1, 5_000_000_100, dict({ call: 5 }), null)
      .add(4, 5, 5_000_000_200, 0, 5, null)
      .write(place.spool);
    leave();
    assert.equal(recoverSpool(place.spool).state, 'recovered');
    assert.ok(existsSync(place.runFile));
    const reader = new Reader(() => undefined);
    try {
      const ask = (method: string, params: object): unknown =>
        reader.handle(method, { file: place.runFile, ...params });
      const { calls } = ask('calls', { from: 0, to: 1e12, minimum: 0, limit: 100 }) as {
        calls: { id: string; start: number; end: number }[];
      };
      // No stretch of time holds what ended before it began. It is there by its name, and the check tells of it.
      assert.deepEqual(calls.map(({ id }) => id).sort(), ['1.1', '1.2', '1.4', '1.5', 'e3']);
      for (const { id, start, end } of calls) assert.ok(end >= start, `${id}: ${start} to ${end}`);
      const times = new Map(calls.map(({ id, start }) => [id, start]));
      assert.equal(times.get('1.5')! - times.get('1.1')!, 5_000_000_100 - 2010);
      assert.equal((ask('call', { id: '1.3' }) as CallDetail).call.state, 'returned');
      const { problems, readable } = checkRun(place.runFile);
      assert.deepEqual(
        problems.map(({ what, examples }) => [what, examples]),
        [['There are calls that end before they start', ['1.3']]],
      );
      assert.equal(readable['calls'], 5);
    } finally {
      reader.close();
    }
  });
});
