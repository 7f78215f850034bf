import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Lanes } from '../../adapter/store/lanes';

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
});
