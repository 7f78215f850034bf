import { bare, beginBare, beginUnder, percentile, start, under, underDebugpy, type Figures } from './session';
import { inTurns, type Begin } from './turns';

/** One line of the table. `reference` and `ours` are in the same unit. */
export interface Row {
  row: string;
  what: string;
  unit: string;
  reference?: { name: string; value: number };
  ours: number;
  /** What is to be reached, in words. */
  goal: string;
}

const CALLS = '200000';
const value = (figures: Figures, name: string): number => {
  const found = figures.get(name);
  if (found === undefined) throw new Error(`No figure "${name}" was measured.`);
  return found;
};
const nothingRecorded = { record: false };

/** Rows 1 and 7: a call that does not stop. */
export async function quietCalls(): Promise<Row[]> {
  const base = value(await bare('calls.py', ['x', CALLS]), 'x');
  const detached = value(await under('calls.py', { args: ['x', CALLS] }), 'x');
  const checked = value(
    await under('calls.py', {
      args: ['x', CALLS],
      launch: nothingRecorded,
      breakpoint: { marker: 'work', hitCondition: '>1000000000' },
    }),
    'x',
  );
  const conditional = value(
    await under('calls.py', {
      args: ['x', CALLS],
      launch: nothingRecorded,
      breakpoint: { marker: 'work', condition: 'number < 0' },
    }),
    'x',
  );
  const quiet = value(await bare('quiet.py', ['x', CALLS]), 'x');
  const openTelemetry = value(await bare('opentelemetry_api_calls.py', ['x', CALLS]), 'x');
  const reference = { name: 'OpenTelemetry API without SDK', value: openTelemetry - base };
  return [
    {
      row: '1',
      what: 'call of a function that is not touched, added',
      unit: 'ns',
      reference,
      ours: detached - base,
      goal: '0',
    },
    {
      row: '1',
      what: 'call of a touched function, nothing armed, added',
      unit: 'ns',
      reference,
      ours: quiet - base,
      goal: '10',
    },
    { row: '7', what: 'breakpoint check, added', unit: 'ns', ours: checked - base, goal: '100' },
    { row: '7', what: 'breakpoint check with a condition, added', unit: 'ns', ours: conditional - base, goal: '300' },
  ];
}

/** Row 3: a recorded call. */
export async function recordedCalls(): Promise<Row[]> {
  const base = value(await bare('calls.py', ['x', '100000']), 'x');
  const otel = value(await bare('opentelemetry_calls.py', ['x', '20000']), 'x');
  const ours = value(
    await under('calls.py', { args: ['x', '100000'], launch: { record: { functions: ['@usercode'] } } }),
    'x',
  );
  const reference = { name: 'OpenTelemetry SDK, batch processor', value: (otel - base) / 1000 };
  return [{ row: '3', what: 'recorded call, added', unit: 'us', reference, ours: (ours - base) / 1000, goal: '2' }];
}

/** The same program is 3 % quicker or slower in the next process: many of them, each for a short time, tell more than a few for long. */
const ROUNDS = 15;
const SAVERS = 3;

/** Row 5: a LangGraph node step. */
export async function nodeSteps(): Promise<Row[]> {
  const program = 'langgraph_steps.py';
  const rows: Row[] = [];
  const silent: number[] = [];
  for (const [shape, what, goal] of [
    ['documents', '20 KB of plain state, 40 documents', '1.05x of bare'],
    ['plain', '20 KB of plain state, 2,000 numbers', '1.05x of bare'],
    ['messages', '20 KB of messages', '1.2x of bare'],
    ['growing', 'a message more at each of 100 steps', ''],
    ['none', 'a state of two numbers', ''],
  ] as const) {
    const args = (port: number): string[] => [String(port), '100', shape];
    const plain: Begin = (port) => beginBare(program, args(port));
    const saved: Begin = (port) => beginBare(program, [...args(port), 'saver']);
    const recorded: Begin = (port) => beginUnder(program, { args: args(port) });
    const unrecorded: Begin = (port) => beginUnder(program, { args: args(port), launch: nothingRecorded });
    const savers: number[] = [];
    const ours: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const found = await inTurns({
        plain,
        recorded,
        ...(shape === 'none' && { unrecorded }),
        ...(round < SAVERS && { saved }),
      });
      ours.push(value(found, 'recorded'));
      if (shape === 'none') silent.push(value(found, 'unrecorded'));
      if (round < SAVERS) savers.push(value(found, 'saved'));
    }
    rows.push({
      row: '5',
      what: `LangGraph step, ${what} recorded, processor time of the app`,
      unit: 'x of bare',
      reference: { name: 'InMemorySaver', value: percentile(savers, 0.5) },
      ours: percentile(ours, 0.5),
      goal,
    });
  }
  const ours = percentile(silent, 0.5);
  rows.push({
    row: '5',
    what: 'LangGraph step, nothing recorded, processor time of the app',
    unit: 'x of bare',
    ours,
    goal: '',
  });
  return rows;
}

