import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallDetail, CallRow } from '../../protocol/timeline';
import { callDetail } from '../../adapter/store/reader/detail';
import { eventDetail, eventId, eventsBetween } from '../../adapter/store/reader/runEvents';
import { RunFile } from '../../adapter/store/reader/runFile';
import { scenarios, type Scenario } from './e2e-langgraph-support';

const PROGRAM = `import toolbreak


def work(amount):
    total = amount + 1
    return total


@toolbreak.tool
def lookup(order_id, password="hunter2secret"):
    found = order_id * 2
    return found


lookup(3)
work(1)
raise ValueError("no order")
`;

interface Seen {
  events: (CallRow & { detail: CallDetail })[];
  call: CallDetail;
  /** All that the session itself wrote down. */
  written: string;
}

/** What the timeline shows in the lane of events, and of the first call. */
async function timeline(s: Scenario): Promise<Seen> {
  const { runFile } = await s.client.waitFor('toolbreak/run');
  await s.client.request('disconnect', {});
  await s.client.closed;
  const file = new RunFile(runFile);
  try {
    const { events } = eventsBetween(file, { from: 0, to: 1e15 });
    return {
      events: events.map((row) => ({ ...row, detail: eventDetail(file, eventId(row.id)!) })),
      call: callDetail(file, '1.1'),
      written: (file.sql('SELECT data FROM events WHERE data IS NOT NULL').pluck().all() as string[]).join('\n'),
    };
  } finally {
    file.db.close();
  }
}

scenarios('Stops at lines of Python, on the timeline', (scenario) => {
  it('stand there once each, with function, line and the way there; who went on is told in words', async () => {
    const s = scenario();
    const program = join(s.place.folder, 'shop.py');
    writeFileSync(program, PROGRAM);
    await s.start({
      program,
      attributes: { cwd: s.place.folder },
      dots: [{ at: 11 }, { at: 5 }],
      exceptions: ['uncaught'],
    });
    await s.go(await s.stop());
    const line = await s.stop();
    assert.equal(await s.set(line, 'Locals', 'amount', '20'), '20');
    const next = await s.step('next', line);
    await s.go(next);
    await s.go(await s.stop());
    await s.exit(1);
    assert.match(s.console(), /^amount 1 → 20 \(edited\)$/m);

    const { events, call, written } = await timeline(s);
    assert.deepEqual(
      call.events.map(({ text }) => text),
      ['Held: Paused on breakpoint: lookup @ shop.py:11', 'Released in the editor'],
    );
    const stops = events.filter(({ holds }) => holds.length > 0);
    assert.deepEqual(
      stops.map(({ name, detail }) => [name, detail.source, detail.event?.stack.map((frame) => frame.line)]),
      [
        ['Breakpoint: work @ shop.py:5', { path: program, line: 5 }, [5, 16]],
        ['Step: work @ shop.py:6', { path: program, line: 6 }, [6, 16]],
        ['Uncaught exception: ValueError no order: <module> @ shop.py:17', { path: program, line: 17 }, [17]],
      ],
    );
    assert.deepEqual(
      stops.map(({ detail }) => detail.attributes),
      ['Step over in the editor', 'Released in the editor', 'Released in the editor'].map((value) => [
        { name: 'went on', value },
      ]),
    );
    for (const { start, end, holds } of stops) {
      assert.ok(end! > start, 'as long as it was held');
      assert.deepEqual(holds, [{ start, end, description: 'Stood still' }]);
    }
    assert.match(
      written,
      /"lookup @ [^"]*shop\.py:11","lookup @ [^"]*shop\.py:10"/,
      'the way there, without arguments',
    );
    assert.doesNotMatch(written, /hunter2/);
    const others = events.filter(({ name }) => /^(held|released|edit|crash)/i.test(name));
    assert.deepEqual(others.map(({ name, detail }) => [name, detail.attributes, detail.input]).sort(), [
      ['Crash: ValueError: no order: <module> @ shop.py:17', [], undefined],
      ['Edited: amount 1 → 20', [{ name: 'edited', value: 'in the editor' }], undefined],
    ]);
  });
});
