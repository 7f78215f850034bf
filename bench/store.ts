/** Rows 10, 11 and 13: what is done with many calls after they were recorded. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, globSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { inflateSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { callName } from '../adapter/store/callNames';
import { chunkOf } from '../adapter/store/chunks/chunk';
import { totalsOf } from '../adapter/store/chunks/totals';
import { noteWords } from '../adapter/store/life/words';
import { runQuery } from '../adapter/store/query/query';
import { density } from '../adapter/store/reader/density';
import { callDetail } from '../adapter/store/reader/detail';
import { Reader } from '../adapter/store/reader/reader';
import { RunFile } from '../adapter/store/reader/runFile';
import { Recording } from '../adapter/store/recording';
import { MIGRATIONS } from '../adapter/store/schema';
import { openRecorder } from '../adapter/store/workerRecorder';
import { bigRun, recordCalls } from '../test/support/big-run';
import { BrowserHouse } from '../test/webview/browser';
import { ReaderProcess } from '../test/webview/recorded';
import type { Row } from './rows';
import { app, percentile, python } from './session';

const INGESTED = 400_000;
const SUSTAINED = 3_000_000;
const NAIVE = 200_000;
const TEN_MILLION = 10_000_000;
/** One for each version of the run file: what a version writes beside the calls is not in the files of earlier ones. */
const kept = join(__dirname, `../.cache/bench/ten-million-${MIGRATIONS.length}.db`);

