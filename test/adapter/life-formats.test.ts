import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { plainJson } from '../../adapter/store/formats/plain';
import { writeFormat } from '../../adapter/store/formats/write';
import { RunFile } from '../../adapter/store/reader/runFile';
import { Dict, Tagged, Tuple, type Value } from '../../adapter/store/values/model';
import { AGENT, LifePlace, overlapping } from './life-support';
import { apps } from './e2e-support';
import { python } from './target-support';
import { openWithCalls } from '../support/run-file';
import { SpoolFile, dict } from '../support/spool';
import { RecordedProject } from './recorded';

interface TraceEvent {
  ph: string;
  name: string;
  cat?: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  cname?: string;
  args: Record<string, unknown>;
}

interface Span {
  trace: string;
  id: string;
  parent: string;
  name: string;
  kind: number;
  start: string;
  end: string;
  status: number;
  message: string;
  attributes: Record<string, unknown>;
  events: Record<string, unknown>[];
}

const LEFT = `
def fails():
    error = RuntimeError("z" * 15000)
    error.code = 7
    raise error

try:
    fails()
except RuntimeError:
    print("o" * 9000)

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage

picture = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
GenericFakeChatModel(messages=iter([AIMessage("a cat")])).invoke([HumanMessage([{"type": "text", "text": "what?"}, picture])])
`;

