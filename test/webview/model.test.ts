import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CallRow, Ending, Lane, RunSummary } from '../../protocol/timeline';
import { barAt, placeBars } from '../../webview/model/bars';
import { laneLabel, lanesBetween, layOut } from '../../webview/model/layout';
import { neighbour } from '../../webview/model/neighbours';
import { isSearched, placeWord, SEARCH_WORDS, searchWords, valueWord } from '../../webview/model/searchWords';
import { clockLabels, formatClock, formatDuration, formatMoment, roundStep, ticks } from '../../webview/model/time';
import { busyIn } from '../../webview/model/totals';
import { clamp, fit, followed, reveal, timeAt, whole, xOf, zoom } from '../../webview/model/viewport';
import { callTitle, cut, rough, runFacts } from '../../webview/model/words';
import { sampleRun } from './sample';

const S = 1e9;
const MS = 1e6;

function call(id: string, start: number, end: number | undefined, more: Partial<CallRow> = {}): CallRow {
  const state = end === undefined ? 'running' : 'returned';
  return { id, task: 1, depth: 0, kind: 'tool', name: id, start, end, state, holds: [], edited: false, ...more };
}

describe('timeline: time', () => {
  it('says lengths as a person does', () => {
    const said: [number, string][] = [
      [0, '0 ns'],
      [340, '340 ns'],
      [12_000, '12 µs'],
      [3 * MS, '3 ms'],
      [3.24 * MS, '3.2 ms'],
      [412.4 * MS, '412 ms'],
      [12.4 * S, '12.4 s'],
      [59.96 * S, '1 min'],
      [125 * S, '2 min 5 s'],
      [3840 * S, '1 h 4 min'],
      [26 * 3600 * S, '1 day 2 h'],
    ];
    for (const [time, text] of said) assert.equal(formatDuration(time), text);
  });

  it('says no clock time when the start is not known', () => {
    assert.equal(formatClock('', 5), '');
    assert.match(formatClock('2026-03-02T14:03:10.000Z', 1.5 * S), /^\d\d:\d\d:11\.500$/);
    assert.match(formatClock('2026-03-02T14:03:10.002Z', 1_500_250, MS), /^\d\d:\d\d:10\.0035002$/);
    // The run's start has nanoseconds, too: those of both may make another second.
    assert.match(formatClock('2026-03-02T14:03:10.002999700Z', 400, 3000), /^\d\d:\d\d:10\.003000100$/);
    assert.match(formatClock('2026-03-02T14:03:10.999999900Z', 1_000_000_200, 3000), /^\d\d:\d\d:12\.000000100$/);
    const seconds = (from: number, to: number) =>
      clockLabels('2026-03-02T14:03:10.000Z', ticks(from, to, 300)).map((text) => text.slice(6));
    assert.deepEqual(seconds(0, 3 * S), ['10.000', '11.000', '12.000', '13.000']);
    assert.deepEqual(seconds(MS, MS + 3000), ['10.001000', '10.001001', '10.001002', '10.001003']);
  });

  it('tells the moments of a run apart, however short it is or the part that is looked at', () => {
    assert.equal(formatMoment(20 * MS, 12.4 * S), '0.020 s');
    assert.equal(formatMoment(0.5 * S, 10 * S), '0.500 s');
    assert.equal(formatMoment(3_214_400, 80 * MS), '3.214 ms');
    assert.equal(formatMoment(3_214_400, 80 * MS, MS), '3.2144 ms');
    assert.equal(formatMoment(7_500_012_345, 12.4 * S, 3000), '7.500012345 s');
    assert.equal(formatMoment(412, 0.2 * MS), '0.412 µs');
    assert.equal(formatMoment(41, 900), '41 ns');
    assert.equal(formatMoment(0, 0), '0 ns');
  });

  it('puts marks at round times, evenly, inside the window, with labels of their own', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e15, noNaN: true }),
        fc.double({ min: 1e3, max: 1e14, noNaN: true }),
        (from, span) => {
          const marks = ticks(from, from + span, 1000);
          assert.ok(marks.length <= 13);
          for (const mark of marks) assert.ok(mark.time >= from - span * 1e-6 && mark.time <= from + span * (1 + 1e-6));
          if (span > from * 1e-6) assert.equal(new Set(marks.map((mark) => mark.label)).size, marks.length);
        },
      ),
    );
  });

  it('labels the axis in one unit with the decimals it needs', () => {
    assert.deepEqual(
      ticks(0, 10 * S, 500).map((mark) => mark.label),
      ['0', '2 s', '4 s', '6 s', '8 s', '10 s'],
    );
    assert.equal(ticks(7.4995 * S, 7.5005 * S, 500)[0]?.label, '7.4996 s');
    assert.equal(roundStep(3 * S), 5 * S);
    assert.equal(roundStep(40 * S), 60 * S);
  });
});

