import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { FoundCall, Query, QueryAnswer } from '../../protocol/query';
import { runQuery } from '../../adapter/store/query/query';
import { Tagged, type Value } from '../../adapter/store/values/model';
import { SpoolFile, dict } from '../support/spool';
import { RecordedProject } from './recorded';

/** What a call of the recording is, as it was made: the naive filter knows nothing of the store. */
interface Made {
  id: number;
  kind: string;
  name: string;
  task: string;
  file: string;
  start: number;
  end: number | undefined;
  state: string;
  order: number;
  word: string;
  error: string | undefined;
}

const FUNCTIONS = [
  ['workflow', 'support_agent', '/app/triage.py'],
  ['node', 'plan', '/app/triage.py'],
  ['tool', 'lookup_order', '/app/shop/tools.py'],
  ['tool', 'refund', '/app/shop/tools.py'],
  ['llm', 'chat', null],
] as const;
const TASKS = ['support_agent', 'support_agent › check', 'worker'];
const STATES = ['returned', 'error', 'cancelled', 'skipped'];
const ERRORS = ['ValueError', 'shop.errors.OutOfStock'];
const WORDS = ['refund me', 'Order 7', 'ORDER', 'nothing', 'x'];

const call = fc.record({
  fn: fc.nat(FUNCTIONS.length - 1),
  task: fc.nat(TASKS.length - 1),
  gap: fc.nat(40),
  length: fc.option(fc.oneof(fc.nat(20), fc.nat(5000), fc.nat(3_000_000)), { nil: undefined, freq: 8 }),
  state: fc.nat(3),
  order: fc.nat(9),
  word: fc.constantFrom(...WORDS),
  error: fc.constantFrom(...ERRORS),
});
type Drawn = typeof call extends fc.Arbitrary<infer T> ? T : never;

function build(drawn: readonly Drawn[]): { spool: SpoolFile; made: Made[] } {
  const spool = new SpoolFile('4000001-abc');
  FUNCTIONS.forEach(([kind, name, path], index) => spool.add(1, index + 1, kind, name, `m.${name}`, 'm', path, 5, 9));
  // So many tools that a search for tools goes another way than one for a single name.
  for (let spare = 0; spare < 120; spare++)
    spool.add(1, 100 + spare, 'tool', `spare_${spare}`, `spare_${spare}`, 'm', '/app/spare.py', 1, 1);
  TASKS.forEach((name, index) => spool.add(2, index + 1, name, 0));
  const frames: { time: number; items: Value[] }[] = [];
  let time = 2000;
  const made = drawn.map((one, index): Made => {
    time += one.gap;
    const id = index + 1;
    const [kind, name, file] = FUNCTIONS[one.fn]!;
    const text = one.word.repeat(one.order === 9 ? 60 : 1);
    const args = dict({ order_id: one.order, note: text, lines: [dict({ 'a b': one.word })] });
    frames.push({ time, items: [3, id, 0, one.fn + 1, one.task + 1, time, args, null] });
    const state = one.length === undefined ? 'running' : STATES[one.state]!;
    if (one.length !== undefined) {
      const failed = state === 'error' || state === 'cancelled';
      const result: Value = failed
        ? new Tagged('error', [one.error, `bad ${one.word}`, [], null, dict({})])
        : dict({ total: one.order * 2, text });
      frames.push({ time: time + one.length, items: [4, id, time + one.length, one.state, result, null] });
    }
    return {
      id,
      kind,
      name,
      task: TASKS[one.task]!,
      file: file ?? '',
      start: time,
      end: one.length === undefined ? undefined : time + one.length,
      state,
      order: one.order,
      word: text,
      error: state === 'error' || state === 'cancelled' ? one.error : undefined,
    };
  });
  frames.sort((one, other) => one.time - other.time);
  for (const { items } of frames) spool.add(...items);
  return { spool, made };
}

const some = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined, freq: 2 });
const query = fc.record({
  kinds: some(fc.uniqueArray(fc.constantFrom('tool', 'node', 'llm'), { minLength: 1 })),
  name: some(
    fc.constantFrom(
      { equals: 'refund' },
      { contains: 'ORDER' },
      { regex: '^(plan|re)' },
      { equals: 'tool:lookup_order' },
    ),
  ),
  file: some(fc.constantFrom('tools.py', 'shop/tools.py', '/app/triage.py', 'riage.py')),
  status: some(fc.uniqueArray(fc.constantFrom('running', ...STATES), { minLength: 1 })),
  error: some(fc.constantFrom('ValueError', 'OutOfStock', 'shop.errors.OutOfStock')),
  argument: some(fc.nat(9)),
  result: some(fc.constantFrom('^1', '8$')),
  text: some(fc.constantFrom('order 7', 'REFUND', 'nothing')),
  task: some(fc.constantFrom('support', 'check', 'Worker')),
  from: some(fc.nat(300)),
  to: some(fc.nat(2000)),
  minimum: some(fc.nat(6000)),
  order: fc.constantFrom('start', '-start', 'duration', '-duration'),
});
type DrawnQuery = typeof query extends fc.Arbitrary<infer T> ? T : never;

