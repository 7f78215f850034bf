/** What we export, in programs of others: speedscope opens trace events. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join } from 'node:path';
import Ajv from 'ajv';
import { callName } from '../../adapter/store/callNames';
import { AGENT, LifePlace, overlapping } from '../adapter/life-support';
import { openWithCalls } from '../support/run-file';
import type { BrowserHouse } from './browser';
import { test } from './harness';

const RELEASE = join(dirname(require.resolve('speedscope/package.json')), 'dist/release');
const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** Threads, tasks of asyncio that overlap, names that are markup, an error. */
const APP = `
import asyncio, threading

def leaf(number):
    return sum(range(number * 1000))

def worker(name):
    return [leaf(number) for number in range(3)]

def fail():
    raise ValueError("<b>no</b>")

async def step(number, before, after):
    before.set()
    await after.wait()
    return leaf(number)

async def job(number, before, after):
    return await step(number, before, after) + await step(number + 1, before, after)

async def main():
    one, other = asyncio.Event(), asyncio.Event()
    return await asyncio.gather(job(1, one, other), job(2, other, one))

def top():
    threads = [threading.Thread(target=worker, args=(f"<i>{number}</i>",), name=f"thread-{number}") for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        fail()
    except ValueError:
        pass
    return asyncio.run(main())

top()
`;

/** What speedscope writes when it is asked for what it understood. */
interface Understood {
  shared: { frames: { name: string }[] };
  profiles: {
    name: string;
    type: string;
    unit: string;
    events: { type: 'O' | 'C'; frame: number; at: number }[];
  }[];
}

/** Opens the file as a person would, and asks for what was understood of it. Speedscope's word for a call is its name and its `args`. */
async function openInSpeedscope(
  house: BrowserHouse,
  file: string,
): Promise<{ understood: Understood; rows: string[] }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    readFile(pathname === '/trace.json' ? file : join(RELEASE, pathname)).then(
      (body) => {
        response.writeHead(200, { 'content-type': TYPES[extname(pathname)] ?? 'application/octet-stream' });
        response.end(body);
      },
      () => {
        response.writeHead(404);
        response.end();
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const context = await house.context();
  try {
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('dialog', (dialog) => {
      complaints.push(dialog.message());
      void dialog.dismiss();
    });
    const { port } = server.address() as AddressInfo;
    await page.goto(`http://127.0.0.1:${port}/index.html#profileURL=/trace.json`);
    await page.getByText('Sandwich').click();
    await page.locator('td', { hasText: '{"call"' }).first().waitFor();
    const rows = await page.locator('tr:visible').allInnerTexts();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByText('Export', { exact: false }).click(),
    ]);
    const understood = JSON.parse(readFileSync(await download.path(), 'utf8')) as Understood;
    assert.deepEqual(complaints, []);
    return { understood, rows };
  } finally {
    await context.close();
    await new Promise((resolve) => server.close(resolve));
  }
}

interface Recorded {
  id: number;
  parent: number | null;
  name: string;
  start: number;
  end: number | null;
  task: string;
}

/** Calls of the run, by their names outside. */
function recorded(run: string): Map<string, Recorded> {
  const db = openWithCalls(run);
  try {
    const rows = db
      .prepare(
        'SELECT c.id, c.parent, f.name, c.start, c.end, t.name AS task FROM calls c JOIN functions f ON f.id = c.function JOIN tasks t ON t.id = c.task',
      )
      .all() as Recorded[];
    return new Map(rows.map((row) => [callName(row.id), row]));
  } finally {
    db.close();
  }
}

interface Shown {
  call: string;
  name: string;
  /** The call around it, on the same thread. */
  inside: string | undefined;
  thread: string;
  args: Record<string, unknown>;
  start: number;
  end: number;
}

/** Every slice of every thread, in the order of their starts. Fails where they do not nest. */
function slices({ shared, profiles }: Understood): Shown[] {
  const found: Shown[] = [];
  for (const { name: profile, type, unit, events } of profiles) {
    assert.deepEqual([type, unit], ['evented', 'microseconds']);
    const open: (Shown & { frame: number })[] = [];
    for (const { type: what, frame, at } of events) {
      if (what === 'O') {
        const [, name, args] = /^(\w+) (\{.*\})$/s.exec(shared.frames[frame]!.name)!;
        const parsed = JSON.parse(args!) as Record<string, unknown>;
        const call = parsed['call'] as string;
        const thread = /, (.*) \(tid \d+\)$/.exec(profile)![1]!;
        const one = { call, name: name!, inside: open.at(-1)?.call, thread, args: parsed, start: at, end: NaN, frame };
        open.push(one);
        found.push(one);
      } else {
        const last = open.pop();
        assert.equal(last?.frame, frame, 'what ends is what began last');
        last.end = at;
      }
    }
    assert.deepEqual(open, []);
  }
  return found;
}

