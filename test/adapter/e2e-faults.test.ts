import assert from 'node:assert/strict';
import type { CallDetail, ReaderMethods } from '../../protocol/timeline';
import { Reader } from '../../adapter/store/reader/reader';
import { rows, scenes } from './e2e-support';

/** A tool that ends in native code, below another that runs, with nobody attached to it; or a child of it does. */
const APP = `
import ctypes, faulthandler, os, sys
import toolbreak

@toolbreak.tool
def fail(way):
    if way == "abort":
        os.abort()
    if way == "own":
        faulthandler.enable(sys.stdout)
    if way == "child":
        child = os.fork()
        if child:
            return os.waitpid(child, 0)[1] & 127
    return ctypes.string_at(0)

@toolbreak.tool
def work(way):
    return fail(way)

print("signal", work(sys.argv[1]))
`;

type Found = ReaderMethods['search']['result'];

scenes('A fault below Python', (scene) => {
  function crashes(file: string): { text: string; backtrace: string[]; process: number }[] {
    return rows<{ data: string }>(file, "SELECT data FROM events WHERE name = 'crash'").map(
      ({ data }) => JSON.parse(data) as { text: string; backtrace: string[]; process: number },
    );
  }

  for (const [way, text, code] of [
    ['segment', 'Segmentation fault', 139],
    ['abort', 'Aborted', 134],
  ] as const)
    it(`is recorded at its call, with Python's frames: ${way}`, async () => {
      const s = scene();
      const program = s.app('app.py', APP);
      await s.launch({ program, args: [way] });
      await s.exit(code);
      assert.match(s.client.output['important'] ?? '', /in fail \(.*app\.py, line \d+\)\. With a breakpoint/);
      const file = await s.recording();
      const [crash, ...others] = crashes(file);
      assert.deepEqual(others, []);
      assert.equal(crash!.text, text);
      const names = crash!.backtrace.map((frame) => frame.split(' @ ')[0]);
      assert.deepEqual(names.slice(-3), ['fail', 'work', '<module>']);
      assert.ok(crash!.backtrace.every((frame) => !frame.includes('/runtimes/python/toolbreak/')));
      const reader = new Reader(() => undefined);
      try {
        const { calls } = reader.handle('search', { file, text: 'fail', limit: 10 }) as Found;
        assert.equal(calls.length, 1);
        const { events } = reader.handle('call', { file, id: calls[0]!.id }) as CallDetail;
        const pattern = new RegExp(`^Crash: ${text} .*fail @ .*app\\.py:\\d+ ← work @ `);
        assert.ok(
          events.some((event) => pattern.test(event.text)),
          JSON.stringify(events),
        );
      } finally {
        reader.close();
      }
    });

  it('is recorded of a forked child, too', async () => {
    const s = scene();
    await s.launch({ program: s.app('app.py', APP), args: ['child'] });
    assert.match(await s.exit(), /^signal 11$/m);
    const found = crashes(await s.recording());
    assert.deepEqual(
      found.map(({ text }) => text),
      ['Segmentation fault'],
    );
  });

  it("leaves the app's own fault handler alone", async () => {
    const s = scene();
    await s.launch({ program: s.app('app.py', APP), args: ['own'] });
    assert.match(await s.exit(139), /Fatal Python error: Segmentation fault/);
    assert.deepEqual(crashes(await s.recording()), []);
  });
});