describe('timeline: window', () => {
  it('keeps the moment under the pointer when zooming', () => {
    const view = zoom({ from: 2 * S, to: 6 * S }, 2, 3 * S, 10 * S);
    assert.deepEqual(view, { from: 2.5 * S, to: 4.5 * S });
  });

  it('stays inside the run whatever is asked of it', () => {
    const time = fc.double({ min: -1e14, max: 1e14, noNaN: true });
    fc.assert(
      fc.property(time, time, fc.double({ min: 0, max: 1e13, noNaN: true }), (from, to, end) => {
        const view = clamp({ from: Math.min(from, to), to: Math.max(from, to) }, end);
        const limit = whole(end);
        assert.ok(view.from >= 0 && view.to <= limit.to * (1 + 1e-9) && view.to > view.from);
      }),
    );
  });

  it('turns time into pixels and back', () => {
    const view = { from: 1 * S, to: 3 * S };
    assert.equal(xOf(view, 800, 2 * S), 400);
    assert.equal(timeAt(view, 800, 400), 2 * S);
  });

  it('reveals a call with as little movement as possible', () => {
    const view = { from: 4 * S, to: 6 * S };
    assert.equal(reveal(view, 4.5 * S, 5 * S, 10 * S, 1000), view);
    const right = reveal(view, 7 * S, 7.5 * S, 10 * S, 1000);
    assert.ok(right.to >= 7.5 * S && right.from <= 7 * S);
    assert.equal(Math.round(right.to - right.from), 2 * S);
    const tiny = reveal(view, 5 * S, 5 * S + 1000, 10 * S, 1000);
    assert.ok(tiny.to - tiny.from < 1 * MS, 'a call too short to be seen is zoomed to');
    assert.deepEqual(fit(4 * S, 5 * S, 10 * S), { from: 3.875 * S, to: 5.125 * S });
  });

  it('fits a call, however short, so that it fills the wanted part of the window', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 1e9 }), fc.integer({ min: 2e9, max: 8e9 }), (length, start) => {
        const view = fit(start, start + length, 10 * S, 0.6);
        assert.ok(Math.abs(length / (view.to - view.from) - 0.6) < 1e-3);
      }),
    );
  });

  it('follows a live run as a whole while its calls can be told apart, then its end', () => {
    assert.deepEqual(followed(3 * S, 5000, 1000), whole(3 * S), 'a short run, whatever it does');
    assert.deepEqual(followed(600 * S, 15, 1000), whole(600 * S), 'a long hold');
    const late = followed(600 * S, 10_000, 1000);
    assert.equal(late.to, whole(600 * S).to);
    assert.ok(late.to - late.from >= 20 * S - 1);
    assert.ok(late.from > 0);
  });
});

