import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { QueryAnswer } from '../../protocol/query';
import type { CallDetail, ReaderMethods, RunSummary } from '../../protocol/timeline';
import { Reader } from '../../adapter/store/reader/reader';
import { toolbreakCommand } from '../support/adapter';
import { LifePlace, run } from './life-support';
import { python } from './target-support';

/** Dies in `read`, which `work` waits for, while another thread is in a call, too. */
const FAULT = `
import ctypes, threading, sys

def wait(begun):
    begun.set()
    threading.Event().wait()

def read():
    return ctypes.string_at(0)

def work():
    return read()

def main():
    begun = threading.Event()
    threading.Thread(target=wait, args=(begun,), daemon=True).start()
    begun.wait()
    work()

main()
`;

describe('life: crashes', function () {
  this.timeout(120_000);
  let place: LifePlace;

  beforeEach(() => (place = new LifePlace()));
  afterEach(() => place.remove());

  const record = (file: string, ...args: string[]) =>
    place.say('run', '--functions', '@usercode', '--', python, file, ...args);
  const found = async (...options: string[]) =>
    (await place.json<QueryAnswer>('query', 'last', ...options)).rows.flatMap((row) =>
      row.type === 'call' ? [row] : [],
    );

  it('a call in which the process dies has failed, like those that wait for it', async () => {
    place.file('fault.py', FAULT);
    const { code, stderr } = await record('fault.py');
    assert.equal(code, 139);
    assert.match(stderr, /recorded 4 calls \(3 errors\)/);
    const failed = await found('--status', 'error');
    assert.deepEqual(
      failed.map((row) => [row.call.name, row.error]),
      ['main', 'work', 'read'].map((name) => [name, 'Crash: Segmentation fault']),
    );
    assert.equal((await found('--error', 'Crash')).length, 3);
    const [waited] = await found('--status', 'cancelled');
    assert.deepEqual([waited!.call.name, waited!.error], ['wait', 'The process ended while this call ran.']);
    const [run] = await place.json<{ errors: number; calls: number }[]>('runs');
    assert.deepEqual([run!.errors, run!.calls], [3, 4]);
    assert.match((await place.say('show', 'last')).stdout, /✗ read\(\): Crash: Segmentation fault/);
    const shown = await place.say('show', 'last', 'read');
    assert.match(shown.stdout, /failed after .*Error\n  Crash: Segmentation fault\n.*fault\.py:20 in <module>\n/s);
    assert.match(shown.stdout, /fault\.py:9 in read\n/);
    assert.equal((await place.say('check', 'last')).code, 0);
    const out = join(place.folder, 'otlp.json');
    assert.equal((await place.say('export', 'last', '--format', 'otlp', '-o', out)).code, 0);
    assert.equal(readFileSync(out, 'utf8').match(/"exception\.type","value":\{"stringValue":"Crash"/g)?.length, 3);
  });

  it('a call of a process that is killed is only ended', async () => {
    place.file('killed.py', 'import os, signal\ndef work():\n    os.kill(os.getpid(), signal.SIGKILL)\nwork()\n');
    assert.equal((await record('killed.py')).code, 137);
    assert.deepEqual(await found('--status', 'error'), []);
    assert.deepEqual(
      (await found()).map((row) => [row.call.state, row.error]),
      [['cancelled', 'The process ended while this call ran.']],
    );
  });

  it('says by which signal it was ended, and nothing of a crash where it left by itself', async () => {
    const ways = {
      ended: ['os.kill(os.getpid(), signal.SIGTERM)', 143, /\n?toolbreak: it was ended by SIGTERM\. What/],
      left: ['os._exit(3)', 3, undefined],
      exec: ['os.execv("/bin/true", ["true"])', 0, undefined],
      // What becomes of these only their parent is told.
      forked: ['pid = os.fork() or os._exit(0)\nos.waitpid(pid, 0)', 0, undefined],
      pool: ['with multiprocessing.get_context("fork").Pool(1) as pool:\n    pool.map(len, [""])', 0, undefined],
    } as const;
    for (const [way, [code, exit, words]] of Object.entries(ways)) {
      place.file('ends.py', `import multiprocessing, os, signal\ndef work():\n    pass\nwork()\n${code}\n`);
      const said = await record('ends.py');
      assert.equal(said.code, exit, way);
      const { rows } = await place.json<QueryAnswer>('query', 'last', '--type', 'crash');
      const texts = rows.map((row) => (row.type === 'call' ? '' : row.text));
      if (words === undefined) {
        assert.doesNotMatch(said.stderr, /toolbreak: it /, way);
        assert.deepEqual(texts, [], way);
      } else {
        assert.match(said.stderr, words);
        assert.equal(texts.length, 1);
        assert.match(texts[0]!, /^Process \d+ \(ends\.py\) was ended by SIGTERM$/);
      }
    }
    const { rows: events } = await place.json<QueryAnswer>('query', 'last', '--type', 'event');
    const lost = events.map((row) => (row.type === 'call' ? '' : row.text)).filter((text) => text.includes('os._exit'));
    assert.equal(lost.length, 1);
    assert.match(
      lost[0]!,
      /^Process \d+ \((?:ends\.py|ForkPoolWorker-1)\) ended by os\._exit, as workers of multiprocessing do, or was killed$/,
    );
  });

  it('of a child that crashed it is not said that it may have left by itself', async () => {
    place.file('child.py', 'import ctypes, os\npid = os.fork() or ctypes.string_at(0)\nos.waitpid(pid, 0)\n');
    assert.equal((await record('child.py')).code, 0);
    const { rows } = await place.json<QueryAnswer>('query', 'last', '--type', 'event,crash');
    const texts = rows.map((row) => (row.type === 'call' ? '' : row.text));
    assert.equal(texts.filter((text) => /^Process \d+ \(child\.py\) crashed$/.test(text)).length, 1, texts.join('\n'));
    assert.equal(texts.filter((text) => text.startsWith('Crash: Segmentation fault')).length, 1);
  });

  it('the list of runs says how one ended that did not end well', async () => {
    place.file('fails.py', 'raise ValueError("no tea")\n');
    const ways = [
      ['os.kill(os.getpid(), signal.SIGKILL)', 'killed by SIGKILL', { how: 'killed', signal: 'SIGKILL' }],
      ['os.kill(os.getpid(), signal.SIGTERM)', 'ended by SIGTERM', { how: 'ended', signal: 'SIGTERM' }],
      ['os.abort()', 'crashed (SIGABRT)', { how: 'crashed', signal: 'SIGABRT' }],
      ['raise ValueError("no tea")', 'crashed', { how: 'crashed' }],
      ['subprocess.run([sys.executable, "fails.py"])', 'a process crashed', { how: 'crashed', child: true }],
      ['sys.exit(3)', 'exit code 3', { how: 'exited', code: 3 }],
      ['os._exit(4)', 'exit code 4', { how: 'exited', code: 4 }],
      ['sys.exit(143)', 'exit code 143', { how: 'exited', code: 143 }],
      ['sys.exit(255)', 'exit code 255', { how: 'exited', code: 255 }],
      ['sys.exit(0)', undefined, undefined],
    ] as const;
    for (const [code, words, ending] of ways) {
      place.file('ends.py', `import os, signal, subprocess, sys\n${code}\n`);
      const { stderr } = await place.say('run', '--', python, 'ends.py');
      const [, newest] = (await place.say('runs')).stdout.split('\n');
      assert.equal(/ 0 calls(?:, (.*))?$/.exec(newest!)?.[1], words, newest);
      assert.deepEqual((await place.json<RunSummary[]>('runs'))[0]!.ending, ending, code);
      const first = (await place.say('show', 'last')).stdout.split('\n')[0]!;
      assert.equal(first.includes(` · 0 calls · ${words} · Python`), words !== undefined, first);
      if (words === 'a process crashed')
        assert.match(stderr, /\ntoolbreak: a process that it started crashed; see where/);
    }
    // One crashed, and then the command itself was ended: both are said, of whom they are true.
    place.file('faults.py', 'import os\nos.abort()\n');
    place.file(
      'ends.py',
      'import os, signal, subprocess, sys\nsubprocess.run([sys.executable, "faults.py"])\nos.kill(os.getpid(), signal.SIGTERM)\n',
    );
    const { stderr } = await place.say('run', '--', python, 'ends.py');
    assert.match(
      stderr,
      /\ntoolbreak: a process that it started crashed; see where.*\ntoolbreak: it was ended by SIGTERM\./,
    );
  });

  it('says of a run without calls that none was recorded, and where what it printed, or ended it, is seen', async () => {
    const shown = async (code: string): Promise<string> => {
      place.file('plain.py', `${code}\n`);
      await place.say('run', '--', python, 'plain.py');
      return (await place.say('show', 'last')).stdout.split('\n')[1]!;
    };
    assert.equal(await shown('pass'), 'No call was recorded.');
    assert.match((await place.say('runs')).stdout, / - +0 calls\n$/);
    assert.equal(
      await shown('print("tea")'),
      'No call was recorded. See what it printed with "toolbreak query last --type output".',
    );
    assert.equal(
      await shown('raise ValueError("no tea")'),
      'No call was recorded. See what it printed and how it crashed with "toolbreak query last --type output,crash".',
    );
    const { stdout } = await place.say('query', 'last', '--type', 'output,crash');
    assert.match(stdout, /stderr: ValueError: no tea\n/);
    assert.match(stdout, /✗ Crash: ValueError: no tea, at <module> @ plain\.py:1\n/);
    const { file } = (await place.json<RunSummary[]>('runs'))[0]!;
    const elsewhere = await run(process.execPath, toolbreakCommand('show', file), {
      cwd: place.folder,
      env: place.env,
    });
    assert.ok(elsewhere.stdout.includes(`"toolbreak query ${file} --type output,crash"`), elsewhere.stdout);
  });

  it('says what the error was given, as its call does', async () => {
    place.file(
      'given.py',
      'def f():\n    raise ValueError({"order": 7, "why": ["late", (1,), {}], "password": "hunter2", "token": None, "rows": [{"value": "hunter2", "name": "DB_PASSWORD"}], "auth": ("ann", "hunter2"), 3: object()})\nf()\n',
    );
    await place.say('run', '--functions', '@usercode', '--', python, 'given.py');
    const { stdout } = await place.say('query', 'last', '--type', 'crash', '--text', 'late');
    assert.ok(
      stdout.includes(
        "ValueError: {'order': 7, 'why': ['late', (1,), {}], 'password': ***, 'token': None, 'rows': [{'value': ***, 'name': 'DB_PASSWORD'}], 'auth': ***, 3: <object>}, at f @",
      ),
      stdout,
    );
  });

  it("is told at the person's own line, not at that of a library", async () => {
    place.file(
      'fault.py',
      'import ctypes\ndef read():\n    return ctypes.string_at(0)\nprint("about to", flush=True); read()\n',
    );
    await place.say('run', '--', python, 'fault.py');
    const { rows } = await place.json<QueryAnswer>('query', 'last', '--type', 'crash');
    const texts = rows.map((row) => (row.type === 'call' ? '' : row.text));
    const text = texts.find((one) => one.startsWith('Crash: '))!;
    assert.match(text, /^Crash: Segmentation fault in string_at, from read @ fault\.py:3 ← <module> @ fault\.py:4$/);
    const file = place.files().at(-1)!;
    const reader = new Reader(() => undefined);
    try {
      const { events } = reader.handle('bars', {
        file,
        from: 0,
        to: 1e15,
        minimum: 0,
        limit: 100,
      }) as ReaderMethods['bars']['result'];
      const crash = events.find(({ name }) => name.startsWith('Crash: '))!;
      assert.equal(crash.name, 'Crash: Segmentation fault: read @ fault.py:3');
      const search = (text: string, errors = false, kinds?: string[]): string[] => {
        const asked = { file, text, errors, limit: 10, ...(kinds && { kinds }) };
        const answer = reader.handle('search', asked) as ReaderMethods['search']['result'];
        assert.deepEqual(answer.calls, []);
        return (answer.events ?? []).map(({ id }) => id);
      };
      // What the app wrote, and how it ended, is found beside calls.
      assert.deepEqual(search(' FAULT.py:3'), [crash.id]);
      assert.equal(search('about to').length, 1);
      assert.deepEqual(search('about to', true), []);
      assert.deepEqual(search('about to', false, ['tool']), []);
      assert.equal(search('about to', false, ['tool', 'event']).length, 1);
      assert.equal(search('fault.py', true).length, 2);
      assert.deepEqual(search(''), []);
      const { source, attributes } = reader.handle('call', { file, id: crash.id }) as CallDetail;
      assert.deepEqual([source?.line, source?.path.endsWith('fault.py')], [3, true]);
      assert.deepEqual(
        attributes.map(({ name }) => name).filter((name) => name === 'function'),
        [],
      );
    } finally {
      reader.close();
    }
  });
});
