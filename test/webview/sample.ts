import type {
  CallDetail,
  CallLine,
  CallRow,
  CallTable,
  ComparedRow,
  Lane,
  Overview,
  ReaderMethods,
  RunSummary,
  Statistics,
  ValueHandle,
  ValueNode,
} from '../../protocol/timeline';

const MS = 1e6;
const S = 1e9;

/** A run as the page's tests need it, held in memory: an agent that loops, with a hold, a failing tool, a parallel task and a busy tail. */
export interface SampleRun {
  summary: RunSummary;
  lanes: Lane[];
  calls: CallRow[];
}

type Plain = string | number | boolean | null | Plain[] | { [key: string]: Plain };

export const STARTED = '2026-03-02T14:03:10.000Z';

export function sampleRun(
  number: number,
  options: { live?: boolean; busy?: number; workers?: number } = {},
): SampleRun {
  const calls: CallRow[] = [];
  let last = 0;
  const add = (
    kind: string,
    name: string,
    depth: number,
    start: number,
    end: number | undefined,
    more: Partial<CallRow> = {},
  ): CallRow => {
    const call: CallRow = {
      id: `1.${++last}`,
      task: 1,
      depth,
      kind,
      name,
      start,
      end,
      state: end === undefined ? 'running' : 'returned',
      holds: [],
      edited: false,
      ...more,
    };
    calls.push(call);
    return call;
  };
  const end = 12.4 * S;
  const root = add('workflow', 'support_agent', 0, 0, options.live ? undefined : end);
  const agent = (from: number, to: number): void => {
    const node = add('node', 'agent', 1, from, to, { parent: root.id });
    add('llm', 'gpt-x', 2, from + 40 * MS, to - 30 * MS, { parent: node.id, tokens: from < S ? 1220 : 1900 });
  };
  agent(20 * MS, 2.2 * S);
  const tools = add('node', 'tools', 1, 2.2 * S, 5.6 * S, { parent: root.id });
  add('tool', 'lookup_order', 2, 2.25 * S, 5.5 * S, {
    parent: tools.id,
    edited: true,
    holds: [{ start: 2.3 * S, end: 5.2 * S, description: 'Paused before tool' }],
  });
  add('tool', 'check_stock', 0, 2.26 * S, 3.1 * S, { parent: tools.id, task: 2 });
  add('http', 'GET stock.example/api/items/7', 1, 2.4 * S, 3.0 * S, { parent: `1.${last}`, task: 2 });
  agent(5.6 * S, 7.4 * S);
  const failing = add('node', 'tools', 1, 7.4 * S, 7.9 * S, { parent: root.id });
  add('tool', 'refund', 2, 7.5 * S, 7.503 * S, { parent: failing.id, state: 'error' });
  add('tool', 'refund', 2, 7.6 * S, 7.84 * S, { parent: failing.id });
  const review = add('node', 'review', 1, 7.95 * S, options.live ? undefined : 12.3 * S, { parent: root.id });
  add('function', 'score', 2, 8.0 * S, 8.9 * S, { parent: review.id });
  add('tool', 'notify', 2, 9 * S, 9.4 * S, { parent: review.id, state: 'skipped' });
  add('tool', 'grade', 2, 9.5 * S, 10.2 * S, { parent: review.id, state: 'cancelled' });
  add('tool', 'refund', 2, 10.3 * S, 10.9 * S, { parent: review.id, state: 'error' });
  const busy = options.busy ?? 24;
  for (let index = 0; index < busy; index++) {
    const start = 11 * S + (index * 1.2 * S) / busy;
    add('function', `parse_line`, 2, start, start + (0.7 * S) / busy, { parent: review.id });
  }
  if (options.live) {
    add('tool', 'approve', 0, 8.2 * S, undefined, {
      parent: review.id,
      task: 3,
      holds: [{ start: 8.3 * S, description: 'Paused before tool' }],
    });
  }
  const workers = Array.from({ length: options.workers ?? 0 }, (_, index) => ({
    task: 100 + index,
    name: `worker-${index}`,
  }));
  for (const [index, { task, name }] of workers.entries())
    add('function', `work_${name}`, 0, 1 * S, 11 * S, { task, state: index === 42 ? 'error' : 'returned' });
  calls.sort((a, b) => a.start - b.start || a.depth - b.depth);
  const lanes: Lane[] = [
    { task: 1, name: 'support_agent', depth: 3, first: 0, last: end },
    { task: 2, name: 'support_agent › check_stock', parent: 1, depth: 2, first: 2.26 * S, last: 3.1 * S },
  ];
  lanes.push(...workers.map((worker) => ({ ...worker, depth: 1, first: 1 * S, last: 11 * S })));
  if (options.live)
    lanes.push({ task: 3, name: 'support_agent › approve', parent: 1, depth: 1, first: 8.2 * S, last: end });
  return {
    summary: {
      file: `/runs/${number}.db`,
      run: `run-${number}`,
      name: 'support_agent',
      number,
      startedAt: STARTED,
      duration: end,
      live: options.live ?? false,
      calls: calls.length,
      errors: calls.filter((call) => call.state === 'error').length,
      holds: calls.filter((call) => call.holds.length > 0).length,
      tokens: 3120,
    },
    lanes,
    calls,
  };
}