describe('timeline: lanes', () => {
  const lanes: Lane[] = [
    { task: 3, name: 'support_agent › late', parent: 1, depth: 1, first: 9, last: 10 },
    { task: 1, name: 'support_agent', depth: 3, first: 0, last: 10 },
    { task: 2, name: 'support_agent › early', parent: 1, depth: 2, first: 1, last: 2 },
    { task: 4, name: 'Process-2', depth: 1, first: 5, last: 6 },
  ];

  it('puts children under their parent in order of their first call', () => {
    const layout = layOut(lanes, new Set());
    assert.deepEqual(
      layout.lanes.map((placed) => [placed.lane.task, placed.level]),
      [
        [1, 0],
        [2, 1],
        [3, 1],
        [4, 0],
      ],
    );
    assert.deepEqual(layout.lanes.map(laneLabel), ['support_agent', 'early', 'late', 'Process-2']);
  });

  it('keeps a collapsed lane low, however deep its calls are', () => {
    const deep: Lane = { task: 1, name: 'deep', depth: 1000, first: 0, last: 10 };
    const { lanes: placed, height } = layOut([deep], new Set([1]));
    assert.ok(height < 80, `${height} pixels`);
    assert.ok(placed[0]!.rowHeight > 0);
  });
  it('hides the lanes under a collapsed one and counts them', () => {
    const layout = layOut(lanes, new Set([1]));
    assert.deepEqual(
      layout.lanes.map((placed) => [placed.lane.task, placed.hidden]),
      [
        [1, 2],
        [4, 0],
      ],
    );
  });

  it('finds the lanes of a part of ten thousand', () => {
    const many = Array.from({ length: 10_000 }, (_, task) => ({
      task,
      name: `t${task}`,
      depth: 1,
      first: task,
      last: task,
    }));
    const layout = layOut(many, new Set());
    const [first] = layout.lanes;
    assert.ok(first);
    const found = lanesBetween(layout, first.height * 5000, first.height * 5003);
    assert.deepEqual(
      found.map((placed) => placed.lane.task),
      [5000, 5001, 5002],
    );
  });

  it('survives a parent that is missing or a lane that is its own parent', () => {
    const odd: Lane[] = [
      { task: 1, name: 'a', parent: 9, depth: 0, first: 0, last: 1 },
      { task: 2, name: 'b', parent: 2, depth: 1, first: 0, last: 1 },
    ];
    assert.equal(layOut(odd, new Set()).lanes.length, 2);
  });
});

describe('timeline: bars', () => {
  const layout = layOut([{ task: 1, name: 'a', depth: 2, first: 0, last: 10 * S }], new Set());
  const stage = { view: { from: 0, to: 10 * S }, width: 1000, height: 300, scroll: 0, now: 10 * S };

  it('draws one of the calls that share a pixel, but every error and those that are to stay', () => {
    const calls = Array.from({ length: 100 }, (_, index) => call(`c${index}`, index * 1000, index * 1000 + 500));
    calls[50] = { ...call('failed', 50_000, 50_500), state: 'error' };
    const bars = placeBars(calls, layout, stage, (one) => one.id === 'c70');
    assert.deepEqual(
      bars.map((bar) => bar.call.id),
      ['c0', 'failed', 'c70'],
    );
  });

  it('lets a running call reach the present', () => {
    const [bar] = placeBars([call('open', 5 * S, undefined)], layout, stage, () => false);
    assert.ok(bar);
    assert.equal(Math.round(bar.x + bar.width), 1000);
  });

  it('finds a thin bar two pixels beside the pointer, and nothing far from all', () => {
    const bars = placeBars([call('thin', 5 * S, 5 * S + 10)], layout, stage, () => false);
    assert.equal(barAt(bars, 502, 10)?.call.id, 'thin');
    assert.equal(barAt(bars, 520, 10), undefined);
  });
});