/** Rows as one would write them first: a hash as key, JSON values, three indexes. */
function naiveRows(file: string, count: number): { db: Database.Database; perCall: number } {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.exec(`CREATE TABLE calls (id TEXT PRIMARY KEY, parent TEXT, name TEXT, task INTEGER, start INTEGER, end INTEGER, status TEXT, args TEXT, result TEXT);
    CREATE INDEX by_start ON calls (start); CREATE INDEX by_name ON calls (name); CREATE INDEX by_parent ON calls (parent)`);
  const insert = db.prepare('INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const id = (number: number) => createHash('sha256').update(String(number)).digest('hex');
  const begin = performance.now();
  for (let from = 0; from < count; from += 10_000) {
    db.transaction(() => {
      for (let index = from; index < from + 10_000; index++) {
        const args = JSON.stringify({ order_id: index, region: 'eu' });
        const result = JSON.stringify({ order_id: index, total: index % 977, currency: 'EUR' });
        insert.run(
          id(index),
          id(index - (index % 7)),
          'price',
          index % 4,
          index * 2000,
          index * 2000 + 1500,
          'ok',
          args,
          result,
        );
      }
    })();
  }
  return { db, perCall: ((performance.now() - begin) * 1000) / count };
}

/** Row 10: from the spool to stored and queryable. */
export async function ingest(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'toolbreak-bench-'));
  try {
    const spools = await recordCalls(INGESTED, join(folder, 'spools'));
    const { db, perCall } = naiveRows(join(folder, 'naive.db'), NAIVE);
    db.close();
    const naiveBytes = statSync(join(folder, 'naive.db')).size / NAIVE;
    const runFile = join(folder, 'run.db');
    const named = { spoolFolder: spools, run: 'a', session: 's', name: 'bench' };
    const recording = new Recording({ ...named, runFile, elsewhere: true }, () => 1);
    const begin = performance.now();
    while (recording.pass().more);
    const ours = performance.now() - begin;
    recording.finish(undefined);
    recording.close();
    const file = new RunFile(runFile);
    const calls = Number(file.row()!.calls);
    file.close();
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const recorder = openRecorder({
      ...named,
      runFile: join(folder, 'worker.db'),
      onProblem: (text) => console.error(text),
      indexFor: () => 1,
    });
    await recorder.sync();
    delay.disable();
    await recorder.close();
    return [
      {
        row: '10',
        what: 'spool to stored and queryable, a call',
        unit: 'us',
        reference: { name: 'naive SQLite rows', value: perCall },
        ours: (ours * 1000) / calls,
        goal: '2.5 (400 k/s)',
      },
      {
        row: '10',
        what: 'stored, a call',
        unit: 'bytes',
        reference: { name: 'naive SQLite rows', value: naiveBytes },
        ours: statSync(runFile).size / calls,
        goal: '50',
      },
      {
        row: '10',
        what: "adapter's loop while its worker stores, p99 above its 1 ms timer",
        unit: 'ms',
        ours: Math.max(0, delay.percentile(99) / 1e6 - 1),
        goal: '5',
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Row 10: a Python app at work beside the session that stores what it records. From the first call until the last can be asked for. */
export async function sustained(): Promise<Row[]> {
  const state = mkdtempSync(join(tmpdir(), 'toolbreak-bench-'));
  try {
    const functions = ['--functions', '@usercode'];
    const command = [...functions, '--', python, app('many_calls.py'), String(SUSTAINED)];
    const child = spawn(process.execPath, [join(__dirname, '../dist/toolbreak.js'), 'run', ...command], {
      env: { ...process.env, XDG_STATE_HOME: state },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    const code = await new Promise((resolve) => child.once('close', resolve));
    const ended = Date.now() / 1000;
    if (code !== 0) throw new Error(`many_calls.py ended with ${String(code)}.`);
    const [begin, last] = JSON.parse(text.split('\n')[0]!) as [number, number];
    const [path] = globSync('toolbreak/projects/*/runs/*.db', { cwd: state });
    const file = new RunFile(join(state, path!));
    const calls = Number(file.row()!.calls);
    file.close();
    if (calls !== SUSTAINED + 1) throw new Error(`${SUSTAINED + 1} calls were made, ${calls} are stored.`);
    const row = (what: string, seconds: number, goal: string): Row => ({
      ...{ row: '10', what, unit: 'k calls/s', ours: SUSTAINED / seconds / 1000, goal },
    });
    return [
      row('a Python app to stored and queryable, none lost', ended - begin, '400'),
      row('the app alone, meanwhile', last - begin, ''),
    ];
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
}

async function tenMillion(): Promise<string> {
  if (!existsSync(kept)) console.error(`Records ${TEN_MILLION} calls once, into ${kept}; this takes some minutes.`);
  return bigRun(TEN_MILLION, kept);
}

/** Row 11: questions at ten million calls. */
export async function questions(): Promise<Row[]> {
  const path = await tenMillion();
  const folder = mkdtempSync(join(tmpdir(), 'toolbreak-bench-'));
  // A run that was recorded by an earlier version has none.
  noteWords(path);
  // From here on the system has it in memory: what is measured is our work, and not the disk.
  for await (const _ of createReadStream(path));
  const file = new RunFile(path);
  try {
    const { db } = naiveRows(join(folder, 'naive.db'), NAIVE);
    const end = file.length();
    const calls = Number(file.row()!.calls);
    const tasks = file.db.prepare('SELECT id FROM tasks').pluck().all() as number[];
    const any = (): number => 2 ** 32 + 1 + Math.floor(Math.random() * (calls - 1));
    const range = () => {
      const span = end * 2 ** -(Math.random() * 20);
      const from = Math.random() * (end - span);
      return { file: '', from, to: from + span };
    };
    const timed = (count: number, ask: () => unknown): number[] => {
      ask();
      return Array.from({ length: count }, () => {
        const begin = performance.now();
        ask();
        return performance.now() - begin;
      });
    };
    const grouped = db.prepare('SELECT start / 1000000 AS tile, count(*) FROM calls WHERE task = 1 GROUP BY tile');
    const naive = {
      name: `GROUP BY over ${NAIVE} rows`,
      value: percentile(
        timed(5, () => grouped.all()),
        0.5,
      ),
    };
    const opened = { open: () => file, close: () => undefined };
    // Without a count of the rows behind the page.
    const budget = { rows: 200_000, counting: 0, milliseconds: 4_000 };
    // What no answer about a call can do without: a block read and inflated, its values as well.
    const heads = file.db.prepare<[number], Buffer>('SELECT heads FROM chunks WHERE id = ?').pluck();
    const both = file.db.prepare<[number], { heads: Buffer; bodies: Buffer }>(
      'SELECT heads, bodies FROM chunks WHERE id = ?',
    );
    const inflated = (bytes: Buffer): Buffer => inflateSync(bytes, { chunkSize: 96 * 1024 });
    const floor = {
      name: 'a block read and inflated',
      value: percentile(
        timed(1000, () => inflated(heads.get(chunkOf(any()))!)),
        0.5,
      ),
    };
    const wholeFloor = {
      name: 'a block and its values read and inflated',
      value: percentile(
        timed(1000, () => {
          const block = both.get(chunkOf(any()))!;
          return [inflated(block.heads), inflated(block.bodies)];
        }),
        0.5,
      ),
    };
    const byId = timed(1000, () => file.calls.get(any()));
    const whole = timed(300, () => callDetail(file, callName(any())));
    const page = timed(200, () =>
      runQuery(
        [path],
        { order: 'start', from: `+${((Math.random() * end) / 1e9).toFixed(6)}s`, limit: 200 },
        budget,
        opened,
      ),
    );
    const shades = timed(500, () => density(file, { ...range(), buckets: 512, tasks }));
    const reader = new Reader(() => undefined);
    const bars = timed(500, () => {
      const window = range();
      const minimum = (window.to - window.from) / 2048;
      return reader.handle('bars', { ...window, file: path, minimum, limit: 5000 });
    });
    reader.close();
    const totals = timed(100, () => totalsOf(file.db));
    const order = (): number => 1_000 + Math.floor(Math.random() * (calls / 8));
    const words = timed(300, () => runQuery([path], { text: `order ${order()} is` }, budget, opened));
    const like = db.prepare('SELECT id FROM calls WHERE args LIKE ? OR result LIKE ? LIMIT 50');
    const naiveWords = {
      name: `LIKE over ${NAIVE} rows`,
      value: percentile(
        timed(5, () => like.all(`%order ${order()} is%`, `%order ${order()} is%`)),
        0.5,
      ),
    };
    db.close();
    const row = (what: string, ours: number, goal: string, reference?: Row['reference']): Row => ({
      ...{ row: '11', what: `ten million calls: ${what}`, unit: 'ms', ours, goal },
      ...(reference && { reference }),
    });
    return [
      row('a call by its id, p50', percentile(byId, 0.5), '0.1', floor),
      row('a call with all its values, p50', percentile(whole, 0.5), '-', wholeFloor),
      row('a page of 200, anywhere, the rest not counted, p50', percentile(page, 0.5), '1', wholeFloor),
      row('how busy each lane is, at any zoom, p50', percentile(shades, 0.5), '1', naive),
      row('how busy each lane is, at any zoom, p99', percentile(shades, 0.99), '10'),
      row('calls to draw, at any zoom, p50', percentile(bars, 0.5), '1', floor),
      row('calls to draw, at any zoom, p99', percentile(bars, 0.99), '10'),
      row('totals for each function, p50', percentile(totals, 0.5), '5'),
      row('the call that has a text in its values, p50', percentile(words, 0.5), '5', naiveWords),
      row('the call that has a text in its values, p99', percentile(words, 0.99), '-'),
    ];
  } finally {
    file.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In the page: when the frame was done in which the lanes first had all they show. */
const FIRST_PICTURE = `window.firstPicture_ = new Promise((done) => {
  new MutationObserver((_, observer) => {
    if (document.querySelector('.scroller[aria-busy=false]') === null) return;
    observer.disconnect();
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => done(performance.now());
    port2.postMessage(0);
  }).observe(document, { subtree: true, childList: true, attributes: true });
});`;

/** Row 13: the page on ten million calls, in a browser without a graphics card. */
export async function pageFrames(): Promise<Row[]> {
  const house = await BrowserHouse.open();
  const reader = new ReaderProcess(await tenMillion());
  try {
    // The reader opens the file once; the second look is what a person has who opens the timeline again.
    const firsts: number[] = [];
    const empty: number[] = [];
    let frames: number[] = [];
    for (let round = 0; round < 3; round++) {
      empty.push(await house.empty());
      // As the extension does it: the run is read while the page loads.
      void Promise.resolve(reader.answer('start', {} as never));
      const shown = await house.show('dark', reader.answer, { width: 1600, height: 900 }, FIRST_PICTURE);
      await shown.page.locator('.scroller[aria-busy=false]').waitFor();
      firsts.push(await shown.page.evaluate('window.firstPicture_'));
      // Work of each frame: all that runs in its callbacks, painting included.
      await shown.page.evaluate(`{
        const ask = window.requestAnimationFrame.bind(window);
        window.frames_ = [];
        window.requestAnimationFrame = (work) => ask((time) => {
          const begin = performance.now();
          work(time);
          window.frames_.push(performance.now() - begin);
        });
      }`);
      await shown.page.locator('.scroller').focus();
      for (const key of 'wwwwwwddddddwwwwwwwwaaaassssdddddwwwwwwwwwwddddssssssssssssss')
        await shown.page.keyboard.press(key);
      await shown.page.locator('.scroller[aria-busy=false]').waitFor();
      frames = [...frames, ...(await shown.page.evaluate<number[]>('window.frames_'))];
      await shown.close();
    }
    return [
      {
        row: '13',
        what: 'timeline page, ten million calls: first picture, from opening the page',
        unit: 'ms',
        reference: { name: 'an empty page that asks once', value: percentile(empty, 0.5) },
        ours: percentile(firsts, 0.5),
        goal: '300',
      },
      {
        row: '13',
        what: 'the same of a file that was not open yet',
        unit: 'ms',
        ours: firsts[0]!,
        goal: '300',
      },
      {
        row: '13',
        what: 'timeline page, ten million calls: work of a frame while panning and zooming, p95',
        unit: 'ms',
        ours: percentile(frames, 0.95),
        goal: '8',
      },
    ];
  } finally {
    await reader.close();
    await house.close();
  }
}
