import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importSpools } from '../../adapter/store/life/importSpools';
import { SegmentReader } from '../../adapter/store/spool/segment';
import { SPOOL_MAGIC } from '../../protocol/spool';
import { frame } from '../support/spool';
import { agent, frames, spools } from './inputs';
import { mutate, mutateJson, tries } from './mutate';
import { Shelf, assertSentence, useEverything } from './runs';

const FILE = '10-a-1.spool';
const NOTE = {
  version: 1,
  id: '0123456789abcdef',
  name: 'app.py',
  pid: 4_000_002,
  machine: 'elsewhere',
  started: 1_700_000_000_000_000_000,
};
/** Of `agent`: the workflow, ten tools, and the one that runs. */
const CALLS = 12;
/** Those that do not begin with all of it. */
const WITHOUT = ['empty-file', 'magic-alone', 'magic-of-another', 'zeros-alone', 'no-segment-frame'];

describe('fuzz: spool folders', function () {
  this.timeout(600_000);
  let shelf: Shelf;
  /** `check` had something to say of the run that was imported last. */
  let odd = false;
  beforeEach(() => (shelf = new Shelf()));
  afterEach(() => shelf.remove());

  function folderWith(files: Record<string, Buffer>, note: Buffer | object = NOTE): string {
    const folder = join(mkdtempSync(join(shelf.folder, 'app-')), 'run');
    mkdirSync(folder);
    writeFileSync(join(folder, 'run.json'), Buffer.isBuffer(note) ? note : JSON.stringify(note));
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
    return folder;
  }

  /** Imports the folder and does everything with the run; answers its calls, or nothing when it was refused. */
  async function taken(folder: string): Promise<number | undefined> {
    try {
      const runs = importSpools(folder, shelf.runs).taken;
      assert.equal(runs.length, 1);
      const { calls, whole } = await useEverything(runs[0]!.file, shelf.folder);
      // A start that is there twice is one call, counted twice.
      assert.ok(calls <= runs[0]!.calls, `${calls} calls found of ${runs[0]!.calls}`);
      odd = !whole;
      return calls;
    } catch (error) {
      assertSentence(error, folder);
      return undefined;
    } finally {
      assert.deepEqual(
        shelf.left().filter((name) => !/\.db-(wal|shm)$/.test(name)),
        [],
      );
      shelf.clear();
    }
  }

  /**
   * All calls are found. Of a call that starts after it has ended, as only a hostile frame says it, a query finds nothing, and `check` names
   * it: each such frame can do so to one call.
   */
  function assertLeft(calls: number, hostile: number): void {
    assert.ok(calls >= CALLS || (odd && calls >= CALLS - hostile), `${calls} calls`);
  }

  for (const [name, bytes] of Object.entries(spools))
    it(`takes what can be read: ${name}`, async () => {
      const calls = await taken(folderWith({ [FILE]: bytes }));
      assert.ok(calls !== undefined);
      if (!WITHOUT.includes(name)) assertLeft(calls, 1);
    });

  it('takes what stands before the first change', async () => {
    const good = spools['good']!;
    /** Where the starts of calls end. */
    const starts: number[] = [];
    for (let at = SPOOL_MAGIC.length, length = good.readUInt32LE(at); length > 0; length = good.readUInt32LE(at)) {
      const isStart = good.subarray(at + 13, at + 18).equals(Buffer.from('i\x03\0\0\0', 'latin1'));
      at += 8 + ((length + 3) & ~3);
      if (isStart) starts.push(at);
    }
    assert.equal(starts.length, CALLS);
    await tries(80, async (chance, about) => {
      const { bytes, first } = mutate(good, chance);
      about(bytes);
      const calls = await taken(folderWith({ [FILE]: bytes }));
      const expected = starts.filter((end) => end <= first).length;
      assert.ok(calls !== undefined && calls >= expected, `${calls} calls, ${expected} before byte ${first}`);
    });
  });

  it('takes the rest where whole frames say hostile things', async () => {
    await tries(80, async (chance, about) => {
      const spool = agent();
      const count = 1 + chance.below(6);
      for (let added = 0; added < count; added++)
        spool.raw(frame(mutate(chance.one(Object.values(frames)), chance).bytes));
      const bytes = spool.bytes(64);
      about(bytes);
      const calls = await taken(folderWith({ [FILE]: bytes }));
      assert.ok(calls !== undefined);
      assertLeft(calls, count);
    });
  });

  it('takes several segments, whichever of them is damaged', async () => {
    await tries(40, async (chance, about) => {
      const { bytes } = mutate(chance.one(Object.values(spools)), chance);
      about(bytes);
      const files = {
        [FILE]: spools['good']!,
        '10-a-2.spool': bytes,
        '11-b-1.spool': chance.one(Object.values(spools)),
      };
      const calls = await taken(folderWith(files));
      assert.ok(calls !== undefined);
      assertLeft(calls, 2);
    });
  });

  it('takes no note that a runtime did not write', async () => {
    const good = Buffer.from(JSON.stringify(NOTE));
    await tries(100, async (chance, about) => {
      const note = chance.below(2) === 0 ? mutate(good, chance).bytes : mutateJson(NOTE, chance);
      const bytes = Buffer.isBuffer(note) ? note : Buffer.from(JSON.stringify(note) ?? '');
      about(bytes);
      const calls = await taken(folderWith({ [FILE]: spools['good']! }, bytes));
      assert.ok(calls === undefined || calls === CALLS);
    });
  });

  it('reads no folder, pipe or device in place of a spool file, and waits for none', async () => {
    const folder = folderWith({ [FILE]: spools['good']! });
    mkdirSync(join(folder, '20-a-1.spool'));
    symlinkSync('/dev/zero', join(folder, '21-a-1.spool'));
    symlinkSync(join(folder, 'nowhere'), join(folder, '22-a-1.spool'));
    symlinkSync(join(folder, '23-a-1.spool'), join(folder, '23-a-1.spool'));
    if (process.platform !== 'win32') assert.equal(spawnSync('mkfifo', [join(folder, '24-a-1.spool')]).status, 0);
    for (const name of ['..spool', '-1.spool', 'a-999999999.spool', "';--1.spool", `${'x'.repeat(200)}-1.spool`])
      writeFileSync(join(folder, name), spools['names-with-markup']!);
    const calls = await taken(folder);
    assert.ok(calls !== undefined && calls >= CALLS, `${calls} calls`);
    assert.ok(readdirSync(folder).length > 5);
  });

  it('waits for no note that is a pipe', async () => {
    const folder = folderWith({ [FILE]: spools['good']! });
    rmSync(join(folder, 'run.json'));
    if (process.platform !== 'win32') assert.equal(spawnSync('mkfifo', [join(folder, 'run.json')]).status, 0);
    assert.equal(await taken(folder), undefined);
  });

  it('names a spool file that cannot be read', () => {
    const reader = new SegmentReader(shelf.folder, 0);
    try {
      assert.throws(
        () => reader.read(1, true, () => undefined),
        (error: unknown) => {
          assertSentence(error, shelf.folder);
          return true;
        },
      );
    } finally {
      reader.close();
    }
  });

  it('does not load a frame of gigabytes', async () => {
    const folder = folderWith({ [FILE]: spools['good']! });
    const sparse = join(folder, '10-a-2.spool');
    const head = Buffer.alloc(16);
    head.write(SPOOL_MAGIC, 'latin1');
    head.writeUInt32LE(3_000_000_000, 8);
    writeFileSync(sparse, head);
    truncateSync(sparse, 3_100_000_000);
    const before = process.memoryUsage().arrayBuffers;
    assert.equal(await taken(folder), CALLS);
    assert.ok(process.memoryUsage().arrayBuffers - before < 256 * 1024 * 1024);
    assert.ok(process.resourceUsage().maxRSS < 2_000_000, `${process.resourceUsage().maxRSS} KB`);
  });
});