describe('timeline: selection and totals', () => {
  const { calls } = sampleRun(1);
  const named = (name: string): CallRow => {
    const found = calls.find((one) => one.name === name);
    assert.ok(found, name);
    return found;
  };

  it('goes to the next and previous call of the row, out and in', () => {
    const lookup = named('lookup_order');
    assert.equal(neighbour(calls, lookup, 'out')?.name, 'tools');
    assert.equal(neighbour(calls, lookup, 'previous')?.name, 'gpt-x');
    assert.equal(neighbour(calls, named('support_agent'), 'in')?.name, 'agent');
    assert.equal(neighbour(calls, named('support_agent'), 'previous'), undefined);
  });

  it('counts time in which calls ran once, as far as it lies in the range', () => {
    const busy = busyIn(
      [call('a', 0, 4 * S), call('b', 2 * S, 6 * S, { state: 'error', kind: 'llm' }), call('c', 9 * S, 9 * S)],
      1 * S,
      5 * S,
      10 * S,
    );
    assert.equal(busy, 4 * S);
  });
});

describe('timeline: words', () => {
  it('says what a run was, and not what there was none of', () => {
    const run = { ...sampleRun(3).summary, calls: 41, errors: 2, holds: 0 };
    assert.equal(runFacts(run).join(' · '), '12.4 s · 41 calls · 2 errors · 3.1 k tokens');
    assert.equal(runFacts({ ...run, calls: 1, errors: 0, tokens: 0 }).join(' · '), '12.4 s · 1 call');
    assert.equal(rough(2_400_000), '2.4 M');
  });

  it('says how a run ended that did not end by itself', () => {
    const run: RunSummary = { ...sampleRun(3).summary, calls: 41, errors: 0, holds: 0, tokens: 0 };
    const said = (ending: Ending): string => runFacts({ ...run, ending }).join(' · ');
    assert.equal(said({ how: 'crashed', signal: 'SIGSEGV' }), '12.4 s · crashed (SIGSEGV) · 41 calls');
    assert.equal(said({ how: 'crashed', child: true }), '12.4 s · a process crashed · 41 calls');
    assert.equal(said({ how: 'killed', signal: 'SIGKILL' }), '12.4 s · killed by SIGKILL · 41 calls');
  });

  it('titles a call with its first arguments, cut in the middle', () => {
    const args = [{ name: 'amount', text: '700', type: 'int', children: 0 }];
    assert.equal(callTitle('refund', args, false), 'refund(amount=700)');
    assert.equal(callTitle('refund', args, true), 'refund(amount=700, …)');
    assert.equal(cut('abcdefghij', 7), 'abcd…ij');
    // How long a text is is told whole, or it would be another number.
    const said = cut(`'line 0 ${'x'.repeat(100)} the end' (228889 characters)`, 40);
    assert.match(said, /^'line 0 x+…he end' \(228889 characters\)$/);
    assert.equal(said.length, 40);
  });
});