/** A native program: no calls, but stops, output, a log message and a crash. */
export function nativeRun(number: number): SampleRun {
  const event = (id: number, name: string, start: number, more: Partial<CallRow> = {}): CallRow => ({
    id: `e${id}`,
    task: -1,
    depth: 1,
    kind: 'event',
    name,
    start,
    end: start,
    state: 'returned',
    holds: [],
    edited: false,
    ...more,
  });
  const stop = (id: number, name: string, start: number, end: number): CallRow =>
    event(id, name, start, { depth: 0, end, holds: [{ start, end, description: 'Stood still' }] });
  const end = 10 * S;
  return {
    summary: {
      file: `/runs/${number}.db`,
      run: `run-${number}`,
      name: 'order',
      number,
      startedAt: STARTED,
      duration: end,
      live: false,
      ...{ calls: 0, errors: 0, holds: 0, tokens: 0, languages: ['native lldb-dap 19'] },
      ending: { how: 'crashed', signal: 'SIGSEGV' },
    },
    lanes: [{ task: -1, name: 'order', depth: 2, first: 0, last: end, events: true }],
    calls: [
      event(1, 'stdout: orders', 0.2 * S),
      stop(2, 'Breakpoint: total @ order.c:31', 1 * S, 4 * S),
      stop(3, 'Step: total @ order.c:32', 4.001 * S, 4.002 * S),
      event(4, 'Log: into <b>42</b>', 5 * S),
      event(5, 'Crash: Segmentation fault (SIGSEGV): fail @ order.c:40', 8 * S, { state: 'error' }),
    ],
  };
}

const VALUES: Record<number, Plain> = {
  1: { amount: 700, reason: 'customer <b>asked</b>', order: { id: 7, lines: ['mug', 'cup'], paid: true, note: null } },
  2: { status: 'refunded', id: 'r-7' },
  3: { messages: ['please refund order 7'], visits: ['agent'], verdict: '' },
  4: { messages: ['please refund order 7', '→ lookup_order'], visits: ['agent', 'tools'], verdict: 'scored' },
  6: { amount: 70, reason: 'customer <b>asked</b>', order: { id: 7, lines: ['mug', 'cup'], paid: false, note: null } },
  7: {
    short: 'ok',
    lines: 'first <b>line</b>\nsecond line',
    long: `${'All work and no play. '.repeat(1500)}The end.`,
    '': 1,
  },
  8: { short: 'ok', lines: 'first <b>line</b>\nanother line', long: 'No play.' },
  5: Array.from({ length: 250 }, (_, index) => index * index),
};

