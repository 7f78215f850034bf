import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { types } from 'node:util';
import type * as declared from '../../../runtimes/node/index.mjs';
import { paramsOf } from '../../../runtimes/node/params.mjs';
import { wrap } from '../../../runtimes/node/wrap.mjs';
import { FrameKind } from '../../../protocol/spool';
import { Recorded, type SeenCall } from './support';

/** `name(parent's name)` of each call. */
const tree = (calls: SeenCall[]): string[] =>
  calls.map(({ name, parent }) => `${name}(${calls.find(({ id }) => id === parent)?.name ?? ''})`);

// What is declared for people who write TypeScript is what there is.
wrap satisfies typeof declared.wrap;

describe('node runtime: wrapped functions', () => {
  let recorded: Recorded;
  beforeEach(() => (recorded = new Recorded()));
  afterEach(() => recorded.close());

  /** What must be the same whether something records or not. */
  const both = async (check: () => void | Promise<void>): Promise<void> => {
    await check();
    await recorded.during(check);
  };

  it('stay what they are: this, arguments, length, name, properties, kind', async () => {
    const extra = Symbol('extra');
    function own(this: unknown, ...args: unknown[]): unknown[] {
      return [this, args.length, ...args];
    }
    Object.assign(own, { description: 'looks', [extra]: 1 });
    const getter = { get: () => assert.fail('a getter ran'), set: undefined, enumerable: true, configurable: true };
    Object.defineProperty(own, 'lazy', getter);
    const wrapped = wrap(own) as typeof own & { description: string; [extra]: number };
    assert.deepEqual([wrapped.name, wrapped.length, wrapped.description, wrapped[extra]], ['own', 0, 'looks', 1]);
    assert.deepEqual(Object.getOwnPropertyDescriptor(wrapped, 'lazy'), getter);
    assert.equal(wrap(wrapped), wrapped);
    const arrow = wrap((one: number, two: number) => one + two);
    assert.deepEqual([arrow.name, arrow.length, 'prototype' in arrow], ['', 2, false]);
    const later = wrap(async () => 1);
    assert.equal(
      Object.getPrototypeOf(later),
      Object.getPrototypeOf(async () => 1),
    );
    await both(async () => {
      const self = {};
      assert.deepEqual(wrapped.call(self, 1, undefined), [self, 2, 1, undefined]);
      assert.deepEqual(wrapped.call(undefined).length, 2);
      assert.equal(wrapped.call(undefined)[0], own.call(undefined)[0]);
      assert.equal(arrow(1, 2), 3);
      assert.throws(() => Reflect.construct(arrow, []), TypeError);
      assert.equal(await later(), 1);
    });
  });

  it('may be classes and constructors', async () => {
    class Plain {
      static made = 1;
      constructor(readonly id: number) {}
    }
    const Wrapped = wrap(Plain);
    class Below extends Wrapped {
      more = 2;
    }
    await both(() => {
      const one = new Wrapped(7);
      assert.ok(one instanceof Plain && one instanceof Wrapped);
      assert.deepEqual([one.id, one.constructor, Wrapped.made], [7, Plain, 1]);
      const below = new Below(8);
      assert.ok(below instanceof Below && below instanceof Plain);
      assert.deepEqual([below.id, below.more], [8, 2]);
      assert.throws(() => (Wrapped as unknown as (id: number) => void)(1), /without 'new'/);
    });
    assert.deepEqual(
      recorded.calls().map(({ name, value, status }) => [name, status, (value as unknown[])[1]]),
      [
        ['Plain', 0, 'Plain'],
        ['Plain', 0, 'Below'],
        ['Plain', 1, 'TypeError'],
      ],
    );
  });

  it('are recorded with the names of their arguments, their result or error, and where they were wrapped', async () => {
    const add = wrap((first: number, { two }: { two: number }, ...more: number[]) => first + two + more.length);
    const fail = wrap(
      function fail(): never {
        throw new RangeError('no');
      },
      { name: 'given', kind: 'tool' },
    );
    await recorded.during(() => {
      add(1, { two: 2 }, 3, 4);
      assert.throws(() => fail(), new RangeError('no'));
    });
    const [one, two] = recorded.calls();
    assert.deepEqual(
      [one!.name, one!.args, one!.status, one!.value],
      ['anonymous', { first: 1, 1: { two: 2 }, more: [3, 4] }, 0, 5],
    );
    assert.deepEqual([two!.name, two!.args, two!.status], ['given', {}, 1]);
    assert.deepEqual((two!.value as unknown[]).slice(0, 3), ['<error>', 'RangeError', 'no']);
    const functions = recorded.frames().filter((frame) => frame.kind === FrameKind.Function);
    assert.deepEqual(
      functions.map(({ callKind, path }) => [callKind, path]),
      [
        ['function', __filename],
        ['tool', __filename],
      ],
    );
    assert.ok(functions.every(({ line }) => line > 80));
  });

  it('have a list of what is left of very many arguments', async () => {
    const all = wrap((...given: unknown[]) => given.length, { name: 'all' });
    const first = wrap(function (this: void, one: string) {
      return [one, arguments.length];
    }) as (...given: string[]) => unknown;
    const many = Array.from({ length: 30_000 }, (_, index) => `${index} ${'.'.repeat(120)}`);
    await recorded.during(() => {
      assert.equal(all(...many), 30_000);
      assert.deepEqual(first(...many), [many[0], 30_000]);
    });
    const [, call] = recorded.calls();
    const args = call!.args as Record<string, unknown>;
    assert.deepEqual([args['one'], args['1'], args['100']], [many[0], many[1], many[100]]);
    assert.deepEqual(Object.keys(args).length, 102);
    const [tag, , head, length] = args['101…'] as [string, string, string[], number];
    assert.deepEqual([tag, length, head[0]], ['<cut>', 30_000 - 101, many[101]]);
  });

  it('have their small arguments recorded behind one that takes all the room', async () => {
    const limit = 'larger than the limit of 1048576 bytes';
    const call: (...given: unknown[]) => unknown = wrap((rows: unknown) => rows);
    const sign = wrap((all: unknown, name: string, value: unknown, password: unknown) => [all, name, value, password]);
    const getter = Object.defineProperty({}, 'lazy', { get: () => assert.fail('a getter ran'), enumerable: true });
    const large = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key ${index}`, 1]));
    const rows = new Array(2000).fill('z'.repeat(1000));
    await recorded.during(() => {
      for (const small of [{ limit: 7, mode: 'fast' }, [1, 'two', null], { user: 'ann', password: 'hunter2' }])
        call(rows, small, 7);
      for (const other of [{ a: { b: 1 } }, { a: 'x'.repeat(201) }, new Array(9).fill(1), getter, new Map([[1, 2]])])
        call(rows, other, 7);
      // All of them together take a few kilobytes, and no more looks than one at a large one.
      call(rows, ...Array.from({ length: 60 }, () => new Array<string>(8).fill('é'.repeat(200))));
      call(rows, large, { limit: 7 });
      sign(rows, 'DB_PASSWORD', ['hunter2'], ['hunter2']);
      call(rows, ['--password', 'hunter2']);
    });
    const given = recorded.calls().map(({ args }) => args as Record<string, unknown>);
    assert.deepEqual(
      given.slice(0, 3).map((args) => [args['1'], args['2']]),
      [
        [{ limit: 7, mode: 'fast' }, 7],
        [[1, 'two', null], 7],
        [{ user: 'ann', password: ['<masked>', 'password holds a secret'] }, 7],
      ],
    );
    for (const args of given.slice(3, 8)) {
      assert.deepEqual([(args['1'] as unknown[])[0], (args['1'] as unknown[]).at(-1)], ['<cut>', limit]);
      assert.equal(args['2'], 7);
    }
    const kept = Object.values(given[8]!).filter((each) => (each as unknown[])[0] !== '<cut>');
    assert.equal(kept.length, 3);
    assert.equal((given[9]!['2'] as unknown[])[0], '<cut>');
    assert.deepEqual(Object.keys(given[10]!), ['all', 'name', 'value', 'password']);
    assert.doesNotMatch(JSON.stringify(given[10]), /hunter2/);
    assert.deepEqual(given[11]!['1'], ['--password', ['<masked>', 'password holds a secret']]);
  });

  it('are recorded with a module that has not begun, whether there is room for it or not', async () => {
    const file = join(recorded.folder, 'own.mjs');
    const rows = new Array(2000).fill('z'.repeat(1000));
    const call: (...given: unknown[]) => unknown = wrap((first: unknown) => first);
    Object.assign(globalThis, { take: (module: unknown) => void [call(module), call(rows, module)] });
    writeFileSync(file, `import * as own from './own.mjs'; take(own); export const later = 1;`);
    try {
      await recorded.during(() => import(pathToFileURL(file).href));
    } finally {
      Reflect.deleteProperty(globalThis, 'take');
      rmSync(file);
    }
    const [one, two] = recorded.calls().map(({ args }) => args as Record<string, unknown[]>);
    assert.equal(one!['first']!.at(-1), 'it could not be read while recording');
    assert.equal(two!['1']![0], '<cut>');
  });

  it('may be a class with a static method called `name`, and generators without a prototype', async () => {
    const Named = wrap(
      class {
        static name(): string {
          return 'mine';
        }
      },
    );
    function* bare(): Generator<number> {
      yield 1;
    }
    function* odd(): Generator<number> {
      yield 2;
    }
    async function* own(): AsyncGenerator<number> {
      yield 3;
    }
    (own.prototype as { next: () => unknown }).next = () => 'its own';
    bare.prototype = null;
    odd.prototype = Object.create(null) as object;
    await both(() => {
      assert.ok(new Named() instanceof Named);
      assert.deepEqual([...wrap(bare)()], [1]);
      assert.equal((wrap(odd)() as Partial<Generator>).next, undefined);
      assert.equal(wrap(own)().next(), 'its own');
    });
    assert.deepEqual(tree(recorded.calls()), ['anonymous()', 'bare()']);
  });

  it('refuse what is no function, an odd name and an unknown kind', () => {
    assert.throws(() => wrap(1 as never), /wrap takes a function/);
    assert.throws(() => wrap(() => 1, { name: '' }), /name must be a text/);
    assert.throws(() => wrap(() => 1, { kind: 'thing' as never }), /kind must be one of workflow, node/);
  });

  it('know who called them, also behind awaits, callbacks and in parallel', async () => {
    const leaf = wrap((n: number) => n, { name: 'leaf' });
    const child = wrap(
      async (n: number) => {
        await turn();
        leaf(n);
        await turn();
        return leaf(n);
      },
      { name: 'child' },
    );
    const promised = wrap((n: number) => turn().then(() => leaf(n)), { name: 'promised' });
    const top = wrap(
      async () => {
        await Promise.all([child(1), child(2)]);
        await promised(3);
        return new Promise<number>((done) => setTimeout(() => done(leaf(4)), 1));
      },
      { name: 'top' },
    );
    await recorded.during(async () => {
      assert.equal(await top(), 4);
      leaf(5);
    });
    const calls = recorded.calls();
    assert.deepEqual(tree(calls).sort(), [
      'child(top)',
      'child(top)',
      'leaf()',
      'leaf(child)',
      'leaf(child)',
      'leaf(child)',
      'leaf(child)',
      'leaf(promised)',
      'leaf(top)',
      'promised(top)',
      'top()',
    ]);
    const [one, two] = calls.filter(({ name }) => name === 'child');
    assert.notEqual(one!.task, two!.task, 'what runs beside each other has a lane of its own');
    assert.equal(calls.find(({ name }) => name === 'promised')!.task, calls[0]!.task);
    assert.ok(calls.every(({ status }) => status === 0));
  });

  it('know who called them behind a promise that comes after plain results', async () => {
    const known = new Map([[1, 'one']]);
    const leaf = wrap((n: number) => n, { name: 'leaf' });
    const load = wrap((n: number) => known.get(n) ?? turn().then(() => leaf(n)), { name: 'load' });
    await recorded.during(async () => {
      for (const n of [1, 1, 2, 1, 3]) await load(n);
    });
    assert.deepEqual(tree(recorded.calls()), [
      'load()',
      'load()',
      'load()',
      'leaf(load)',
      'load()',
      'load()',
      'leaf(load)',
    ]);
  });

  it('know who called them behind what a generator gave to whoever steps it', async () => {
    const leaf = wrap((n: number) => n, { name: 'leaf' });
    const load = async (n: number): Promise<number> => {
      await turn();
      return leaf(n);
    };
    const flow = wrap(function* flow(): Generator<Promise<number>, number, number> {
      return (yield load(1)) + (yield load(2));
    });
    await recorded.during(async () => {
      const steps = flow();
      let step = steps.next();
      while (!step.done) step = steps.next(await step.value);
      assert.equal(step.value, 3);
    });
    assert.deepEqual(tree(recorded.calls()), ['flow()', 'leaf(flow)', 'leaf(flow)']);
  });

  it("are nobody's parent once they have ended", async () => {
    const leaf = wrap(() => 1, { name: 'leaf' });
    let later: Promise<number> | undefined;
    const starts = wrap(() => void (later = turn().then(leaf)), { name: 'starts' });
    await recorded.during(async () => {
      for (let round = 0; round < 3; round++) {
        starts();
        await later;
      }
    });
    assert.deepEqual(tree(recorded.calls()), ['starts()', 'leaf()', 'starts()', 'leaf()', 'starts()', 'leaf()']);
  });

  it('hand errors of promises on, and hide none that nobody handles', async () => {
    const wrong = new Error('later');
    const fails = wrap(async () => {
      await turn();
      throw wrong;
    });
    const failing = wrap(() => Promise.reject(wrong));
    const unhandled: unknown[] = [];
    const listeners = process.rawListeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', (reason) => unhandled.push(reason));
    try {
      await recorded.during(async () => {
        await assert.rejects(fails(), wrong);
        await assert.rejects(failing(), wrong);
        void fails();
        void failing();
        for (let round = 0; round < 5; round++) await turn();
      });
    } finally {
      process.removeAllListeners('unhandledRejection');
      for (const each of listeners) process.on('unhandledRejection', each as () => void);
    }
    assert.deepEqual(unhandled, [wrong, wrong]);
    assert.deepEqual(
      recorded.calls().map(({ status }) => status),
      [1, 1, 1, 1],
    );
  });

  it('give the same promise for the same promise, and leave those of other kinds alone', async () => {
    class Lazy<T> extends Promise<T> {
      override then(): never {
        throw new Error('it was started');
      }
    }
    const shared = turn('shared');
    const cached = wrap(() => shared, { name: 'cached' });
    const lazy = new Lazy<number>(() => undefined);
    const query = { then: () => assert.fail('it was started') };
    const marked = Object.assign(Promise.resolve(2), { child: 1 });
    await recorded.during(async () => {
      assert.equal(cached(), cached());
      assert.equal(await cached(), 'shared');
      assert.equal(wrap(() => lazy)(), lazy);
      assert.equal(wrap(() => query)(), query);
      assert.equal(wrap(() => marked)(), marked);
      await turn();
    });
    const calls = recorded.calls();
    assert.deepEqual(
      calls.slice(0, 3).map(({ value }) => value),
      ['shared', 'shared', 'shared'],
    );
    assert.deepEqual((calls[3]!.value as unknown[]).slice(0, 2), ['<opaque>', 'Lazy']);
    assert.deepEqual((calls[5]!.value as unknown[])[3], 'a promise');
  });

  it('may be generators: from the first step to the last', async () => {
    const leaf = wrap((n: number) => n, { name: 'leaf' });
    const steps = wrap(function* steps(n: number): Generator<number, string, undefined> {
      for (let i = 0; i < n; i++) yield leaf(i);
      return 'done';
    });
    const later = wrap(async function* later(n: number) {
      await turn();
      leaf(n);
      yield n;
      if (n > 1) throw new Error('enough');
    });
    const prototype = Object.getPrototypeOf(steps) as object;
    assert.equal(
      prototype,
      Object.getPrototypeOf(function* () {}),
    );
    await both(async () => {
      assert.deepEqual([...steps(2)], [0, 1]);
      const generator = steps(5);
      assert.ok(generator instanceof (steps as unknown as new () => object));
      assert.ok(types.isGeneratorObject(generator));
      generator.next();
      assert.deepEqual(generator.return('stopped'), { value: 'stopped', done: true });
      assert.deepEqual(generator.next(), { value: undefined, done: true });
      steps(1).return('never begun');
      const seen = [];
      for await (const each of later(1)) seen.push(each);
      await assert.rejects(async () => {
        for await (const each of later(2)) seen.push(each);
      }, /enough/);
      assert.deepEqual(seen, [1, 2]);
    });
    const calls = recorded.calls();
    assert.deepEqual(tree(calls), [
      'steps()',
      'leaf(steps)',
      'leaf(steps)',
      'steps()',
      'leaf(steps)',
      'later()',
      'leaf(later)',
      'later()',
      'leaf(later)',
    ]);
    assert.deepEqual(
      calls.filter(({ name }) => name !== 'leaf').map(({ status, value }) => (status === 0 ? value : status)),
      ['done', 'stopped', ['<opaque>', 'undefined', 'undefined', null], 1],
    );
  });

  it('go on where recording fails, and near the end of the stack', async () => {
    let depth = 0;
    const down = wrap((n: number): number => {
      depth = n;
      return down(n + 1);
    });
    await recorded.during(() => {
      assert.throws(() => down(0), /Maximum call stack size exceeded/);
      assert.equal(wrap(() => 'fine')(), 'fine');
    });
    assert.ok(depth > 100);
    const calls = recorded.calls();
    assert.equal(calls.at(-1)!.value, 'fine');
    assert.equal(calls.at(-1)!.parent, 0);
  });

  it('name their parameters as the source does', () => {
    const names = (fn: unknown): unknown => {
      const { names: found, rest } = paramsOf(fn as () => void);
      return rest ? [...found, '...'] : found;
    };
    const key = 'x';
    assert.deepEqual(
      names(function (a: unknown, b = ')', c = [1, { d: '(' }], ...e: unknown[]) {
        return [a, b, c, e];
      }),
      ['a', 'b', 'c', 'e', '...'],
    );
    assert.deepEqual(names(eval('(a /* , b */, // c\n d = `x${"}"}`, { e }, [f]) => 1')), ['a', 'd', '2', '3']);
    assert.deepEqual(names(eval('async a => a')), ['a']);
    assert.deepEqual(
      names(
        {
          async *[`${key}(`](q: number) {
            yield q;
          },
        }['x('],
      ),
      ['q'],
    );
    assert.deepEqual(names(eval('(ünï, $_) => 1')), ['ünï', '$_']);
    assert.deepEqual(names(eval('(a = /[)]/, b) => 1')), [], 'what cannot be told has positions');
    assert.deepEqual(
      names(
        class {
          constructor(readonly a: number) {}
        },
      ),
      ['a'],
    );
    const classes: [source: string, names: string[]][] = [
      ['class { x = 1\n constructor(id, { total } = {}, ...more) {} }', ['id', '1', 'more', '...']],
      ['class A extends Object { static constructor(no) {} #p = "constructor(no)"; /* constructor(no) */ constructor(a) { super() } }', ['a']],
      ['class { make() { return this.constructor(1) } get constructor2() { return 1 } }', []],
      ['class { x = this.\nconstructor(1); constructor(a) {} }', ['a']],
      ['class { half = 1 / 2; constructor(a) {} }', []],
      ['class extends (class { constructor(no) {} }) { constructor(a) { super() } }', []],
      ['class { static\nconstructor(no) {} }', []],
      ['class { x = typeof\nconstructor2(1); constructor(a) {} }', ['a']],
      ['class extends Object { "constructor"(a) { super() } }', []],
      ['class extends Object { constructor/* a */(a) { super() } }', []],
      ['class extends (0, Date) {}', []],
    ]; // prettier-ignore
    for (const [source, expected] of classes) assert.deepEqual(names(eval(`(${source})`)), expected, source);
    const Base = wrap(eval('(class Base { constructor(id, total) {} })') as new () => object);
    class Derived extends Base {}
    assert.deepEqual(names(Derived), ['id', 'total']);
    assert.deepEqual(names(Math.max), []);
    assert.deepEqual(names(names.bind(null)), []);
  });
});