describe('timeline: what is typed into the search', () => {
  it('is a name, unless a word says what else is looked for', () => {
    for (const typed of ['refund', ' look up', 'tool:search', 'status:', 'value:', 'mystatus:error', ''])
      assert.deepEqual(searchWords(typed), { text: typed }, typed);
    for (const word of ['status:error', 'status:failed'])
      assert.deepEqual(searchWords(word), { text: '', query: { status: ['error'] } });
    assert.deepEqual(searchWords('status:Running refund status:cancelled'), {
      text: 'refund',
      query: { status: ['running', 'cancelled'] },
    });
    assert.deepEqual(searchWords('tool:refund min:1.5s value:"order 7"'), {
      text: 'tool:refund',
      query: { minimumDuration: '1.5s', text: 'order 7' },
    });
    assert.deepEqual(searchWords('value:eu'), { text: '', query: { text: 'eu' } });
  });

  it('asks for what a query can ask for', () => {
    const queries: [typed: string, query: object][] = [
      ['kind:tool,LLM', { kinds: ['tool', 'llm'] }],
      ['kind:agent,model', { kinds: ['workflow', 'llm'] }],
      ['status:error,cancelled', { status: ['error', 'cancelled'] }],
      ['name:lookup_order', { name: { equals: 'lookup_order' } }],
      ['name:/^look.*r$/', { name: { regex: '^look.*r$' } }],
      ['file:shop/triage.py error:OutOfStock', { file: 'shop/triage.py', error: 'OutOfStock' }],
      ['task:"support agent" process:4711', { task: 'support agent', process: 4711 }],
      ['process:Worker-2 from:+5s to:-1s', { process: 'Worker-2', from: '+5s', to: '-1s' }],
      ['from:"2026-11-22 10:00"', { from: '2026-11-22 10:00' }],
    ];
    for (const [typed, query] of queries) assert.deepEqual(searchWords(typed), { text: '', query }, typed);
    assert.equal(
      searchWords('kind:tol').problem,
      'There is no kind "tol". There are workflow, node, tool, llm, http, function, native.',
    );
    assert.equal(searchWords('from:+5').problem, '"from:" needs a unit, as in from:+5s, or a date and time.');
    for (const typed of ['result.sq>100', 'kind:tool args.n[0] <= 3', 'state != 4'])
      assert.match(
        searchWords(typed).problem ?? '',
        /^"(result\.sq>100|args\.n\[0\] <= 3|state != 4)" cannot be asked: /,
      );
    for (const typed of ['value:"a > b"', 'a > b', 'result.note:"x >= 3"', 'results > 3', 'result.note=<b>'])
      assert.equal(searchWords(typed).problem, undefined, typed);
    for (const [typed, meant] of [
      ['satus:error', 'status'],
      ['refund form:+5s', 'from'],
      ['tasks:worker', 'task'],
      ['Argumant.x:1 nama:refund', 'name'],
    ])
      assert.match(searchWords(typed!).problem ?? '', new RegExp(`Did you mean "${meant}:"`), typed);
    for (const typed of ['tool:refund', 'http://a', 'name:"tasks:sync"', 'top:x', 'state:verdict', 'step:1'])
      assert.equal(searchWords(typed).problem, undefined, typed);
    assert.equal(searchWords('name:a name:b').problem, '"name:" stands twice.');
    assert.deepEqual(searchWords('kind:tool kind:node result.note:"'), {
      text: '',
      query: { kinds: ['tool', 'node'] },
    });
    assert.equal(searchWords('error:KeyError,ValueError').problem, '"error:" takes one type.');
    assert.deepEqual(searchWords('Kind:Tool'), { text: '', query: { kinds: ['tool'] } });
  });

  it('asks for parts of values', () => {
    const typed: [typed: string, condition: string][] = [
      ['argument.order_id=7', 'argument.order_id = 7'],
      ['argument.order_id=="7"', 'argument.order_id = "7"'],
      ['result.lines[-1].note:late', 'result.lines[-1].note contains late'],
      ['result:"a b"', 'result contains a b'],
      ['state["a key"].x~"^no way"', 'state["a key"].x ~ ^no way'],
      ['error.code=3', 'error.code = 3'],
      ['args.order_id = 7', 'args.order_id = 7'],
      ['Arguments.order_id equals 7', 'arguments.order_id = 7'],
      ['result.note contains late', 'result.note contains late'],
      ['stateBefore.n matches ^1', 'stateBefore.n ~ ^1'],
    ];
    for (const [text, condition] of typed)
      assert.deepEqual(searchWords(text), { text: '', conditions: [condition] }, text);
    assert.deepEqual(searchWords('refund argument.a=1 kind:tool argument.b=2'), {
      text: 'refund',
      query: { kinds: ['tool'] },
      conditions: ['argument.a = 1', 'argument.b = 2'],
    });
    // Values as they are shown have spaces in them.
    for (const value of [
      "{'id': 7, 'lines': ['a mug', (1, 2)]}",
      '{"id": 7, "note": "}{"}',
      "Order(id=7, region='eu (west)')",
      "b'a b'",
      "'it\\'s late'",
      '[1, 2]',
    ])
      assert.deepEqual(searchWords(`refund argument.order=${value} kind:tool`), {
        text: 'refund',
        query: { kinds: ['tool'] },
        conditions: [`argument.order = ${value}`],
      });
    assert.deepEqual(searchWords("result={'id': 7"), { text: '7', conditions: ["result = {'id':"] });
    assert.equal(searchWords(`result=${'(a)(b'.repeat(2000)} x`).text, 'x');
    // What happens to a state is told by this name.
    for (const name of ['state:verdict', 'argumental=3', 'my.argument=3', 'result equals'])
      assert.deepEqual(searchWords(name), { text: name }, name);
  });

  it('finds a value at its place by what can be typed', () => {
    const words: [word: string | undefined, path: string[], json: string][] = [
      ['argument.order_id=7', ['order_id'], '7'],
      ['argument.lines[0]["a key"]="order 7"', ['lines', '0', 'a key'], '"order 7"'],
      ['argument=null', [], 'null'],
      ['argument.01=7', ['01'], '7'],
      [undefined, ['say "so"'], '7'],
      [undefined, ['two\nlines'], '7'],
      [undefined, ['note'], '"two\\nlines"'],
      [undefined, ['note'], `"${'long '.repeat(40)}"`],
    ];
    for (const [word, path, json] of words) {
      assert.equal(placeWord('argument', path, json), word);
      if (word !== undefined) assert.equal(searchWords(word).conditions?.length, 1, word);
    }
  });

  it('explains only words that it knows', () => {
    for (const word of SEARCH_WORDS.flatMap((each) => each.word.split(/\s+(?=\w+:)/))) {
      const { text, query, conditions, problem } = searchWords(word);
      assert.ok((query ?? conditions) !== undefined && text === '' && problem === undefined, word);
    }
  });

  it('says which words there are, where what was typed is none of them', () => {
    const states = 'There are running, returned, error, cancelled, skipped and interrupted.';
    assert.deepEqual(searchWords('refund status:odd'), {
      text: 'refund',
      problem: `There is no status "odd". ${states}`,
    });
    assert.equal(searchWords('status:"very odd" status:failed').problem, `There is no status "very odd". ${states}`);
    for (const length of ['soon', '3weeks', '20', '1.2.3s', '20n'])
      assert.equal(
        searchWords(`min:${length}`).problem,
        `"${length}" is no length of time, such as 200ms. The units are ns, us, ms, s, m and h.`,
      );
  });

  it('offers to look for values whose own text a search finds', () => {
    const node = (type: string, text: string, more = {}) => ({ name: 'x', type, text, children: 0, ...more });
    for (const found of [
      node('str', "'eu'"),
      node('int', '7'),
      node('decimal.Decimal', "Decimal('0.1')"),
      node('str', "'aaa…'", { long: true, mark: 'Cut: 2,000,000 characters in all.' }),
    ])
      assert.ok(isSearched(found), found.text);
    for (const none of [
      node('', '***', { mark: 'Masked.' }),
      node('bytes', "b'hi'"),
      node('list', '[]'),
      node('tuple', '()'),
      node('function', 'len'),
      node('dict', 'dict (3)', { children: 3 }),
    ])
      assert.ok(!isSearched(none), none.text);
  });

  it('finds a value by as much of a line of it as can stand between quotes', () => {
    assert.equal(valueWord('order 7'), 'value:"order 7"');
    assert.equal(valueWord('say "no more" to\nthe customer'), 'value:"the customer"');
    assert.equal(valueWord('ab'.repeat(100))?.length, 'value:""'.length + 80);
    assert.equal(valueWord(' \n"" '), undefined);
    assert.deepEqual(searchWords(valueWord('order 7')!), { text: '', query: { text: 'order 7' } });
  });

  it('takes a quote that is not closed yet to the end', () => {
    assert.deepEqual(searchWords('value:"order'), { text: '', query: { text: 'order' } });
  });
});