/** Answers the reader's methods from runs in memory, as exactly as the page can tell. */
export function answerFrom(runs: readonly SampleRun[]) {
  const runOf = (file: string): SampleRun => {
    const run = runs.find((one) => one.summary.file === file);
    if (!run) throw new Error(`${file} is not a run file of Toolbreak.`);
    return run;
  };
  const endOf = (run: SampleRun, call: CallRow): number => call.end ?? run.summary.duration;
  return <M extends keyof ReaderMethods>(method: M, params: ReaderMethods[M]['params']): unknown => {
    const ask = params as { file: string; buckets: number; id: string };
    switch (method) {
      case 'runs':
        return { runs: runs.map((run) => run.summary) };
      case 'overview':
        return overview(runOf(ask.file), ask.buckets);
      case 'calls':
      case 'bars': {
        const { from, to, minimum, limit } = params as ReaderMethods['calls']['params'];
        const run = runOf(ask.file);
        const inRange = run.calls.filter((call) => call.start <= to && endOf(run, call) >= from);
        const events = inRange.filter((call) => call.kind === 'event');
        const overlapping = inRange.filter((call) => call.kind !== 'event');
        const length = (call: CallRow): number => endOf(run, call) - call.start;
        // As the reader does: the longest are kept, and told in the order of their starts.
        const kept = overlapping
          .filter((call) => length(call) >= minimum)
          .sort((one, other) => length(other) - length(one));
        const calls = kept.slice(0, limit).sort((one, other) => one.start - other.start);
        const left = overlapping.length - calls.length;
        return method === 'bars' ? { calls: tableOf(calls), events, left } : { calls: [...calls, ...events], left };
      }
      case 'call':
        return detail(runOf(ask.file), ask.id);
      case 'value': {
        const { value, path, start, count } = params as ReaderMethods['value']['params'];
        return { nodes: children(reach(VALUES[value] ?? null, path)).slice(start, start + count) };
      }
      case 'text': {
        const { value, path } = params as ReaderMethods['text']['params'];
        const text = reach(VALUES[value] ?? null, path) as string;
        if (text.length <= 20_000) return { text };
        return { text: `${text.slice(0, 20_000)}…`, all: { count: text.length, of: 'characters' } };
      }
      case 'copy': {
        const { value, path } = params as ReaderMethods['copy']['params'];
        return { text: JSON.stringify(reach(VALUES[value] ?? null, path)) };
      }
      case 'compare': {
        const { before, after, ...part } = params as ReaderMethods['compare']['params'];
        const side = (place: typeof before): Plain | undefined =>
          place && reach(VALUES[place.value] ?? null, place.path);
        return compared(side(before), side(after), part);
      }
      case 'statistics': {
        const { file, from, to, kinds, errors } = params as ReaderMethods['statistics']['params'];
        return statistics(runOf(file), from, to, kinds, errors);
      }
      case 'search': {
        const { file, text, kinds, errors, limit, query } = params as ReaderMethods['search']['params'];
        const found = runOf(file).calls.filter(
          (call) =>
            call.name.toLowerCase().includes(text.toLowerCase()) &&
            (!kinds || kinds.includes(call.kind)) &&
            (!errors || call.state === 'error') &&
            (!query?.status || query.status.includes(call.state)) &&
            call.start >= Number(query?.from ?? 0) &&
            call.start <= Number(query?.to ?? Infinity),
        );
        const events = query === undefined ? found.filter((call) => call.kind === 'event') : [];
        const calls = found.filter((call) => call.kind !== 'event');
        return { calls: calls.slice(0, limit), total: calls.length, events };
      }
      case 'lines': {
        const { file, ids } = params as ReaderMethods['lines']['params'];
        return { lines: ids.map((id) => lineOf(runOf(file).calls.find((call) => call.id === id))) };
      }
      case 'errorNear': {
        const { file, time, direction } = params as ReaderMethods['errorNear']['params'];
        const errors = runOf(file).calls.filter((call) => call.state === 'error');
        return {
          call:
            direction === 'next'
              ? errors.find((call) => call.start > time)
              : errors.findLast((call) => call.start < time),
        };
      }
      case 'density': {
        const { file, from, to, buckets, tasks } = params as ReaderMethods['density']['params'];
        const lanes = tasks.map((task) => {
          const calls = new Array<number>(buckets).fill(0);
          const errors = new Array<number>(buckets).fill(0);
          for (const call of runOf(file).calls) {
            const at = Math.floor(((call.start - from) / (to - from)) * buckets);
            if (call.task !== task || at < 0 || at >= buckets) continue;
            calls[at]!++;
            if (call.state === 'error') errors[at]!++;
          }
          return { task, calls, errors };
        });
        return { lanes };
      }
      default:
        return {};
    }
  };
}

function lineOf(call: CallRow | undefined): CallLine {
  if (call?.name === 'lookup_order') return { arguments: "order_id=7, region='eu'", result: "{'id': 7, 'total': 700}" };
  if (call?.name === 'notify')
    return {
      arguments: `order=${'{...}, '.repeat(40)}`,
      result: "{'sent': True, 'to': ['ann@shop.example', 'bob@shop.example']}",
    };
  if (call?.name !== 'refund') return {};
  return {
    arguments: 'amount=700',
    ...(call.state === 'error' && { error: 'ApprovalNeeded: <b>700</b> needs approval' }),
  };
}

