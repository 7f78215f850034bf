import assert from 'node:assert/strict';
import fc from 'fast-check';
import { SliceLanes } from '../../adapter/store/formats/perfetto';
import { Lanes } from '../../adapter/store/lanes';
import { Places } from '../../adapter/store/places';

interface Drawn {
  id: number;
  task: number;
  depth: number;
  start: number;
  end: number | undefined;
}

describe('store: lanes', () => {
  it('gives each call the first row below its parent that no other call takes at the time', () => {
    /** A call that starts, whose parent and end are chosen among those that are there; or one that ends. */
    const step = fc.record({
      starts: fc.boolean(),
      task: fc.integer({ min: 1, max: 3 }),
      which: fc.nat(5),
      wait: fc.nat(3),
      asks: fc.boolean(),
      ended: fc.option(fc.nat(6), { nil: undefined, freq: 4 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const lanes = new Lanes();
        const calls: Drawn[] = [];
        const running = (): Drawn[] => calls.filter(({ end }) => end === undefined);
        let now = 0;
        for (const { starts, task, which, wait, asks, ended } of steps) {
          now += wait;
          if (starts) {
            const parent = which === 0 ? undefined : running().at(-which);
            const own = parent?.task === task ? parent.depth + 1 : 0;
            const taken = (depth: number): boolean =>
              calls.some((one) => one.task === task && one.depth === depth && (one.end ?? Infinity) > now);
            let depth = own;
            while (taken(depth)) depth++;
            const id = calls.length + 1;
            const end = ended === undefined ? undefined : now + ended;
            assert.equal(lanes.start(id, parent?.id ?? 0, task, now, end), depth);
            calls.push({ id, task, depth, start: now, end });
          } else {
            const call = running().at(-1 - which);
            assert.equal(lanes.end(call?.id ?? 999, now), call?.start);
            if (call !== undefined) call.end = now;
          }
          if (!asks) continue;
          assert.deepEqual(
            lanes.openFrom(1, 40),
            running()
              .map(({ id }) => id)
              .filter((id) => id < 40),
          );
        }
      }),
    );
  });

  it('does the same where a task has hundreds of rows', () => {
    const lanes = new Lanes();
    const ends: number[] = [];
    for (let start = 0; start < 3000; start++) {
      let row = ends.findIndex((end) => end <= start);
      if (row < 0) row = ends.length;
      const end = start + 1 + ((start * 7919) % 600);
      assert.equal(lanes.start(start + 1, 0, 1, start, start % 2 === 0 ? end : undefined), row);
      if (start % 2 === 1) lanes.end(start + 1, end);
      ends[row] = end;
    }
    assert.ok(ends.length > 200);
  });

  it('nests slices on the first thread that has room, as a look at one after the other finds it', () => {
    const slice = fc.tuple(fc.nat(4), fc.oneof(fc.nat(40), fc.constant(Infinity)));
    fc.assert(
      fc.property(fc.array(slice, { maxLength: 300 }), (slices) => {
        const lanes = new SliceLanes();
        const threads: number[][] = [];
        let now = 0;
        for (const [wait, length] of slices) {
          now += wait;
          for (const open of threads) while (open.length > 0 && open.at(-1)! <= now) open.pop();
          let thread = threads.findIndex((open) => open.length === 0 || open.at(-1)! >= now + length);
          if (thread < 0) thread = threads.push([]) - 1;
          threads[thread]!.push(now + length);
          assert.equal(lanes.place(now, now + length), thread);
        }
      }),
    );
  });

  it('finds room for hundreds of thousands of calls at one time', () => {
    const lanes = new Lanes();
    const slices = new SliceLanes();
    for (let call = 0; call < 300_000; call++) {
      assert.equal(lanes.start(call + 1, 0, 1, call, 1e6 + call), call);
      assert.equal(slices.place(call, 1e6 + call), call);
    }
  });

  it('finds the first place with a small number', () => {
    const step = fc.tuple(fc.nat(200), fc.nat(20), fc.nat(220), fc.nat(20));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom(-Infinity, Infinity), (steps, none) => {
        const places = new Places(none);
        const all = Array<number>(1000).fill(none);
        for (const [place, number, from, most] of steps) {
          places.set(place, number);
          all[place] = number;
          const found = all.findIndex((one, index) => index >= from && one <= most);
          assert.equal(places.first(from, most), found < 0 ? undefined : found);
        }
      }),
    );
  });
});