describe('life: other formats', function () {
  this.timeout(120_000);
  let place: LifePlace;
  let triage: string;
  let agent: string;

  before(async () => {
    place = new LifePlace();
    triage = await place.record(join(apps, 'langgraph', 'triage.py'), ['please refund order 7']);
    agent = await place.record(place.file('agent.py', AGENT));
  });
  after(() => place.remove());

  async function exported(run: string, format: string): Promise<string> {
    const out = join(place.folder, `out.${format}`);
    const said = await place.say('export', run, '--format', format, '-o', out, '--force');
    assert.equal(said.code, 0, said.stderr);
    assert.deepEqual(
      readdirSync(place.folder).filter((name) => name.startsWith('.toolbreak-export-')),
      [],
    );
    return out;
  }
  const trace = async (run: string): Promise<TraceEvent[]> =>
    (JSON.parse(readFileSync(await exported(run, 'perfetto'), 'utf8')) as { traceEvents: TraceEvent[] }).traceEvents;
  const rows = (file: string, sql: string): Record<string, unknown>[] => {
    const db = openWithCalls(file);
    try {
      return db.prepare(sql).all() as Record<string, unknown>[];
    } finally {
      db.close();
    }
  };
  const slices = (events: TraceEvent[]): TraceEvent[] => events.filter(({ ph }) => ph === 'X' || ph === 'B');

  describe('trace events', () => {
    it('have every call, on its task, with its values', async () => {
      const events = await trace(agent);
      const [process] = events.filter(({ name }) => name === 'process_name');
      assert.match(String(process!.args['name']), /^agent\.py \(\d+\)$/);
      assert.equal(events.filter(({ name }) => name === 'thread_name').length, 1);
      const calls = slices(events);
      assert.deepEqual(
        calls.map(({ name, cat }) => `${cat} ${name}`),
        ['function agent', ...Array<string>(4).fill('function lookup')],
      );
      const [top, first, , third] = calls as [TraceEvent, TraceEvent, TraceEvent, TraceEvent];
      assert.deepEqual(first.args['arguments'], { order: 1, note: 'of 1' });
      assert.deepEqual([first.args['status'], third.args['status'], third.cname], ['returned', 'error', 'terrible']);
      assert.deepEqual(third.args['error'], { type: 'ValueError', message: 'no such order: 3' });
      assert.ok(calls.slice(1).every((call) => call.ts >= top.ts && call.ts + call.dur! <= top.ts + top.dur!));
    });

    it('nest on each thread, as readers of the format want them', async () => {
      for (const run of [triage, overlapping(agent)]) {
        const events = await trace(run);
        const threads = new Map<string, TraceEvent[]>();
        for (const event of slices(events)) {
          const key = `${event.pid}/${event.tid}`;
          threads.set(key, [...(threads.get(key) ?? []), event]);
        }
        for (const [key, list] of threads) {
          assert.ok(
            events.some(({ ph, name, pid, tid }) => ph === 'M' && name === 'thread_name' && `${pid}/${tid}` === key),
          );
          const open: number[] = [];
          for (const { ts, dur } of list) {
            const end = dur === undefined ? Infinity : Math.round((ts + dur) * 1000);
            while (open.length > 0 && open.at(-1)! <= Math.round(ts * 1000)) open.pop();
            assert.ok(open.length === 0 || end <= open.at(-1)!, `${key} at ${ts}`);
            open.push(end);
          }
        }
        const count = Number(
          rows(run, 'SELECT (SELECT count(*) FROM calls) + (SELECT count(*) FROM holds) AS n')[0]!['n'],
        );
        assert.equal(slices(events).length, count);
      }
    });

    it('show what was held, and what still runs', async () => {
      const run = overlapping(agent);
      const events = slices(await trace(run));
      const held = events.find(({ cat }) => cat === 'hold');
      assert.equal(held?.args['description'], 'Paused on a breakpoint');
      assert.equal(events.filter(({ ph }) => ph === 'B').length, 1);
    });
  });

  describe('OTLP', () => {
    function read(file: string): { lines: number; resources: Record<string, unknown>[]; spans: Span[] } {
      const text = execFileSync(python, [join(__dirname, '..', 'support', 'otlp_check.py'), file], {
        encoding: 'utf8',
        maxBuffer: 1 << 28,
      });
      return JSON.parse(text) as ReturnType<typeof read>;
    }

    it("is read by OpenTelemetry's own types, with GenAI names", async () => {
      const { spans, resources } = read(await exported(triage, 'otlp'));
      assert.equal(spans.length, Number(rows(triage, 'SELECT count(*) AS n FROM calls')[0]!['n']));
      assert.equal(new Set(spans.map((span) => span.trace)).size, 1);
      assert.equal(new Set(spans.map((span) => span.id)).size, spans.length);
      const ids = new Set(spans.map((span) => span.id));
      assert.ok(spans.every(({ parent }) => parent === '' || ids.has(parent)));
      assert.ok(spans.every(({ start, end }) => BigInt(end) >= BigInt(start) && BigInt(start) > 10n ** 18n));
      const tool = spans.find(({ attributes }) => attributes['gen_ai.tool.name'] === 'lookup_order')!;
      assert.equal(tool.name, 'execute_tool lookup_order');
      assert.equal(tool.attributes['gen_ai.operation.name'], 'execute_tool');
      assert.equal(
        (JSON.parse(tool.attributes['gen_ai.tool.call.arguments'] as string) as { order_id: number }).order_id,
        7,
      );
      assert.match(tool.attributes['gen_ai.tool.call.result'] as string, /"?item\\?"?: ?\\?"lamp/);
      assert.equal(typeof tool.attributes['gen_ai.tool.call.id'], 'string');
      const model = spans.find(({ attributes }) => attributes['gen_ai.operation.name'] === 'chat')!;
      assert.equal(model.kind, 3);
      assert.equal(model.attributes['gen_ai.response.model'], 'scripted-1');
      assert.ok(Number(model.attributes['gen_ai.usage.input_tokens']) > 0);
      const [message] = JSON.parse(model.attributes['gen_ai.input.messages'] as string) as {
        role: string;
        parts: { content: string }[];
      }[];
      assert.deepEqual([message!.role, message!.parts[0]!.content], ['user', 'please refund order 7']);
      const parts = spans.flatMap(({ attributes }) =>
        ['gen_ai.input.messages', 'gen_ai.output.messages']
          .flatMap(
            (key) =>
              JSON.parse((attributes[key] as string | undefined) ?? '[]') as { parts: Record<string, unknown>[] }[],
          )
          .flatMap((each) => each.parts),
      );
      const call = parts.find(({ type, name }) => type === 'tool_call' && name === 'lookup_order')!;
      assert.deepEqual(call['arguments'], { order_id: 7 });
      const response = parts.find(({ type, id }) => type === 'tool_call_response' && id === call['id'])!;
      assert.match(String(response['response']), /lamp/);
      assert.ok(spans.some(({ attributes }) => attributes['gen_ai.workflow.name'] !== undefined));
      assert.ok(spans.some(({ attributes }) => attributes['toolbreak.state.after'] !== undefined));
      assert.equal(resources[0]!['telemetry.sdk.name'], 'toolbreak');
    });

    it('says what failed, and where', async () => {
      const { spans } = read(await exported(agent, 'otlp'));
      const [failed] = spans.filter(({ status }) => status === 2);
      assert.deepEqual([failed!.message, failed!.attributes['error.type']], ['no such order: 3', 'ValueError']);
      const exception = failed!.events.find(({ name }) => name === 'exception')!;
      assert.match(String(exception['exception.stacktrace']), /agent\.py", line \d+, in lookup/);
      assert.match(String(failed!.attributes['code.file.path']), /agent\.py$/);
      assert.equal(failed!.attributes['toolbreak.status'], 'error');
    });

    it('says which messages are not whole', async () => {
      const program = join(apps, 'langgraph', 'triage.py');
      const long = await place.record(program, [`please refund order 7 ${'x'.repeat(70_000)}`]);
      const { spans } = read(await exported(long, 'otlp'));
      const model = spans.find(({ attributes }) => attributes['gen_ai.operation.name'] === 'chat')!;
      assert.deepEqual(model.attributes['toolbreak.cut'], ['toolbreak.arguments', 'gen_ai.input.messages']);
    });

    it('is written in lines of a bounded size', async () => {
      const many = await place.record(
        place.file('many.py', 'def work(number):\n    return number\n\nfor number in range(1200):\n    work(number)\n'),
      );
      const { lines, spans } = read(await exported(many, 'otlp'));
      assert.deepEqual([lines, spans.length], [3, 1200]);
      const names = spans.map(({ attributes }) => attributes['toolbreak.result']);
      assert.deepEqual(
        names,
        Array.from({ length: 1200 }, (_, number) => String(number)),
      );
    });
  });

  it('cut values within a budget, and say so', () => {
    const file = new RunFile(agent);
    try {
      const json = (value: Parameters<typeof plainJson>[0], most = 100) => plainJson(value, file.values, most);
      assert.deepEqual(json('short'), { json: 'short', cut: false });
      assert.deepEqual(json('x'.repeat(1000)).json, `${'x'.repeat(99)}…`);
      const long = json(Array.from({ length: 100_000 }, (_, number) => number));
      assert.ok(long.cut && JSON.stringify(long.json).length < 500);
      assert.deepEqual((long.json as unknown[]).at(-1), '…');
      const wide = json(new Dict(Array.from({ length: 100_000 }, (_, number) => [`k${number}`, null])));
      assert.ok(wide.cut && JSON.stringify(wide.json).length < 500);
      let deep: Parameters<typeof plainJson>[0] = [];
      for (let level = 0; level < 1500; level++) deep = [deep];
      assert.ok(json(deep, 1e6).cut);
      assert.deepEqual(json(new Tagged('masked', ['api_key'])), { json: '<masked>', cut: false });
      assert.deepEqual(json(new Tagged('cycle', [])), { json: '<contains itself>', cut: true });
      assert.deepEqual(json(new Tagged('cut', ['str', 'abc', 900, 'size'])), { json: 'abc…', cut: true });
      assert.deepEqual(json(new Tagged('cut', ['list', [1, 2], 900, 'size'])), { json: [1, 2, '…'], cut: true });
      assert.deepEqual(json(new Tagged('cut', ['dict', new Dict([['a', 1]]), 900, 'size'])).json, { a: 1, '…': null });
      assert.deepEqual(json([new Tagged('cut', ['orders.Order', null, 0, 'deep'])]), {
        json: ['<orders.Order…>'],
        cut: true,
      });
      assert.deepEqual(json(2n ** 80n).json, String(2n ** 80n));
      const array = (rows: number): Tagged =>
        new Tagged('array', ['numpy.ndarray', new Tuple([rows, 2]), 'int64', [1, 2, 3, 4]]);
      assert.deepEqual(json(array(2)), {
        json: [
          [1, 2],
          [3, 4],
        ],
        cut: false,
      });
      assert.equal(json(new Tagged('array', ['numpy.ndarray', new Tuple([]), 'int64', [7]])).json, 7);
      assert.deepEqual(json(array(9)), { json: [[1, 2], [3, 4], '…'], cut: true });
      const table = (type: string, size: number[], columns: Record<string, Value[]>): boolean =>
        json(new Tagged('array', [type, new Tuple(size), 'int64', new Dict(Object.entries(columns))])).cut;
      // What names the rows is no column of the table.
      assert.equal(table('pandas.DataFrame', [2, 1], { '(index k)': ['a', 'b'], n: [3, 3] }), false);
      assert.equal(table('pandas.DataFrame', [2, 2], { '(index k)': ['a', 'b'], n: [3, 3] }), true);
      assert.equal(table('pandas.DataFrame', [2, 1], { '(index) (0)': [3, 3] }), false);
      assert.equal(table('pandas.Series', [2], { '(index)': ['a', 'b'], '(values)': [3, 3] }), false);
      assert.equal(table('pandas.Series', [9], { '(index)': ['a', 'b'], '(values)': [3, 3] }), true);
      const lost = new Tagged('opaque', ['', '(damaged)', 'this part cannot be read']);
      assert.deepEqual(json([lost]), { json: ['(damaged)'], cut: true });
      const cause = new Tagged('error', ['builtins.KeyError', "'x'", [], null, new Dict([])]);
      const error = new Tagged('error', ['m.Refused', 'no', [], cause, new Dict([['code', 7]])]);
      assert.deepEqual(json(error, 1000).json, {
        type: 'Refused',
        message: 'no',
        cause: { type: 'KeyError', message: "'x'" },
        fields: { code: 7 },
      });
      // `__proto__` is a name like any other.
      assert.equal(JSON.stringify(json(new Dict([['__proto__', 1]])).json), '{"__proto__":1}');
    } finally {
      file.close();
    }
  });

  it('say which values they do not have whole', async () => {
    const app = place.file('long.py', "def told(text):\n    return text[:9]\n\ntold('x' * 3000)\ntold('y' * 70_000)\n");
    const run = await place.record(app);
    const export_ = (format: string, ...more: string[]) =>
      place.say('export', run, '--format', format, '-o', join(place.folder, `long.${format}`), '--force', ...more);
    const perfetto = await export_('perfetto');
    assert.match(
      perfetto.stdout,
      /^2 values in it are not whole, and marked: the recording cut them, or this format takes less\.\nLeave --format out/m,
    );
    const { traceEvents } = JSON.parse(readFileSync(join(place.folder, 'long.perfetto'), 'utf8')) as {
      traceEvents: TraceEvent[];
    };
    assert.deepEqual(
      traceEvents.filter(({ name }) => name === 'told').map(({ args }) => args['cut']),
      [['arguments'], ['arguments']],
    );
    const otlp = await export_('otlp');
    assert.match(
      otlp.stdout,
      /^1 value in it is not whole, and marked: the recording cut it, or this format takes less\./m,
    );
    assert.equal((JSON.parse((await export_('otlp', '--json')).stdout) as { cut: number }).cut, 1);
    const piped = await place.say('export', run, '--format', 'perfetto', '-o', '-');
    assert.match(piped.stderr, /^2 values in it are not whole/);
    assert.equal((JSON.parse(piped.stdout) as { traceEvents: TraceEvent[] }).traceEvents.length, traceEvents.length);
    assert.doesNotMatch((await place.say('export', run, '-o', join(place.folder, 'long.run'))).stdout, /not whole/);
  });

  it('say what is left out of errors, events and messages', async () => {
    const run = await place.record(place.file('left.py', LEFT));
    const perfetto = join(place.folder, 'left.perfetto');
    const said = await place.say('export', run, '--format', 'perfetto', '-o', perfetto, '--force');
    const { traceEvents } = JSON.parse(readFileSync(perfetto, 'utf8')) as { traceEvents: TraceEvent[] };
    const cut = traceEvents.filter(({ args }) => args?.['cut'] !== undefined);
    assert.deepEqual(
      cut.map(({ name, args }) => [name, args['cut']]),
      [
        ['fails', ['error']],
        ['output', ['text']],
      ],
    );
    assert.match(said.stdout, /^2 values in it are not whole/m);
    const error = cut[0]!.args['error'] as { type: string; message: string };
    assert.equal(error.type, 'RuntimeError');
    assert.match(error.message, /^z+…$/);
    const otlp = join(place.folder, 'left.otlp');
    await place.say('export', run, '--format', 'otlp', '-o', otlp, '--force');
    const text = readFileSync(otlp, 'utf8');
    assert.match(text, /"toolbreak\.cut","value":\{"arrayValue":\{"values":\[\{"stringValue":"exception\.message"\}\]/);
    assert.match(text, /"toolbreak\.error\.fields","value":\{"stringValue":"\{\\"code\\":7\}"/);
    // A picture is no part that is written, and is said to be missing.
    assert.match(text, /"stringValue":"gen_ai\.input\.messages"/);
  });

  it('have no half of a character, which others refuse', async () => {
    const project = new RecordedProject();
    try {
      const half = 'x\ud800y';
      const spool = new SpoolFile('4000001-abc').add(1, 1, 'llm', half, half, 'm', '/app/m.py', 1, 1);
      const message = dict({
        role: 'user',
        content: half,
        tool_calls: [dict({ id: half, name: half, args: dict({ [half]: half }) })],
      });
      spool.add(2, 1, half, 0).add(3, 1, 0, 1, 1, 2000, dict({ messages: [message] }), dict({ [half]: [half] }));
      spool.add(4, 1, 3000, 1, new Tagged('error', [half, half, [], null, dict({ said: '\\ud800' })]), null);
      const file = project.record(
        'halves',
        [spool],
        [{ name: 'output', data: { category: 'stdout', text: half }, wall: 1_700_000_012_000_000_000n }],
      );
      for (const format of ['perfetto', 'otlp'] as const) {
        const out = join(place.folder, `halves.${format}`);
        const cuts = await writeFormat(file, out, format, '0');
        const texts: string[] = [];
        const collect = (key: string, value: unknown): unknown => {
          texts.push(key);
          if (typeof value !== 'string') return value;
          texts.push(value);
          // Values of attributes are JSON in JSON.
          if (/^[[{]/.test(value)) JSON.parse(value, collect);
          return value;
        };
        const written = readFileSync(out, 'utf8');
        for (const line of format === 'otlp' ? written.trim().split('\n') : [written]) JSON.parse(line, collect);
        rmSync(out);
        assert.ok(!/\p{Cs}/u.test(texts.join('\0')) && !/(?<!\\)(?:\\\\)*\\ud800/.test(written), written);
        assert.ok(texts.includes('x\ufffdy') && texts.includes('\\ud800'), written);
        assert.ok(cuts.count > 0);
      }
    } finally {
      project.remove();
    }
  });

  it('take a text of just as many characters as they say', () => {
    const file = new RunFile(agent);
    try {
      assert.deepEqual(plainJson('a'.repeat(100), file.values, 100), { json: 'a'.repeat(100), cut: false });
      assert.equal(plainJson('a'.repeat(101), file.values, 100).cut, true);
      assert.match(
        JSON.stringify(plainJson(new Dict([['key', 'é'.repeat(99)]]), file.values, 100).json),
        /^\{"key":"é{80,95}…"\}$/,
      );
    } finally {
      file.close();
    }
  });

  it('are refused by name when there is no such format', async () => {
    const said = await place.say('export', 'last', '--format', 'xml', '-o', join(place.folder, 'x'));
    assert.equal(said.code, 2);
    assert.match(said.stderr, /Allowed choices are run, perfetto, otlp/);
  });
});