function overview(run: SampleRun, count: number): Overview {
  const end = run.summary.duration;
  const buckets = Array.from({ length: count }, () => ({ calls: 0, errors: 0, held: false }));
  const bucketAt = (time: number): number => Math.min(count - 1, Math.floor((time / end) * count));
  for (const call of run.calls) {
    const start = buckets[bucketAt(call.start)];
    if (start) {
      start.calls++;
      if (call.state === 'error') start.errors++;
    }
    for (const hold of call.holds) {
      for (let at = bucketAt(hold.start); at <= bucketAt(hold.end ?? end); at++) {
        const bucket = buckets[at];
        if (bucket) bucket.held = true;
      }
    }
  }
  return { run: run.summary, lanes: run.lanes, end, buckets };
}

function detail(run: SampleRun, id: string): CallDetail {
  const call = run.calls.find((one) => one.id === id);
  if (!call) throw new Error(`Call ${id} is not in this run.`);
  const path: CallDetail['path'] = [];
  for (let at: CallRow | undefined = call; at; at = run.calls.find((one) => one.id === at?.parent)) {
    path.unshift({ id: at.id, name: at.name, kind: at.kind });
  }
  const failed = call.state === 'error';
  if (call.kind === 'event')
    return {
      call,
      path,
      source: { path: '/desk/order.c', line: 31 },
      attributes: failed ? [{ name: 'registers.rax', value: '<img src=x>' }] : [],
      events: [],
      event: {
        text: `${call.name}\n<script>document.title = 'taken'</script>`,
        stack: [{ function: 'total', path: '/desk/order.c', line: 31 }, { function: '_start' }],
      },
    };
  return {
    call,
    path,
    source: { path: '/app/triage.py', line: 12 },
    input: handle(call.name === 'parse_line' ? 5 : 1),
    inputBefore: call.edited ? handle(6) : undefined,
    output:
      failed || call.end === undefined
        ? undefined
        : handle(call.name === 'score' ? 7 : call.name === 'notify' ? 8 : call.name === 'review' ? 9 : 2),
    error: failed
      ? {
          type: 'ValueError',
          message: 'amount 700 needs approval',
          stack: [
            { path: '/app/triage.py', line: 31, function: 'refund' },
            { path: '/app/rules.py', line: 8, function: 'check_amount' },
          ],
          causes: [
            {
              way: 'context',
              type: 'KeyError',
              message: "'limit'",
              stack: [{ path: '/app/rules.py', line: 6, function: 'limit' }],
            },
            { way: 'cause', type: 'OSError', message: 'no file', stack: [] },
          ],
        }
      : undefined,
    stateBefore: call.kind === 'node' ? handle(3) : undefined,
    stateAfter: call.kind === 'node' ? handle(4) : undefined,
    changes:
      call.kind === 'node'
        ? [
            { change: 'added', path: 'visits[1]', after: "'tools'" },
            { change: 'changed', path: 'verdict', before: "''", after: "'scored'" },
            { change: 'removed', path: 'draft', before: "'dear customer'" },
          ]
        : undefined,
    ...(call.kind === 'node' && { unmerged: ['notes'] }),
    messages:
      call.kind === 'llm'
        ? [
            { role: 'human', text: 'please refund order 7' },
            { role: 'ai', text: '→ lookup_order, check_stock' },
            { role: 'conversation_summary', text: 'an order that is to be refunded' },
          ]
        : undefined,
    attributes: call.kind === 'llm' ? [{ name: 'gen_ai.request.model', value: 'gpt-x' }] : [],
    events: call.holds.map((hold) => ({ time: hold.start, text: 'held before' })),
  };
}

function handle(value: number): ValueHandle {
  return { value, root: nodeOf('', VALUES[value] ?? null) };
}

/** Of every text that is called a reason. */
const CUT = 'cut after 20 characters of 2,400';

