/**
 * Rows 2 and 4: one small function, called often, in turns of the event loop with 100 calls each; its variants take turns, too. Prints processor time
 * in nanoseconds a call. Arguments: "quiet" or "recorded", calls of a round, and a folder to record into.
 */
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { context, trace } from '@opentelemetry/api';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { record, wrap } from '../../runtimes/node/index.mjs';

const [, , mode = 'quiet', calls = '100000', folder] = process.argv;
const ROUNDS = 9;
const TURN = 100;
const records = mode === 'recorded';

if (records) {
  record(folder);
  const exporter = { export: (_, done) => done({ code: 0 }), shutdown: async () => {}, forceFlush: async () => {} };
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }));
}
const tracer = trace.getTracer('bench');

function work(number, text) {
  return { number, text };
}
async function workLater(number, text) {
  return { number, text };
}

/** What a person writes to have arguments and result in the trace. */
function traced(number, text) {
  return tracer.startActiveSpan('work', (span) => {
    span.setAttribute('number', number);
    span.setAttribute('text', text);
    const result = work(number, text);
    span.setAttribute('result', JSON.stringify(result));
    span.end();
    return result;
  });
}
function tracedLater(number, text) {
  return tracer.startActiveSpan('work', async (span) => {
    span.setAttribute('number', number);
    span.setAttribute('text', text);
    const result = await workLater(number, text);
    span.setAttribute('result', JSON.stringify(result));
    span.end();
    return result;
  });
}
/** Without an SDK there is nothing to tell, only the call to go through. */
const opened = (number, text) =>
  tracer.startActiveSpan('work', (span) => {
    const result = work(number, text);
    span.end();
    return result;
  });
const openedLater = (number, text) =>
  tracer.startActiveSpan('work', async (span) => {
    const result = await workLater(number, text);
    span.end();
    return result;
  });

/** The least that a function in front of another can cost. */
const passing = (f) =>
  function pass() {
    return Reflect.apply(f, this, arguments);
  };

/**
 * Loops of their own, so that none is spoilt by what another called. What a call gives is kept: else a call that is compiled into the loop would not
 * even make its result.
 */
const loop = () => new Function('f', 'n', 'for (let i = 0; i < n; i++) globalThis.kept = f(i, "abc");');
const loopLater = () =>
  new Function(
    'f',
    'n',
    'return (async () => { for (let i = 0; i < n; i++) globalThis.kept = await f(i, "abc"); })();',
  );

const variants = [
  ['bare', loop(), work],
  ['passed on', loop(), passing(work)],
  ['toolbreak', loop(), wrap(work)],
  ['opentelemetry', loop(), records ? traced : opened],
  ['bare later', loopLater(), workLater],
  ['passed on later', loopLater(), passing(workLater)],
  ['toolbreak later', loopLater(), wrap(workLater)],
  ['opentelemetry later', loopLater(), records ? tracedLater : openedLater],
].map(([name, run, f]) => ({ name, run, f, times: [] }));

const number = Number(calls);
for (let round = 0; round <= ROUNDS; round++) {
  for (const { run, f, times } of variants) {
    const before = process.cpuUsage();
    for (let done = 0; done < number; done += TURN) {
      await new Promise((next) => setImmediate(next));
      await run(f, TURN);
    }
    const { user, system } = process.cpuUsage(before);
    if (round > 0) times.push(((user + system) * 1000) / number);
  }
}
if (globalThis.kept?.number !== TURN - 1) throw new Error('The calls gave nothing.');
for (const { name, times } of variants) {
  const value = times.sort((one, other) => one - other)[Math.floor(times.length / 2)];
  console.log(JSON.stringify({ figure: name, value }));
}