/** Microseconds from the start of the first call of the thread, which is where speedscope's clock begins. */
function near(told: number, expected: number): void {
  assert.ok(Math.abs(told - expected) < 0.002, `${told} µs instead of ${expected}`);
}

async function exported(place: LifePlace, run: string): Promise<string> {
  const file = join(place.folder, 'trace.json');
  const said = await place.say('export', run, '--format', 'perfetto', '-o', file, '--force');
  assert.equal(said.code, 0, said.stderr);
  return file;
}

test('speedscope reads our trace events: calls, nesting, times, threads and tasks', async (house) => {
  const place = new LifePlace();
  try {
    const run = await place.record(place.file('many.py', APP));
    const { understood, rows } = await openInSpeedscope(house, await exported(place, run));
    // The published schema of what it writes.
    const schema = JSON.parse(readFileSync(join(RELEASE, 'file-format-schema.json'), 'utf8')) as object;
    const ajv = new Ajv({ strict: false });
    assert.ok(ajv.validate(schema, understood), ajv.errorsText());
    const calls = recorded(run);
    const shown = slices(understood);
    assert.deepEqual(shown.map(({ call }) => call).sort(), [...calls.keys()].sort());
    const threads = new Map<string, number>();
    for (const { thread, call } of shown)
      threads.set(thread, Math.min(threads.get(thread) ?? Infinity, calls.get(call)!.start));
    assert.deepEqual([...threads.keys()].sort(), ['many.py', 'many.py › job', 'thread-0', 'thread-1']);
    for (const { call, name, thread, inside, start, end } of shown) {
      const one = calls.get(call)!;
      assert.deepEqual([name, thread], [one.name, one.task]);
      const parent = one.parent === null ? undefined : calls.get(callName(one.parent))!;
      assert.equal(inside, parent?.task === one.task ? callName(parent.id) : undefined, call);
      near(start, (one.start - threads.get(thread)!) / 1000);
      near(end, (one.end! - threads.get(thread)!) / 1000);
    }
    const named = (name: string): Shown[] => shown.filter((one) => one.name === name);
    assert.deepEqual(named('fail')[0]!.args['error'], { type: 'ValueError', message: '<b>no</b>' });
    assert.deepEqual(
      named('worker')
        .map(({ thread, args }) => [thread, args['arguments']])
        .sort(),
      ['0', '1'].map((number) => [`thread-${number}`, { name: `<i>${number}</i>` }]),
    );
    // What a person sees there, of the thread that is shown first.
    const first = shown.filter(({ thread }) => thread === 'many.py');
    for (const { name, call } of first)
      assert.equal(rows.filter((row) => row.includes(`\t${name} {"call":"${call}",`)).length, 1, `${name} ${call}`);
  } finally {
    await place.remove();
  }
});

test('speedscope reads calls that overlap, were held and never ended', async (house) => {
  const place = new LifePlace();
  try {
    const run = overlapping(await place.record(place.file('agent.py', AGENT)));
    const { understood } = await openInSpeedscope(house, await exported(place, run));
    const shown = slices(understood);
    const calls = recorded(run);
    const isHeld = ({ name }: Shown): boolean => name === 'held';
    assert.deepEqual(
      shown
        .filter((one) => !isHeld(one))
        .map(({ call }) => call)
        .sort(),
      [...calls.keys()].sort(),
    );
    assert.deepEqual(
      shown.filter(isHeld).map(({ args }) => args['description']),
      ['Paused on a breakpoint'],
    );
    for (const { call, name, start, end, args } of shown) {
      const one = calls.get(call)!;
      if (name !== 'held' && one.end !== null) near(end - start, (one.end - one.start) / 1000);
      if (one.end === null) assert.deepEqual([args['status'], end > start], ['running', true]);
    }
  } finally {
    await place.remove();
  }
});