/** Parts of the same name beside each other. */
function compared(
  before: Plain | undefined,
  after: Plain | undefined,
  { which, start, count }: { which: string; start: number; count: number },
): ReaderMethods['compare']['result'] {
  const parts = (value: Plain | undefined): Record<string, Plain> =>
    typeof value === 'object' && value !== null ? (value as Record<string, Plain>) : {};
  const [olds, news] = [parts(before), parts(after)];
  const row = (name: string, one: Plain | undefined, other: Plain | undefined): ComparedRow => ({
    change:
      one === undefined
        ? 'added'
        : other === undefined
          ? 'removed'
          : JSON.stringify(one) === JSON.stringify(other)
            ? 'same'
            : 'changed',
    ...(one === undefined ? {} : { before: nodeOf(name, one) }),
    ...(other === undefined ? {} : { after: nodeOf(name, other) }),
    alike: Object.keys(parts(one)).length > 0 && Object.keys(parts(other)).length > 0,
  });
  const rows = [...new Set([...Object.keys(olds), ...Object.keys(news)])].map((name) =>
    row(name, olds[name], news[name]),
  );
  const [equal, different] = [rows.filter((one) => one.change === 'same'), rows.filter((one) => one.change !== 'same')];
  return {
    root: row('', before, after),
    rows: (which === 'equal' ? equal : different).slice(start, start + count),
    different: different.length,
    equal: equal.length,
    ...(different.length === 0 && JSON.stringify([before, after]).includes('"reason":') && { unrecorded: CUT }),
    ...(different.length === 0 &&
      Object.keys(olds).join() !== Object.keys(news).join() && { reordered: true as const }),
  };
}

function statistics(run: SampleRun, from: number, to: number, kinds?: string[], errors = false): Statistics {
  const calls = run.calls.filter(
    (call) =>
      call.start <= to &&
      (call.end ?? run.summary.duration) >= from &&
      (kinds === undefined || kinds.includes(call.kind)) &&
      (!errors || call.state === 'error'),
  );
  const times = calls.flatMap((call) => (call.end === undefined ? [] : [call.end - call.start])).sort((a, b) => a - b);
  const within = (share: number): number | undefined => times[Math.max(0, Math.ceil(times.length * share) - 1)];
  return {
    calls: calls.length,
    errors: calls.filter((call) => call.state === 'error').length,
    total: times.reduce((sum, time) => sum + time, 0),
    p50: within(0.5),
    p95: within(0.95),
    tokens: calls.filter((call) => call.kind === 'llm').length * 1560,
    kinds: [...new Set(calls.map(({ kind }) => kind))].map((kind) => {
      const own = calls.filter((call) => call.kind === kind);
      return { kind, calls: own.length, total: own.reduce((sum, { start, end = start }) => sum + end - start, 0) };
    }),
    sampled: false,
  };
}

function reach(value: Plain, path: readonly string[]): Plain {
  let at: Plain = value;
  for (const step of path)
    at = typeof at === 'object' && at !== null ? ((at as Record<string, Plain>)[step] ?? null) : null;
  return at;
}

function children(value: Plain): ValueNode[] {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).map(([name, child]) => nodeOf(name, child))
    : [];
}

function nodeOf(name: string, value: Plain): ValueNode {
  if (value === null) return { name, text: 'None', type: 'NoneType', children: 0 };
  if (typeof value === 'boolean') return { name, text: value ? 'True' : 'False', type: 'bool', children: 0 };
  if (typeof value === 'number') return { name, text: String(value), type: 'int', children: 0 };
  if (typeof value === 'string') {
    const mark = name === 'reason' ? CUT : undefined;
    const line = value.replace(/\n/g, '\\n');
    const text =
      line.length <= 200 ? `'${line}'` : `'${line.slice(0, 140)}…${line.slice(-59)}' (${value.length} characters)`;
    const long = line.length > 60 || line !== value ? { long: true as const } : {};
    return { name, text, type: 'str', children: 0, ...long, mark };
  }
  const type = Array.isArray(value) ? 'list' : 'dict';
  const count = Object.keys(value).length;
  return { name, text: `${type} (${count})`, type, children: count };
}

/** Rows as the reader tells them for the lanes. */
export function tableOf(calls: readonly CallRow[]): CallTable {
  const functions = [...new Map(calls.map(({ kind, name }) => [`${kind} ${name}`, [kind, name] as [string, string]]))];
  const states = [...new Set(calls.map(({ state }) => state))];
  return {
    functions: functions.map(([, each]) => each),
    function: calls.map(({ kind, name }) => functions.findIndex(([key]) => key === `${kind} ${name}`)),
    id: calls.map(({ id }) => id),
    parent: calls.map(({ parent }) => parent ?? ''),
    task: calls.map(({ task }) => task),
    depth: calls.map(({ depth }) => depth),
    start: calls.map(({ start }, index) => start - (calls[index - 1]?.start ?? 0)),
    duration: calls.map(({ start, end }) => (end === undefined ? -1 : end - start)),
    state: calls.map(({ state }) => states.indexOf(state)),
    states,
    held: Object.fromEntries(calls.map(({ holds, edited }, index) => [index, { holds, edited }])),
  };
}
