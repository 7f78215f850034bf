import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Recording } from '../../adapter/store/recording';
import { recoverSpool } from '../../adapter/store/recover';
import { writeOwner } from '../../adapter/store/spoolOwner';
import { Tagged, Tuple, type Value } from '../../adapter/store/values/model';
import { SpoolFile, dict, encodeMarshal, frame } from '../support/spool';
import { StorePlace } from './store-support';
import { RunFile } from '../../adapter/store/reader/runFile';

const PROCESS = '12-a';

/** A value of about `size` bytes. */
const large = (text: string, size = 600): Value =>
  dict({ text: text.repeat(Math.ceil(size / text.length)), more: [1, 2] });
const keep = (number: number, value: Value): Value => new Tagged('keep', [number, value]);
const same = (number: number): Value => new Tagged('same', [number]);
const state = (call: number, data: Value, count = 1): Value[] => [
  5,
  call,
  2000 + call,
  'before',
  dict({ count, data }),
];

describe('store: kept values', () => {
  let place: StorePlace;
  beforeEach(() => {
    place = new StorePlace();
  });
  afterEach(() => place.remove());

  const options = () => ({ runFile: place.runFile, spoolFolder: place.spool, run: 'a', session: 's', name: 'app.py' });

  /** Takes over what the spool has now, as a session that is killed afterwards: nothing is said about an end. */
  function take(): void {
    const recording = new Recording(options(), () => 1);
    try {
      while (recording.pass().more);
    } finally {
      recording.close();
    }
  }

  const states = (): Map<number, number> =>
    new Map(
      place
        .rows('SELECT id, state_before AS state FROM calls ORDER BY id')
        .map(({ id, state }) => [Number(id) % 2 ** 32, state as number]),
    );
  /** Fills the state's dict beyond the size under which equal values may have several rows. */
  const padded = (call: number, data: Value): Value[] => [
    5,
    call,
    2000 + call,
    'before',
    dict({ pad: 'p'.repeat(250), data }),
  ];

  it('are the values that they stand for', () => {
    new SpoolFile(PROCESS)
      .add(...padded(1, large('one ')))
      .add(...padded(2, keep(7, large('one '))))
      .add(...padded(3, same(7)))
      .add(...padded(4, keep(8, large('two '))))
      .add(...padded(5, same(7)))
      .add(...padded(6, same(8)))
      .write(place.spool);
    take();
    const found = states();
    for (const call of [2, 3, 5]) assert.equal(found.get(call), found.get(1));
    assert.equal(found.get(6), found.get(4));
    assert.notEqual(found.get(4), found.get(1));
  });

  it('may be small, hold others, and stand in arguments and results', () => {
    const inner = keep(2, large('inner '));
    new SpoolFile(PROCESS)
      .add(...padded(1, [large('inner '), 'small', 'small']))
      .add(...padded(2, keep(1, [inner, keep(3, 'small'), same(3)])))
      .add(...padded(3, same(1)))
      .add(...padded(4, [same(2), same(3), same(3)]))
      .add(3, 5, 0, 1, 1, 3000, dict({ pad: 'p'.repeat(250), data: same(1) }), null)
      .add(4, 5, 3001, 0, dict({ pad: 'p'.repeat(250), data: same(1) }), null)
      .write(place.spool);
    take();
    const found = states();
    for (const call of [2, 3, 4]) assert.equal(found.get(call), found.get(1));
    const [call] = place.rows('SELECT args, result FROM calls WHERE args IS NOT NULL');
    assert.deepEqual({ ...call }, { args: found.get(1), result: found.get(1) });
  });

  it('belong to one file', () => {
    const first = new SpoolFile(PROCESS, 1).add(...padded(1, keep(1, large('one '))));
    const second = new SpoolFile(PROCESS, 2, 2).add(...padded(2, keep(1, large('two '))));
    first.add(...padded(3, same(1))).write(place.spool);
    second.add(...padded(4, same(1))).write(place.spool);
    take();
    const found = states();
    assert.equal(found.get(3), found.get(1));
    assert.equal(found.get(4), found.get(2));
    assert.notEqual(found.get(1), found.get(2));
  });

  it('are found again by whoever reads on after kill -9 of the session', () => {
    const file = new SpoolFile(PROCESS)
      .add(...padded(1, keep(1, large('one '))))
      .add(...padded(2, keep(2, [keep(3, large('three ')), 'small'])));
    file.write(place.spool);
    take();
    file
      .add(...padded(3, same(1)))
      .add(...padded(4, same(2)))
      .add(...padded(5, [same(3), 'small']));
    file.write(place.spool);
    take();
    file.add(...padded(6, same(1)));
    file.write(place.spool);
    take();
    const found = states();
    assert.equal(found.get(3), found.get(1));
    assert.equal(found.get(6), found.get(1));
    assert.equal(found.get(4), found.get(2));
    assert.equal(found.get(5), found.get(2));
    assert.equal(place.rows('SELECT damaged FROM runs')[0]?.['damaged'], 0);
  });

  it('are found by the recovery of what a dead session left, also behind a torn frame', () => {
    const file = new SpoolFile(PROCESS).add(...padded(1, keep(1, large('one '))));
    file.write(place.spool);
    take();
    const torn = frame(encodeMarshal(new Tuple(padded(3, keep(2, large('two '))))));
    torn[20] = torn[20]! ^ 1;
    file.add(...padded(2, same(1))).raw(torn);
    writeFileSync(join(place.spool, `${PROCESS}-1.spool`), file.bytes());
    writeOwner(place.spool, { ...options(), pid: 999_999_999, pidStart: '', complete: false });
    assert.equal(recoverSpool(place.spool).state, 'recovered');
    const found = states();
    assert.equal(found.get(2), found.get(1));
    assert.equal(found.has(3), false);
  });

  it('that were lost leave a mark that says so, and the call stays', () => {
    new SpoolFile(PROCESS)
      .add(...state(1, same(4)))
      .add(...state(2, 'after'))
      .write(place.spool);
    take();
    const run = new RunFile(place.runFile);
    try {
      assert.match(run.calls.bytes(states().get(1)!)!.toString('latin1'), /opaque.*damaged/);
    } finally {
      run.close();
    }
    assert.equal(states().size, 2);
  });

  it('cost the run file nothing that is not there yet when they are read again', () => {
    const file = new SpoolFile(PROCESS).add(...padded(1, keep(1, large('one '))));
    file.write(place.spool);
    take();
    const before = place.rows('SELECT count(*) AS n FROM "values"');
    for (let round = 0; round < 3; round++) {
      file.add(...padded(2, same(1))).write(place.spool);
      take();
    }
    assert.deepEqual(place.rows('SELECT count(*) AS n FROM "values"'), before);
  });

  it('of a later format are not guessed at', () => {
    new SpoolFile(PROCESS).add(0, 3, PROCESS, 12, 1, 1, 'MainThread', 1n, 1000, dict({})).write(place.spool);
    take();
    assert.equal(place.rows('SELECT damaged FROM runs')[0]?.['damaged'], 1);
  });

  it('with hostile numbers and shapes are damage, and reading goes on', () => {
    new SpoolFile(PROCESS)
      .add(...state(1, new Tagged('keep', ['one', large('one ')])))
      .add(...state(2, new Tagged('same', [])))
      .add(...state(3, new Tagged('same', [null])))
      .add(...padded(4, large('four ')))
      .write(place.spool);
    take();
    assert.ok(states().has(4));
    assert.equal(place.rows('SELECT damaged FROM runs')[0]?.['damaged'], 2);
  });
});
