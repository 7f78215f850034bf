import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { runInNewContext } from 'node:vm';
import { BEYOND } from '../../../runtimes/node/masking.mjs';
import { encoded } from './support';

const never = (): never => {
  throw new Error('code of the app ran');
};

const symbol = (name: string): unknown[] => ['<opaque>', 'symbol', `Symbol(${name})`, 'a symbol'];

describe('node runtime: values', () => {
  it('writes plain values as they are', () => {
    const whole = {
      text: 'ünïcode 😀',
      long: 'é'.repeat(500),
      nothing: null,
      yes: true,
      no: false,
      zero: 0,
      small: -5,
      edge: [2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
      list: [1, 'two', [3], {}, []],
    };
    assert.deepEqual(encoded(whole), whole);
    assert.equal(encoded('a\ud800b'), 'a\ud800b');
    assert.deepEqual(encoded(Object.assign(Object.create(null) as object, { a: 1 })), { a: 1 });
  });

  it('gives back any value of JSON', () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    const text = (): string =>
      Array.from({ length: random(4) === 0 ? random(400) : random(12) }, () =>
        String.fromCodePoint(
          [97 + random(26), 0xe0 + random(30), 0x4e00 + random(99), 0x1f600 + random(50)][random(9) & 3]!,
        ),
      ).join('');
    const make = (depth: number): unknown => {
      switch (random(depth > 5 ? 6 : 9)) {
        case 0:
          return null;
        case 1:
          return random(2) === 1;
        case 2:
          return random(100_000) - 50_000;
        case 3:
          return (random(2 ** 30) - 2 ** 29) * random(2 ** 20);
        case 4:
        case 5:
          return text();
        case 6:
          return Array.from({ length: random(8) }, () => make(depth + 1));
        default:
          return Object.fromEntries(Array.from({ length: random(8) }, () => [text(), make(depth + 1)]));
      }
    };
    for (let round = 0; round < 300; round++) {
      const value = make(0);
      assert.deepEqual(encoded(value), Object.is(value, -0) ? { float: -0 } : value);
    }
  });

  it('tells floating point numbers from whole ones', () => {
    assert.deepEqual(encoded([1.5, -0, 2 ** 53, Infinity]), [
      { float: 1.5 },
      { float: -0 },
      { float: 2 ** 53 },
      { float: Infinity },
    ]);
    assert.deepEqual(encoded(NaN), { float: NaN });
  });

  it('writes what stands under symbols, where it is of the app and can be listed', () => {
    assert.deepEqual(encoded({ a: 1, [Symbol('b')]: [2], [Symbol('token')]: 'abcdef' }), {
      entries: [
        ['a', 1],
        [symbol('b'), [2]],
        [symbol('token'), ['<masked>', 'token holds a secret']],
      ],
    });
    assert.deepEqual(encoded(Object.assign([1], { [Symbol('c')]: 3 })), [
      '<object>',
      'Array',
      {
        entries: [
          ['(value)', [1]],
          [symbol('c'), 3],
        ],
      },
      null,
    ]);
    const getter = {
      get [Symbol('g')]() {
        return never();
      },
    };
    assert.deepEqual(encoded(getter), {
      entries: [[symbol('g'), ['<opaque>', 'getter', '', 'a getter; reading it would run code']]],
    });
    assert.deepEqual(encoded(Object.defineProperty({}, Symbol('hidden'), { value: 1 })), {});
    assert.deepEqual(encoded(Object.assign([], { [Symbol('c')]: 3, d: 4 })), [
      '<object>',
      'Array',
      {
        entries: [
          ['(value)', []],
          ['d', 4],
          [symbol('c'), 3],
        ],
      },
      null,
    ]);
    // Named as Node names its own.
    const kKept = Symbol('kept');
    class Mine {
      [kKept] = 1;
    }
    const mine = new (class extends Mine {})();
    assert.deepEqual((encoded(mine) as unknown[])[2], { entries: [[symbol('kept'), 1]] });
    const refused = Object.assign(new Error('no'), { [Symbol('why')]: 2 });
    assert.ok(JSON.stringify(encoded(refused)).includes('Symbol(why)'));
    // What Node keeps in its own.
    const reading = createInterface({ input: Readable.from([]) });
    reading.close();
    // Of a class that Node shows to nobody nothing tells that it is Node's, such as one in a field of this.
    assert.ok(Object.keys((encoded(reading) as unknown[])[2] as object).includes('terminal'));
    for (const own of [new (class extends EventEmitter {})(), new Event('e'), performance.mark('m')])
      assert.ok(!JSON.stringify(encoded(own)).includes('Symbol('), own.constructor.name);
    const symbols = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`k${index}`, 'y'.repeat(100_000)]));
    const cut = encoded(Object.assign(symbols, { [Symbol('last')]: 1 })) as unknown[];
    assert.deepEqual([cut[0], cut[3]], ['<cut>', 31]);
    const beside = encoded(
      Object.assign([1], { a: 'z'.repeat(900_000), b: 'y'.repeat(200_000), c: 1, d: 2 }),
    ) as unknown[];
    const fields = beside[2] as Record<string, unknown>;
    assert.deepEqual(Object.keys(fields), ['(value)', 'a', 'b', 'c', 'd']);
    const many = (encoded(Object.assign([1], symbols)) as [string, string, Record<string, unknown[]>])[2];
    const left = many['…']!;
    assert.deepEqual([left[0], left[1], Number(left[3]) + Object.keys(many).length - 2], ['<cut>', 'fields', 31]);
  });

  it('writes what JavaScript has beside them with its type', () => {
    assert.deepEqual(encoded(12n), ['<subclass>', 'bigint', 12]);
    for (const large of [2n ** 80n, -(2n ** 200n) + 7n, 2n ** 53n, 2n ** 60n, -(2n ** 135n)])
      assert.equal(encoded(large), large);
    assert.equal((encoded(2n ** 2_000_000n) as string[])[0], '<opaque>');
    assert.deepEqual(encoded(undefined), ['<opaque>', 'undefined', 'undefined', null]);
    assert.deepEqual(encoded(Symbol('mine')), symbol('mine'));
    assert.deepEqual(
      encoded(function named() {}),
      ['<opaque>', 'function', 'named', 'a function'],
    );
    assert.deepEqual(encoded(new Date(86_400_000)), ['<time>', 'Date', '1970-01-02T00:00:00.000Z']);
    assert.deepEqual(encoded(new Date(NaN)), ['<time>', 'Date', 'Invalid Date']);
    assert.deepEqual(encoded(new Map<unknown, unknown>([['a', 1]])), ['<subclass>', 'Map', { a: 1 }]);
    assert.deepEqual(encoded(new Map([[{ k: 1 }, 2]])), ['<subclass>', 'Map', { entries: [[{ k: 1 }, 2]] }]);
    assert.deepEqual(encoded(new Set(['b', 'a'])), { set: ['b', 'a'] });
    assert.deepEqual(encoded(new Map([[Symbol('m'), 1]])), ['<subclass>', 'Map', { entries: [[symbol('m'), 1]] }]);
    assert.deepEqual(encoded(/a+/gi), ['<opaque>', 'RegExp', '/a+/gi', null]);
    assert.deepEqual(encoded(new URL('http://a/b?c=d')), ['<opaque>', 'URL', 'http://a/b?c=d', null]);
    assert.deepEqual(encoded(Object(5)), ['<subclass>', 'Number', 5]);
    assert.deepEqual(encoded([1, , 3]), [1, ['<opaque>', 'undefined', 'empty', 'the list has no element here'], 3]);
    assert.deepEqual(encoded(/(a)/.exec('cat')), [
      '<object>',
      'Array',
      { '(value)': ['a', 'a'], index: 1, input: 'cat', groups: encoded(undefined) },
      null,
    ]);
  });

  it('writes bytes, and of other arrays the first numbers', () => {
    const text = Buffer.from('a long text as bytes');
    assert.deepEqual(encoded(text), { bytes: 'a long text as bytes' });
    assert.deepEqual(encoded(new Uint8Array([65, 66])), ['<subclass>', 'Uint8Array', { bytes: 'AB' }]);
    assert.deepEqual(encoded(new Uint8Array([65, 66]).buffer), ['<subclass>', 'ArrayBuffer', { bytes: 'AB' }]);
    assert.deepEqual(encoded(new DataView(new Uint8Array([65, 66]).buffer, 1)), [
      '<subclass>',
      'DataView',
      { bytes: 'B' },
    ]);
    assert.deepEqual(encoded(new Int16Array(3)), ['<array>', 'Int16Array', { tuple: [3] }, 'int16', [0, 0, 0]]);
    const [, , shape, , head] = encoded(new Float64Array(100_000).fill(0.5)) as [0, 0, unknown, 0, unknown[]];
    assert.deepEqual([shape, head.length], [{ tuple: [100_000] }, 100]);
  });

  it('writes objects as their type and own data, whatever the class', () => {
    class Order {
      static made = 0;
      id = 7;
      #secret = 1;
      get total(): number {
        return this.#secret;
      }
    }
    class Rush extends Order {
      region = 'eu';
    }
    assert.deepEqual(encoded(new Rush()), ['<object>', 'Rush', { id: 7, region: 'eu' }, null]);
    class Bag extends Map<string, number> {}
    assert.deepEqual(encoded(new Bag([['a', 1]])), ['<subclass>', 'Bag', { a: 1 }]);
    class Row extends Array<number> {}
    assert.deepEqual(encoded(Row.of(1, 2)), ['<subclass>', 'Row', [1, 2]]);
    assert.deepEqual(encoded(runInNewContext('({ a: [1], d: new Date(0), m: new Map([[1, 2]]) })')), {
      a: ['<subclass>', 'Array', [1]].slice(2)[0],
      d: ['<time>', 'Date', '1970-01-01T00:00:00.000Z'],
      m: ['<subclass>', 'Map', { entries: [[1, 2]] }],
    });
  });

  it('does not look into what is live, and says so', () => {
    const server = createServer();
    const look = (value: unknown): unknown =>
      (encoded(value) as unknown[]).slice(0, 2).concat((encoded(value) as unknown[])[3]);
    assert.deepEqual(look(server), ['<opaque>', 'Server', 'a live object']);
    assert.deepEqual(look(process.stdout), ['<opaque>', process.stdout.constructor.name, 'a live object']);
    assert.deepEqual(look(new AbortController()), ['<opaque>', 'AbortController', 'a live object']);
    assert.deepEqual(look(new Response('')), ['<opaque>', 'Response', 'a live object']);
    assert.deepEqual(look(Promise.resolve(1)), ['<opaque>', 'Promise', 'a promise']);
    assert.deepEqual(look(new WeakMap()), ['<opaque>', 'WeakMap', 'its entries cannot be listed']);
    class Server {
      port = 1;
    }
    assert.deepEqual(encoded(new Server()), ['<object>', 'Server', { port: 1 }, null], 'a class of the app');
  });

  it('writes errors with their stack, cause and fields, and asks them nothing', () => {
    class Refused extends TypeError {
      code = 'E1';
      override get message(): string {
        return never();
      }
      override toString(): string {
        return never();
      }
    }
    const [tag, type, message, stack, cause, fields] = encoded(
      new RangeError('outer', { cause: Object.assign(new Error('inner'), { code: 5 }) }),
    ) as [string, string, string, { tuple: [string, number, string] }[], unknown[], unknown];
    assert.deepEqual([tag, type, message, fields], ['<error>', 'RangeError', 'outer', {}]);
    assert.equal(stack.at(-1)!.tuple[0], __filename);
    assert.deepEqual([cause[1], cause[2], cause[5]], ['Error', 'inner', { code: 5 }]);
    assert.deepEqual((encoded(new Refused()) as unknown[]).toSpliced(3, 1), [
      '<error>',
      'Refused',
      '',
      null,
      { code: 'E1' },
    ]);
    assert.deepEqual((encoded(new DOMException('gone', 'AbortError')) as unknown[]).slice(0, 3), [
      '<error>',
      'AbortError',
      'gone',
    ]);
    const many = encoded(new AggregateError([new Error('one')], 'many')) as [0, 0, 0, 0, 0, { errors: unknown[][] }];
    assert.equal(many[5].errors[0]![2], 'one');
  });

  it('knows where an error was made whatever its message says, and how long it is', async () => {
    const framesOf = (error: unknown): string[] =>
      (encoded(error) as { tuple: [string, number, string] }[][])[3]!.map(({ tuple: [, , called] }) => called);
    function inner(): Error {
      return new Error('inner');
    }
    function outer(message: string): Error {
      return new Error(message);
    }
    const told = framesOf(outer(`Tool failed: ${inner().stack}`));
    assert.deepEqual([told.at(-1), told.includes('inner')], ['outer', false]);
    assert.equal(framesOf(outer('HTTP 500 '.repeat(400_000))).at(-1), 'outer');
    assert.equal(framesOf(Object.assign(outer('one'), { message: 'outer' })).at(-1), 'outer');
    const stack =
      'Error: one\n    at run (/app/a.mjs:1:2)\n    at async file:///app/a.mjs:9:69\n    at async top (/app/a.mjs:3:4)';
    assert.deepEqual(framesOf(Object.assign(new Error('one'), { stack })), ['top', '', 'run']);
    assert.equal(framesOf(new DOMException('gone', 'AbortError')).length > 0, true);
  });

  it('masks what an error says, and its name', () => {
    const secret = `sk-${'a1B2'.repeat(10)}`;
    const [, type, message] = encoded(
      Object.assign(new Error(`no ${secret}${' at all'.repeat(10_000)}`), { name: secret }),
    ) as string[];
    assert.deepEqual([type, message!.includes('a1B2')], ['***', false]);
    assert.match(message!, /^no \*\*\* at all .*… \(70046 characters\)$/);
    const suppressed = Object.defineProperties(new Error('both'), {
      error: { value: new Error('one') },
      suppressed: { value: new Error('two') },
    });
    const { error, suppressed: other } = (encoded(suppressed) as [0, 0, 0, 0, 0, Record<string, unknown[]>])[5];
    assert.deepEqual([error![2], other![2]], ['one', 'two']);
  });

  it("leaves an error's stack alone where the app writes stacks by itself", () => {
    const own = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
    Object.defineProperty(Error, 'prepareStackTrace', { value: never, configurable: true, writable: true });
    let stack: unknown;
    try {
      stack = (encoded(new Error('x')) as unknown[])[3];
    } finally {
      if (own === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace');
      else Object.defineProperty(Error, 'prepareStackTrace', own);
    }
    assert.deepEqual(stack, []);
  });

  it('runs no code of the app', () => {
    const proxy = new Proxy(
      {},
      { get: never, ownKeys: never, getPrototypeOf: never, getOwnPropertyDescriptor: never, has: never },
    );
    const trap = {
      get getter(): number {
        return never();
      },
      toJSON: never,
      toString: never,
      valueOf: never,
      [Symbol.toPrimitive]: never,
      get [Symbol.toStringTag](): string {
        return never();
      },
      [Symbol.iterator]: never,
      proxy,
      callable: new Proxy(() => 1, { apply: never, get: never }),
      belowProxy: Object.create(proxy) as object,
      constructed: Object.create({
        get constructor(): unknown {
          return never();
        },
      }) as object,
      list: Object.defineProperty([1, 2], 1, { get: never, enumerable: true }),
      map: Object.assign(new Map([[1, 2]]), { forEach: never, entries: never }),
      set: Object.defineProperty(new Set([1]), 'size', { get: never }),
      date: Object.assign(new Date(0), { toISOString: never, getTime: never }),
      bytes: Object.defineProperty(new Uint8Array(1), 'length', { get: never }),
      memory: Object.defineProperty(new ArrayBuffer(10), 'byteLength', { get: never }),
      error: Object.setPrototypeOf(new Error('odd'), new Proxy({}, { getPrototypeOf: never, get: never })) as Error,
      regexp: Object.defineProperties(/x/g, { source: { get: never }, flags: { get: never }, global: { get: never } }),
    };
    const { entries } = encoded(trap) as { entries: [unknown, unknown[]][] };
    const found = Object.fromEntries(entries.filter(([key]) => typeof key === 'string')) as Record<string, unknown[]>;
    assert.deepEqual(found.getter, ['<opaque>', 'getter', '', 'a getter; reading it would run code']);
    assert.deepEqual(found.proxy, ['<opaque>', 'Proxy', '', 'a proxy; reading it would run code']);
    assert.deepEqual(found.callable, found.proxy);
    assert.deepEqual(found.list, [1, found.getter]);
    assert.deepEqual(found.map, ['<subclass>', 'Map', { entries: [[1, 2]] }]);
    assert.deepEqual(found.date, ['<time>', 'Date', '1970-01-01T00:00:00.000Z']);
    assert.deepEqual(found.regexp, ['<opaque>', 'RegExp', '/x/g', null]);
    assert.equal(found.belowProxy![0], '<object>');
    assert.equal(found.constructed![0], '<object>');
    assert.equal(found.memory![0], '<subclass>');
    assert.deepEqual(found.error!.slice(0, 3), ['<error>', 'Object', 'odd']);
  });

  it('marks cycles, and what is too deep, too wide or too large', () => {
    const cycle: Record<string, unknown> = { a: { b: [] } };
    (cycle.a as { b: unknown[] }).b.push(cycle, cycle.a);
    assert.deepEqual(encoded(cycle), {
      a: {
        b: [
          ['<cycle>', 3],
          ['<cycle>', 2],
        ],
      },
    });
    const twice = { same: 1 };
    assert.deepEqual(encoded([twice, twice]), [twice, twice]);

    let deep = encoded(JSON.parse('['.repeat(400) + ']'.repeat(400))) as unknown[];
    let levels = 0;
    for (; Array.isArray(deep[0]); deep = deep[0]) levels++;
    assert.deepEqual([levels, deep], [100, ['<cut>', 'list', [], 1, 'deeper than 100 levels']]);

    const limit = 'larger than the limit of 1048576 bytes';
    // Its size ends it long before its time does, on a busy machine, too.
    const item = 'z'.repeat(1000);
    const [, kind, head, length, reason] = encoded(new Array(1_000_000).fill(item)) as [
      0,
      string,
      string[],
      number,
      string,
    ];
    assert.deepEqual([kind, length, reason], ['list', 1_000_000, limit]);
    assert.ok(head.length > 250 && head.slice(0, 250).every((text) => text === item));
    for (const text of ['x'.repeat(3_000_000), 'é'.repeat(3_000_000)]) {
      const cut = encoded(text) as [string, string, string, number, string];
      assert.deepEqual([cut[0], cut[1], cut[3], cut[4]], ['<cut>', 'str', text.length, limit]);
      const kept = Buffer.byteLength(cut[2]);
      assert.ok(kept > 900_000 && kept <= 2 ** 20 && text.startsWith(cut[2]), `${kept} bytes`);
    }
    // None of them takes all the room.
    const texts = encoded({ one: 'é'.repeat(3_000_000), two: 'x'.repeat(3_000_000), order: 7 }) as Record<
      string,
      unknown[]
    >;
    assert.deepEqual([texts.one![1], texts.two![1], texts.order], ['str', 'str', 7]);
    // What moves up in the place of a secret is longer in bytes than the secret was.
    const secrets = encoded(
      `${'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789 '.repeat(20_000)}${'é'.repeat(900_000)}`,
    ) as string[];
    assert.ok(!secrets[2]!.includes('sk-proj') && Buffer.byteLength(secrets[2]!) <= 2 ** 20);
    // Masks are shorter than what they hide: the end of what was looked at comes before the cut then, wherever it is, and may be half a secret.
    const pem = `-----BEGIN PRIVATE KEY-----\n${'a'.repeat(BEYOND / 2 + 50)}\n-----END PRIVATE KEY-----\n`;
    const half = 'postgres://u:supersecretpw';
    const ending = (end: number, size: number): string =>
      `${(pem + pem).padEnd(end - half.length)}${half}@host/db`.padEnd(size, 'x');
    const told = (value: unknown): boolean => JSON.stringify(encoded(value)).includes('supersecret');
    const { length: fits } = (encoded('x'.repeat(3_000_000)) as string[])[2]!;
    for (let end = BEYOND - 16; end < BEYOND + 44; end += 2) {
      assert.ok(!told(Buffer.from(ending(16_384 + end, 2_000_000))), `bytes ${end}`);
      assert.ok(!told({ [ending(1000 + end, 40_000)]: 1 }), `name ${end}`);
    }
    for (let end = 990; end < 1030; end++)
      assert.ok(!told({ [`${half.padStart(end)}@host/db`.padEnd(20_000, 'x')]: 1 }), `name ${end}`);
    for (let end = fits + BEYOND - 6; end < fits + BEYOND + 14; end++)
      assert.ok(!told(ending(end, 3_000_000)), `text ${end}`);
    // However long the secret is, up to half of what is looked at behind the edge: its beginning on this side, its end far behind it.
    for (const times of [10, 460, Math.floor(BEYOND / 26) - 10])
      for (const before of [0, 500, 960])
        assert.ok(
          !told({ [`${' '.repeat(before)} passwords=['${'supersecret, '.repeat(times)}'] `.padEnd(40_000, 'x')]: 1 }),
          `${times} times behind ${before}`,
        );
    // What is told of a name is masked once, and the length stands behind it, also in the middle of a pair of code units.
    const name = `Authorization: Bearer abcdefghijklmnop0123456789 ${'. '.repeat(470)}{"password": "${'z'.repeat(60)}"} `;
    for (const [text, start] of [
      [name.padEnd(9000, '. '), 'Authorization: Bearer ***'],
      [`a${'😀'.repeat(3000)}`, 'a😀'],
    ] as const) {
      const [key] = Object.keys(encoded({ [text]: 1 }) as object);
      assert.ok(key!.startsWith(start) && key!.endsWith(`… (${text.length} characters)`), key);
      assert.doesNotMatch(key!, /[\ud800-\udbff](?![\udc00-\udfff])/);
    }
    const bytes = Buffer.alloc(5_000_000, 1);
    const beside = 'w'.repeat(900_000);
    const kept = { bytes: bytes.subarray(0, 16_384).toString('latin1') };
    assert.deepEqual(encoded({ bytes, beside }), { bytes: ['<cut>', 'bytes', kept, 5_000_000, limit], beside });
    // What contains it is cut, too, and says of how much.
    const wide = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, 'y'.repeat(10_000)]));
    const nested = encoded({ before: 1, inner: [wide, 2], after: 3 }) as [
      string,
      string,
      Record<string, unknown>,
      number,
    ];
    assert.deepEqual([nested[0], nested[1], nested[3]], ['<cut>', 'dict', 3]);
    assert.equal(nested[2].before, 1);
    assert.deepEqual((nested[2].inner as unknown[]).slice(0, 2), ['<cut>', 'list']);
    assert.deepEqual((encoded(new Map(Object.entries(wide))) as unknown[][])[2]!.slice(0, 2), ['<cut>', 'dict']);
    assert.deepEqual(
      (
        encoded(
          new Set(
            Array(50)
              .fill(0)
              .map((_, index) => 'z'.repeat(30_000) + index),
          ),
        ) as unknown[]
      ).slice(0, 2),
      ['<cut>', 'set'],
    );
  });

  it('masks secrets by key, by position and by looks', () => {
    const masked = (name: string): unknown[] => ['<masked>', `${name} holds a secret`];
    assert.deepEqual(
      encoded({
        apiKey: 'abc',
        passphrase: 'x',
        Authorization: 'y',
        max_tokens: 5,
        password_set: true,
        password: null,
        row: { name: 'DB_PASSWORD', value: 'x' },
        typed: { element: 'Password field', ref: 'e1', text: 'x' },
        said: { name: 'password', text: 'Forgot it?' },
        rows: [
          new Map([
            ['value', 'x'],
            ['name', 'DB_PASSWORD'],
          ]),
          new Map<string, unknown>([
            ['token', 'Hello'],
            ['logprob', -0.5],
          ]),
          Object.assign(new Map([['token', 'x']]), { logprob: -0.5 }),
        ],
        plain: { name: 'city', value: 'x' },
        header: ['X-API-Key', 'abc'],
        command: ['run', '--password', 'hunter2', '--verbose'],
        text: 'token sk-abcdefghij0123456789ABCDEF here',
        url: 'postgres://ann:hunter2@db/x',
        none: 'found secrets: None. password: hunter2',
        long: `${'a '.repeat(100)}api_key=abcdef0123456789`,
        bytes: Buffer.from('GITHUB_TOKEN=ghp_abcdefghijklmnop1234 \xff\x80\0', 'latin1'),
        'sk-abcdefghij0123456789ABCDEF': 1,
      }),
      {
        apiKey: masked('apiKey'),
        passphrase: masked('passphrase'),
        Authorization: masked('Authorization'),
        max_tokens: 5,
        password_set: true,
        password: null,
        row: { name: 'DB_PASSWORD', value: masked('DB_PASSWORD') },
        typed: { element: 'Password field', ref: 'e1', text: masked('Password field') },
        said: { name: 'password', text: 'Forgot it?' },
        rows: [
          ['<subclass>', 'Map', { value: masked('DB_PASSWORD'), name: 'DB_PASSWORD' }],
          ['<subclass>', 'Map', { token: 'Hello', logprob: { float: -0.5 } }],
          ['<subclass>', 'Map', { token: masked('token') }],
        ],
        plain: { name: 'city', value: 'x' },
        header: ['X-API-Key', masked('X-API-Key')],
        command: ['run', '--password', masked('password'), '--verbose'],
        text: 'token *** here',
        url: 'postgres://ann:***@db/x',
        none: 'found secrets: None. password: ***',
        long: `${'a '.repeat(100)}api_key=***`,
        bytes: { bytes: 'GITHUB_TOKEN=*** \xff\x80\0' },
        '***': 1,
      },
    );
    // Each by itself: no other sign says that there is a secret.
    const digits = '0123456789abcdef0123456789abcdef';
    for (const beginning of [
      ...[
        'tvly-',
        'nvapi-',
        'fc-',
        'r8_',
        'pcsk_',
        'jina_',
        'e2b_',
        'whsec_',
        'GOCSPX-',
        'lin_api_',
        'xapp-',
        'sk_live_',
      ],
      ...['github_pat_', 'ghp_', 'glpat-', 'hf_', 'npm_', 'AKIA', 'AIza', 'xoxb-', 'sk-', `SG.${digits}.`],
    ])
      assert.equal(
        encoded(`a ${beginning}${beginning === 'AKIA' ? digits.toUpperCase() : digits} b`),
        'a *** b',
        beginning,
      );
    assert.equal(encoded('<password>hunter2</password>'), '<password>***</password>');
    assert.equal(encoded("tool --password 'correct horse hunter2' x"), "tool --password '***' x");
    assert.equal(encoded('{"password1": "hunter2", "sasToken": "hunter2"}'), '{"password1": "***", "sasToken": "***"}');
    for (const text of ['"password": {"type": "string"}', '{"token": "Hello", "logprob": -0.3}', 'eos_token=<|end|>'])
      assert.equal(encoded(text), text);
    const stays = {
      text: 'password: string, token = get_token(a)',
      choices: [{ token: 'Hel', logprob: -1 }],
      schema: { properties: { password: { type: 'string', title: 'Password' } } },
    };
    assert.deepEqual(encoded(stays), stays);
    assert.deepEqual(encoded({ PGPASSWORD: 'x', token: { type: 'string', default: 'x' } }), {
      PGPASSWORD: masked('PGPASSWORD'),
      token: masked('token'),
    });
    assert.deepEqual(encoded(new Map([['secret', 'x']])), ['<subclass>', 'Map', { secret: masked('secret') }]);
  });
});