function asQuery(drawn: DrawnQuery): Query {
  const where = [
    ...(drawn.argument === undefined ? [] : [{ path: 'argument.order_id', equals: drawn.argument }]),
    ...(drawn.result === undefined ? [] : [{ path: 'result.total', matches: drawn.result }]),
  ];
  const given = {
    kinds: drawn.kinds,
    name: drawn.name,
    file: drawn.file,
    status: drawn.status,
    error: drawn.error,
    where: where.length > 0 ? where : undefined,
    text: drawn.text,
    task: drawn.task,
    from: drawn.from === undefined ? undefined : `${drawn.from}ns`,
    to: drawn.to === undefined ? undefined : `+${drawn.to}ns`,
    minimumDuration: drawn.minimum,
    order: drawn.order,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function naive(made: readonly Made[], drawn: DrawnQuery, end: number): number[] {
  const zero = Math.min(...made.map(({ start }) => start));
  const has = (text: string, part: string): boolean => text.toLowerCase().includes(part.toLowerCase());
  const left = made.filter((one) => {
    const { kind, name, task, file, start, state, order, word, error } = one;
    if (drawn.kinds && !drawn.kinds.includes(kind as 'tool')) return false;
    const names = [name, `m.${name}`, `${kind}:${name}`];
    if (drawn.name) {
      const { equals, contains, regex } = drawn.name as { equals?: string; contains?: string; regex?: string };
      if (equals !== undefined && !names.includes(equals)) return false;
      if (contains !== undefined && !names.some((text) => has(text, contains))) return false;
      if (regex !== undefined && !new RegExp(regex).test(name)) return false;
    }
    if (drawn.file && file !== drawn.file && !file.endsWith(`/${drawn.file}`)) return false;
    if (drawn.status && !drawn.status.includes(state)) return false;
    if (drawn.error && error !== drawn.error && error?.split('.').at(-1) !== drawn.error) return false;
    if (drawn.argument !== undefined && order !== drawn.argument) return false;
    const total = state === 'returned' || state === 'skipped' ? String(order * 2) : undefined;
    if (drawn.result && !(total !== undefined && new RegExp(drawn.result).test(total))) return false;
    if (drawn.text) {
      const values = [String(order), word, 'a b', 'order_id', 'note', 'lines', total ?? '', error ?? ''];
      if (![...names, ...values].some((text) => has(text, drawn.text!))) return false;
    }
    if (drawn.task && !has(task, drawn.task)) return false;
    if (drawn.from !== undefined && start - zero < drawn.from) return false;
    if (drawn.to !== undefined && start - zero > drawn.to) return false;
    return drawn.minimum === undefined || (one.end ?? end) - start >= drawn.minimum;
  });
  const key = (one: Made): number => (drawn.order.endsWith('start') ? one.start : one.end! - one.start);
  const sign = drawn.order.startsWith('-') ? -1 : 1;
  return left
    .filter((one) => drawn.order.endsWith('start') || one.end !== undefined)
    .sort((one, other) => sign * (key(one) - key(other) || one.id - other.id))
    .map(({ id }) => id);
}

const idsOf = (answer: QueryAnswer): number[] => answer.rows.map((row) => Number((row as FoundCall).call.id.slice(2)));

describe('query: what a plain filter over all calls finds', function () {
  this.timeout(120_000);

  it('is what the query answers, on one page and on many', () => {
    const project = new RecordedProject();
    try {
      let run = 0;
      fc.assert(
        fc.property(
          fc.array(call, { minLength: 1, maxLength: 60 }),
          fc.array(query, { minLength: 8, maxLength: 8 }),
          fc.integer({ min: 1, max: 7 }),
          (drawn, queries, limit) => {
            const { spool, made } = build(drawn);
            const { recording, file } = project.begin(`run-${run++}`, [spool]);
            recording.close();
            for (const one of queries) {
              const given = asQuery(one);
              if (one.order.endsWith('duration') && one.status?.join() === 'running') continue;
              // The session that wrote the file is this process: its run goes on, so an open call takes all the time there was.
              const expected = naive(made, one, Infinity);
              const all = runQuery([file], { ...given, limit: 500 });
              assert.deepEqual(idsOf(all), expected, JSON.stringify(given));
              assert.deepEqual(all.more, { count: 0, exact: true });
              const paged: number[] = [];
              for (let cursor: string | undefined; ;) {
                const answer: QueryAnswer = runQuery([file], { ...given, limit, ...(cursor ? { cursor } : {}) });
                paged.push(...idsOf(answer));
                if (answer.rows.length === 0 || answer.cursor === undefined) break;
                assert.equal(answer.more.count, expected.length - paged.length);
                cursor = answer.cursor;
              }
              assert.deepEqual(paged, expected, JSON.stringify(given));
            }
          },
        ),
        { numRuns: 25 },
      );
    } finally {
      project.remove();
    }
  });

  it('goes on after any row, also when the work of an answer is done before the page is full', () => {
    const project = new RecordedProject();
    try {
      const { spool, made } = build(
        Array.from({ length: 300 }, (_, index) => ({
          fn: index % 5,
          task: 0,
          gap: index % 3,
          length: (index * 7919) % 5000,
          state: 0,
          order: index % 10,
          word: 'x',
          error: 'ValueError',
        })),
      );
      const file = project.record('long', [spool]);
      for (const order of ['start', '-start', 'duration', '-duration'] as const) {
        const given: Query = { where: [{ path: 'argument.order_id', equals: 3 }], order, limit: 5 };
        const found: number[] = [];
        let pages = 0;
        for (let cursor: string | undefined; ; pages++) {
          const budget = { rows: 17, counting: 17, milliseconds: 10_000 };
          const answer: QueryAnswer = runQuery([file], { ...given, ...(cursor ? { cursor } : {}) }, budget);
          assert.ok(answer.looked <= 17);
          found.push(...idsOf(answer));
          cursor = answer.cursor;
          if (cursor === undefined) break;
          assert.equal(answer.more.exact && answer.more.count === 0, false);
        }
        const expected = naive(made, { order, argument: 3 } as DrawnQuery, 0);
        assert.deepEqual(found, expected, order);
        assert.ok(pages > 10);
      }
    } finally {
      project.remove();
    }
  });
});
