import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { runsFolder } from '../../adapter/common/paths';
import { marshal } from '../../adapter/store/formats/marshalWriter';
import { otlp } from '../../adapter/store/formats/otlp';
import { perfetto } from '../../adapter/store/formats/perfetto';
import type { Json } from '../../adapter/store/formats/plain';
import { plainJson } from '../../adapter/store/formats/plain';
import { importFile } from '../../adapter/store/life/import';
import { callDetail } from '../../adapter/store/reader/detail';
import { RunFile } from '../../adapter/store/reader/runFile';
import { MarshalReader } from '../../adapter/store/spool/marshal';
import { AGENT, LifePlace } from './life-support';
import { apps } from './e2e-support';
import { unpackCalls } from '../support/run-file';

const NOW = 1_700_000_000_000_000_000n;
const TRACE = '0af7651916cd43dd8448eb211c80319c';

interface Row {
  id: number;
  parent: number | null;
  kind: string;
  name: string;
  status: number | null;
  start: number;
  end: number;
  task: number;
}

describe('life: import of OTLP JSON', function () {
  this.timeout(120_000);
  let place: LifePlace;
  let elsewhere: string;

  before(() => {
    place = new LifePlace();
    elsewhere = join(place.folder, 'elsewhere');
  });
  after(() => place.remove());
  afterEach(() => rmSync(dirname(runs()), { recursive: true, force: true }));

  const runs = (): string => runsFolder(elsewhere, place.state);
  const took = (): string[] => (existsSync(runs()) ? readdirSync(runs()) : []);
  const id = (number: number): string => number.toString(16).padStart(16, '0');
  function span(number: number, parent: number | undefined, more: object = {}): Record<string, unknown> {
    return {
      traceId: TRACE,
      spanId: id(number),
      ...(parent !== undefined && { parentSpanId: id(parent) }),
      name: `span ${number}`,
      startTimeUnixNano: String(NOW + BigInt(number) * 1000n),
      endTimeUnixNano: String(NOW + BigInt(number) * 1000n + 500n),
      ...more,
    };
  }
  const attributes = (values: Record<string, object>): object => ({
    attributes: Object.entries(values).map(([key, value]) => ({ key, value })),
  });
  const document = (spans: unknown, service = 'shop'): object => ({
    resourceSpans: [{ resource: attributes({ 'service.name': { stringValue: service } }), scopeSpans: [{ spans }] }],
  });
  const made = (content: unknown): string => {
    const file = join(place.folder, 'spans.json');
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  };
  const rows = (file: RunFile): Row[] =>
    unpackCalls(file.db)
      .prepare(
        'SELECT c.id, c.parent, f.kind, f.name, c.status, c.start, c.end, c.task FROM calls c JOIN functions f ON f.id = c.function ORDER BY c.id',
      )
      .all() as Row[];
  async function imported<T>(content: unknown, look: (file: RunFile) => T): Promise<T> {
    const { file } = await importFile(made(content), runs());
    const run = new RunFile(file);
    try {
      return look(run);
    } finally {
      run.close();
      rmSync(file);
    }
  }

  it("keeps every digit, and what a span calls as a call's own fields are called", async () => {
    const given = attributes({
      'toolbreak.arguments': { stringValue: '{"order_id": 9007199254740993, "n": 7, "x": 1e400}' },
      status: { stringValue: 'mine' },
      cut: { stringValue: 'short' },
      many: { arrayValue: { values: Array.from({ length: 5 }, () => ({ stringValue: 'y'.repeat(20_000) })) } },
    });
    const cuts = { count: 0, events: 0 };
    const [args, spans] = await imported(document([span(1, undefined, given)]), (file) => {
      const { traceEvents } = JSON.parse([...perfetto(file, '0', { count: 0, events: 0 })].join('')) as {
        traceEvents: { name: string; args: Record<string, unknown> }[];
      };
      return [traceEvents.find(({ name }) => name === 'span 1')!.args, [...otlp(file, '0', cuts)].join('')] as const;
    });
    const { arguments: took, status, cut } = args;
    assert.deepEqual([took, status, cut], [{ order_id: '9007199254740993', n: 7, x: 'inf' }, 'returned', ['many']]);
    assert.deepEqual([args['attribute.status'], args['attribute.cut']], ['mine', 'short']);
    // A list that is too long goes as a text, and no line of the file is longer for it.
    assert.equal(cuts.count, 1);
    assert.ok(spans.length < 100_000, String(spans.length));
    assert.match(
      spans,
      /"toolbreak\.cut","value":\{"arrayValue":\{"values":\[\{"stringValue":"toolbreak\.attribute\.many"\}/,
    );
  });

  it('gives back what was exported: calls, values, errors, tasks', async () => {
    for (const program of [join(apps, 'langgraph', 'triage.py'), place.file('agent.py', AGENT)]) {
      const file = await place.record(program, ['please refund order 7']);
      const out = join(place.folder, 'out.otlp');
      assert.equal((await place.say('export', file, '--format', 'otlp', '-o', out, '--force')).code, 0);
      const [answer] = await place.json<{ file: string; number: number }[]>('import', out, '--project', elsewhere);
      const [before, after] = [new RunFile(file), new RunFile(answer!.file)];
      try {
        const told = (run: RunFile) =>
          rows(run).map(({ kind, name, status, start, end }) => [kind, name, status, end - start]);
        const sorted = (run: RunFile) =>
          told(run).sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
        assert.deepEqual(sorted(after), sorted(before));
        const tokens = (run: RunFile) => run.db.prepare('SELECT calls, errors, tokens, holds FROM runs').get();
        assert.deepEqual(tokens(after), tokens(before));
        const args = (run: RunFile) =>
          (
            run.db
              .prepare(
                "SELECT c.args FROM calls c JOIN functions f ON f.id = c.function WHERE f.kind IN ('tool', 'function') ORDER BY c.start",
              )
              .pluck()
              .all() as number[]
          ).map((value) => plainJson(run.values.root(value), run.values, 1e6).json);
        assert.deepEqual(args(after), args(before));
      } finally {
        before.close();
        after.close();
      }
      const again = await place.say('import', out, '--project', elsewhere);
      assert.match(again.stderr, /The run is there already/);
    }
  });

  it('reads spans of others by their GenAI names', async () => {
    const spans = [
      span(1, undefined, {
        name: 'invoke_agent helper',
        endTimeUnixNano: String(NOW + 90_000n),
        ...attributes({ 'gen_ai.operation.name': { stringValue: 'invoke_agent' } }),
      }),
      span(2, 1, {
        name: 'chat gpt',
        ...attributes({
          'gen_ai.operation.name': { stringValue: 'chat' },
          'gen_ai.request.model': { stringValue: 'gpt' },
          'gen_ai.usage.input_tokens': { intValue: '12' },
          'gen_ai.usage.output_tokens': { intValue: 5 },
        }),
      }),
      span(3, 1, {
        name: 'execute_tool find',
        status: { code: 'STATUS_CODE_ERROR', message: 'no' },
        ...attributes({
          'gen_ai.tool.name': { stringValue: 'find' },
          'gen_ai.tool.call.arguments': { stringValue: '{"q": [1, 2.5]}' },
        }),
        events: [
          {
            timeUnixNano: String(NOW + 3100n),
            name: 'exception',
            ...attributes({ 'exception.type': { stringValue: 'KeyError' }, 'exception.message': { stringValue: 'q' } }),
          },
        ],
      }),
      span(4, 1, { name: 'GET', ...attributes({ 'http.request.method': { stringValue: 'GET' } }) }),
      span(5, 1, {
        name: 'step',
        ...attributes({ 'openinference.span.kind': { stringValue: 'CHAIN' }, 'input.value': { stringValue: 'plain' } }),
      }),
      span(6, 5, { name: 'other' }),
    ];
    await imported(document(spans), (file) => {
      assert.deepEqual(
        rows(file).map(({ kind, name, status }) => [kind, name, status]),
        [
          ['workflow', 'helper', 0],
          ['llm', 'gpt', 0],
          ['tool', 'find', 1],
          ['http', 'GET', 0],
          ['node', 'step', 0],
          ['function', 'other', 0],
        ],
      );
      const summary = file.summary();
      assert.deepEqual([summary.calls, summary.errors, summary.tokens, summary.live], [6, 1, 17, false]);
      const tool = callDetail(file, '1.3');
      assert.deepEqual([tool.error?.type, tool.error?.message], ['KeyError', 'q']);
      assert.equal(tool.input?.root.children, 1);
      assert.deepEqual(
        tool.path.map(({ name }) => name),
        ['helper', 'find'],
      );
      assert.equal(new Date(summary.startedAt).getTime(), Number(NOW / 1_000_000n));
    });
  });

  it('keeps what has no place in a call, and says what it left out', async () => {
    const text = (stringValue: string): object => ({ stringValue });
    const half = { 'toolbreak.result': text('"half"'), 'output.value': text('more') };
    const spans = [
      span(1, undefined, { status: { code: 2 }, ...attributes(half) }),
      span(2, undefined, {
        ...attributes({
          ...half,
          'toolbreak.status': text('cancelled'),
          'toolbreak.error.fields': text('{"code": 7}'),
        }),
        events: [
          { timeUnixNano: String(NOW), name: 'exception', ...attributes({ 'exception.type': text('SystemExit') }) },
        ],
      }),
      span(
        3,
        undefined,
        attributes({ ...half, 'input.value': text('one'), 'gen_ai.tool.call.arguments': text('two') }),
      ),
      span(4, undefined, attributes({ 'gen_ai.input.messages': text('[1]'), 'gen_ai.output.messages': text('[2]') })),
      span(5, undefined, {
        name: 'n'.repeat(600),
        ...attributes({
          'thread.name': { intValue: 7 },
          'code.line.number': text('x'),
          'toolbreak.status': text('odd'),
        }),
      }),
      span(6, undefined, {
        ...attributes(Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`a${at}`, { intValue: at }]))),
        events: Array.from({ length: 2000 }, () => ({ timeUnixNano: String(NOW), name: 'word' })),
      }),
    ];
    const args = await imported(document(spans), (file) => {
      assert.match(
        JSON.stringify(file.db.prepare("SELECT data FROM events WHERE name = 'damaged'").all()),
        /more than 10,000 attributes/,
      );
      assert.equal(file.db.prepare("SELECT count(*) FROM events WHERE name = 'log'").pluck().get(), 2000);
      const cuts = { count: 0, events: 0 };
      const { traceEvents } = JSON.parse([...perfetto(file, '0', cuts)].join('')) as {
        traceEvents: { ph: string; args: Record<string, unknown> }[];
      };
      assert.equal(rows(file)[4]!.name, `${'n'.repeat(499)}…`);
      return traceEvents.filter(({ ph }) => ph === 'X').map((event) => event.args);
    });
    const without = (given: Record<string, unknown>): Record<string, unknown> =>
      Object.fromEntries(Object.entries(given).filter(([key]) => key !== 'call'));
    assert.deepEqual(args.slice(0, 4).map(without), [
      {
        status: 'error',
        error: { type: 'Error', message: '' },
        arguments: {},
        'toolbreak.result': '"half"',
        'output.value': 'more',
      },
      {
        status: 'cancelled',
        error: { type: 'SystemExit', message: '', fields: { code: 7 } },
        arguments: {},
        'toolbreak.result': '"half"',
        'output.value': 'more',
      },
      { status: 'returned', arguments: { input: 'two' }, result: 'half', 'input.value': 'one', 'output.value': 'more' },
      { status: 'returned', arguments: { messages: [1] }, result: [2] },
    ]);
    assert.deepEqual(without(args[4]!), {
      status: 'returned',
      arguments: {},
      'thread.name': 7,
      'code.line.number': 'x',
      'toolbreak.status': 'odd',
    });
    assert.deepEqual(args[5]!['cut'], ['attributes']);
  });

  it('reads lines, and a document that is laid out over many', async () => {
    const lines = [document([span(1, undefined)]), document([span(2, 1)])]
      .map((each) => JSON.stringify(each))
      .join('\n');
    assert.equal(await imported(lines, (file) => rows(file).length), 2);
    assert.equal(
      await imported(JSON.stringify(document([span(1, undefined), span(2, 1)]), null, 2), (file) => rows(file).length),
      2,
    );
  });

  it('puts what runs side by side on tasks of its own', async () => {
    const long = { endTimeUnixNano: String(NOW + 50_000n) };
    const spans = [
      span(1, undefined, { endTimeUnixNano: String(NOW + 99_000n) }),
      span(2, 1, long),
      span(3, 1, long),
      span(4, 3),
      span(60, 1),
    ];
    await imported(document(spans), (file) => {
      assert.deepEqual(
        rows(file).map(({ task }) => task % 2 ** 32),
        [1, 1, 2, 2, 1],
      );
    });
  });

  it('keeps the threads of two processes apart that have the same numbers', async () => {
    const threads = (pid: number, name: string, number: number): object => ({
      resource: attributes({ 'service.name': { stringValue: 'shop' }, 'process.pid': { intValue: String(pid) } }),
      scopeSpans: [
        {
          spans: [
            span(
              number,
              undefined,
              attributes({ 'thread.id': { intValue: '1' }, 'thread.name': { stringValue: name } }),
            ),
          ],
        },
      ],
    });
    await imported({ resourceSpans: [threads(10, 'reader', 1), threads(20, 'writer', 2)] }, (file) => {
      const names = file.db.prepare('SELECT t.name FROM tasks t WHERE t.id = ?').pluck();
      assert.deepEqual(
        rows(file).map(({ task }) => names.get(task)),
        ['reader', 'writer'],
      );
    });
  });

  it('lives with circles, missing parents, double ids and times that cannot be', async () => {
    const odd = [
      span(1, 2),
      span(2, 3),
      span(3, 1),
      span(4, 4),
      span(5, 77),
      span(5, undefined),
      { ...span(6, undefined), startTimeUnixNano: '0' },
      { ...span(7, undefined), startTimeUnixNano: '99999999999999999999' },
      { ...span(8, undefined), endTimeUnixNano: '5' },
      { ...span(9, undefined), spanId: '0000000000000000' },
      { ...span(10, undefined), traceId: 'x' },
      null,
      7,
      'span',
      [],
      {},
      { ...span(11, undefined), attributes: { no: 'list' }, events: 'none', status: 7, name: 9 },
      { ...span(12, 1), parentSpanId: 12 },
      span(13, undefined, { startTimeUnixNano: String(NOW + 9_000_000_000_000_000_000n) }),
    ];
    await imported(document(odd), (file) => {
      const all = rows(file);
      assert.deepEqual(all.map(({ name }) => name).sort(), [
        'span',
        'span 1',
        'span 12',
        'span 2',
        'span 3',
        'span 4',
        'span 5',
        'span 8',
      ]);
      assert.ok(all.every(({ start, end }) => end >= start));
      for (const { id: call } of all) {
        const seen = new Set<number>();
        for (let at: number | null = call; at !== null; at = all.find((row) => row.id === at)?.parent ?? null) {
          assert.ok(!seen.has(at));
          seen.add(at);
        }
      }
      assert.deepEqual(file.db.pragma('foreign_key_check'), []);
      const reasons = file.db.prepare("SELECT data FROM events WHERE name = 'damaged'").pluck().all() as string[];
      for (const reason of ['its own ancestor', 'two spans have one id', 'no start', 'no id'])
        assert.ok(
          reasons.some((data) => data.includes(reason)),
          reason,
        );
    });
  });

  it('takes a chain of twenty thousand spans, and values nested more deeply still', async () => {
    const chain = Array.from({ length: 20_000 }, (_, number) =>
      span(number + 1, number === 0 ? undefined : number, { endTimeUnixNano: String(NOW + 10n ** 9n) }),
    );
    assert.equal(await imported(document(chain), (file) => rows(file).length), 20_000);
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const nested = JSON.stringify(
      document([span(1, undefined, attributes({ 'toolbreak.arguments': { stringValue: deep } }))]),
    );
    await imported(nested, (file) => {
      const args = unpackCalls(file.db).prepare('SELECT args FROM calls').pluck().get() as number;
      assert.match(JSON.stringify(plainJson(file.values.root(args), file.values, 1e5).json), /^\{"input":\[\[/);
    });
    const open = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"${TRACE}","spanId":"${id(1)}","startTimeUnixNano":"${NOW}","name":"a","attributes":${deep}},${JSON.stringify(span(2, undefined))}]}]}]}`;
    await imported(open, (file) => assert.ok(rows(file).some(({ name }) => name === 'span 2')));
  });

  it('masks secrets before anything is written', async () => {
    const text = (stringValue: string): object => ({ stringValue });
    const secrets = [
      'hunter2-plain',
      'abcdefhunter4',
      'sk-ant-api03-abcdefgh',
      'hunter3',
      'hunter5',
      'hunter6',
      'hunter7',
      'hunter8',
      'hunter9',
      'hunter10-in-a-path',
      'hunter11-in-a-name',
    ];
    const given = span(1, undefined, {
      name: `GET https://ann:${secrets[6]}@shop/orders`,
      ...attributes({
        api_key: text(secrets[0]!),
        'http.request.header.authorization': text(`Bearer ${secrets[1]}`),
        note: text(`token ${secrets[2]}`),
        'gen_ai.tool.call.arguments': text(
          JSON.stringify({ password: secrets[3], order: 7, more: [{ secret: 12345 }] }),
        ),
        'gen_ai.usage.input_tokens': { intValue: '12' },
        'toolbreak.state.before': text(JSON.stringify({ password: secrets[7], count: 2.0 })),
        'llm.input_messages.0.message.password': text(secrets[8]!),
        'code.file.path': text(`/srv/password=${secrets[9]}/app.py`),
      }),
      status: { code: 2, message: `password=${secrets[4]}` },
      events: [
        {
          timeUnixNano: String(NOW + 1100n),
          name: 'sent',
          ...attributes({ password: text(secrets[5]!) }),
        },
      ],
    });
    // As deep as anything is written, too.
    const deep = Array.from({ length: 30 }, (_, index) =>
      span(
        index + 2,
        1,
        attributes({
          'gen_ai.tool.call.arguments': text(`${'['.repeat(185 + index)}"${secrets[2]}"${']'.repeat(185 + index)}`),
        }),
      ),
    );
    const { file } = await importFile(
      made(document([given, ...deep], `${'x'.repeat(170)} postgres://ann:${secrets[10]}@db.example.org/shop`)),
      runs(),
    );
    const said = (await place.say('show', file, '1.1', '--json')).stdout;
    for (const secret of secrets) assert.ok(!said.includes(secret), secret);
    assert.match(said, /"order": 7/);
    assert.doesNotMatch(said, /12345/);
    assert.match(said, /input_tokens/);
    for (const name of took()) {
      const bytes = readFileSync(join(runs(), name), 'latin1');
      for (const secret of secrets) assert.ok(!bytes.includes(secret), `${secret} in ${name}`);
    }
  });

  it('says that a document is cut off', async () => {
    const whole = JSON.stringify(document([span(1, undefined)]));
    await assert.rejects(
      importFile(made(whole.slice(0, -10)), runs()),
      /spans\.json holds no spans of OTLP JSON that can be read: a line could not be read\. Perhaps it is cut off\.$/,
    );
  });

  it('refuses what holds no spans, and leaves nothing behind', async () => {
    for (const wrong of ['{}', '{"resourceSpans": 7}', '{"a":1}\n{"b":2}\n'])
      await assert.rejects(importFile(made(wrong), runs()), /spans\.json holds no spans of OTLP JSON\.$/);
    for (const [wrong, why] of [
      ['{', 'a line could not be read'],
      ['{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}', 'a span has no id'],
    ] as const)
      await assert.rejects(importFile(made(wrong), runs()), (error: Error) =>
        error.message.endsWith(`holds no spans of OTLP JSON that can be read: ${why}. Perhaps it is cut off.`),
      );
    await assert.rejects(importFile(made('1'), runs()), /is nothing that Toolbreak can import/);
    await assert.rejects(importFile(made('[1]'), runs()), /can be read: an entry of the list is no object/);
    assert.deepEqual(took(), []);
  });

  it('takes or refuses whatever JSON comes, and breaks on none', async () => {
    const odd = fc.oneof(fc.jsonValue(), fc.constantFrom(TRACE, id(3), String(NOW), '-1', '1e9'));
    const anySpan = fc.dictionary(
      fc.constantFrom(
        'traceId',
        'spanId',
        'parentSpanId',
        'name',
        'startTimeUnixNano',
        'endTimeUnixNano',
        'attributes',
        'events',
        'status',
        'kind',
      ),
      odd,
    );
    const mixed = fc.array(fc.tuple(fc.nat(5), fc.option(fc.nat(5), { nil: undefined }), anySpan), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(mixed, async (given) => {
        const spans = given.map(([number, parent, more]) => ({ ...span(number + 1, parent), ...more }));
        try {
          const { file } = await importFile(made(document(spans)), runs());
          rmSync(file);
        } catch (error) {
          assert.equal((error as Error).name, 'UserError', (error as Error).stack);
        }
        assert.deepEqual(took(), []);
      }),
      { numRuns: 40 },
    );
  });

  it('writes values as an app would have recorded them', async () => {
    const stored = await imported(document([span(1, undefined)]), (file) => file.values);
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const read = new MarshalReader(marshal(value as Json)).value();
        const { json } = plainJson(read, stored, 1e6);
        assert.deepEqual(
          JSON.parse(JSON.stringify(json)),
          JSON.parse(JSON.stringify(value).replace(/-0(?=[,\]}]|$)/g, '0')),
        );
      }),
    );
  });
});