/** Row 12: a tool gets a large value; what is recorded of it is bounded and marked. */
export async function largeValues(): Promise<Row[]> {
  const base = await bare('large_values.py', ['x']);
  const ours = await under('large_values.py', { args: ['x'], launch: { record: { functions: ['@usercode'] } } });
  const added = (what: string): number => (value(ours, `x ${what}`) - value(base, `x ${what}`)) / 1e6;
  const reference = { name: 'json.dumps', value: value(base, 'x json') / 1e6 };
  const row = (what: string, unit: string, figure: number, goal: string, beside?: Row['reference']): Row => ({
    ...{ row: '12', what, unit, ours: figure, goal },
    ...(beside && { reference: beside }),
  });
  return [
    row('call with a dict of 1 MB, added', 'ms', added('dict'), '2', reference),
    row('the same dict again, added', 'us', added('dict again') * 1000, '5'),
    row('call with 100 MB of bytes, added', 'us', added('bytes') * 1000, '50'),
    row('call with 100 KB of JSON text, added', 'ms', added('text'), '', {
      name: 'json.dumps',
      value: value(base, 'x text json') / 1e6,
    }),
  ];
}

/** Row 6: code that nobody asked about. */
export async function otherCode(): Promise<Row[]> {
  const base = await bare('other.py', ['x']);
  const armed = await under('other.py', { args: ['x'], breakpoint: { marker: 'armed' } });
  const debugpy = await underDebugpy('other.py', ['x'], 'armed');
  return ['call', 'recursion', 'loop'].map((kind) => ({
    row: '6',
    what: `other code while armed: ${kind}`,
    unit: 'x of bare',
    reference: { name: 'debugpy', value: value(debugpy, `x ${kind}`) / value(base, `x ${kind}`) },
    ours: value(armed, `x ${kind}`) / value(base, `x ${kind}`),
    goal: '1.00x',
  }));
}

/** Row 8: pause of a busy app, seen by the client. */
export async function pauses(): Promise<Row[]> {
  const { client, end } = await start('holds.py', { args: ['busy'], launch: { record: { functions: ['@usercode'] } } });
  try {
    const times: number[] = [];
    for (let round = 0; round < 200; round += 1) {
      const { threads } = await client.request('threads', {});
      const begin = performance.now();
      await client.request('pause', { threadId: threads[0]?.id ?? 1 });
      const { threadId } = await client.waitFor('stopped');
      times.push(performance.now() - begin);
      await client.request('continue', { threadId: threadId ?? 1 });
    }
    return [
      {
        row: '8',
        what: 'pause request to stopped event, client to client, p50',
        unit: 'ms',
        ours: percentile(times, 0.5),
        goal: '0.1 in the app',
      },
      {
        row: '8',
        what: 'pause request to stopped event, client to client, p99',
        unit: 'ms',
        ours: percentile(times, 0.99),
        goal: '1 in the app',
      },
    ];
  } finally {
    await client.request('disconnect', { terminateDebuggee: true });
    await end();
  }
}

/** Row 9: continue to the next stop, seen by the client. */
export async function holds(): Promise<Row[]> {
  const { client, end } = await start('holds.py', { args: ['stops'], breakpoint: { marker: 'tick' } });
  try {
    let { threadId } = await client.waitFor('stopped');
    const times: number[] = [];
    for (let round = 0; round < 300; round += 1) {
      const begin = performance.now();
      await client.request('continue', { threadId: threadId ?? 1 });
      ({ threadId } = await client.waitFor('stopped'));
      times.push(performance.now() - begin);
    }
    return [
      {
        row: '9',
        what: 'continue to the next stop, client to client, p50',
        unit: 'ms',
        ours: percentile(times, 0.5),
        goal: '0.5',
      },
    ];
  } finally {
    await client.request('disconnect', { terminateDebuggee: true });
    await end();
  }
}
