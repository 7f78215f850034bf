// `npm test`: sets up what is missing, runs every suite, ends with `N passed, N failed`.
// `npm test -- unit` runs one suite by name (several may be given), its output as it comes; `--list` names them.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { compiledCode, interrupted } from './run.mjs';
import { allOf, setUpBrowser, setUpNative, setUpNode, setUpPython } from './setup.mjs';
import { artifacts, early, suites } from './suites.mjs';

const named = process.argv.slice(2).filter((each) => !each.startsWith('-'));
/** Suites of what is bundled, which may be missing or old. */
const BUNDLED = /^(dap|commands|native|driven|workbench|demo)/;
const asked = named.some((each) => BUNDLED.test(each)) ? [...new Set(['bundle', ...named])] : named;
const BROWSER = /^(page|workbench|driven|vsix)/;

const names = ({ first, lanes, either, last }) => Object.assign({}, first, ...early, ...lanes, either, last);
if (process.argv.includes('--list')) {
  // The suites of a machine with every Python.
  console.log(Object.keys(names(suites(['3.11', '3.12', '3.13', '3.10', 'langgraph-0.6']))).join('\n'));
  process.exit(0);
}
await setUpNode();
const isAsked = (pattern) => asked.length === 0 || asked.some((each) => pattern.test(each));

/** Makes the rest ready, side by side, since most of it waits for the network; answers the suites. */
async function setUp() {
  const [pythons, browser, native] = await allOf([
    setUpPython({ all: isAsked(/^runtime-/) }),
    isAsked(BROWSER) ? setUpBrowser() : undefined,
    isAsked(/^(native|driven)/) ? setUpNative({ gdb: true }) : {},
  ]);
  return suites(pythons, browser, native);
}

mkdirSync(artifacts, { recursive: true });
// What was kept of older code is of no use.
rmSync(compiledCode, { recursive: true, force: true });

const rows = [];
/** Runs one suite. With a log its output is shown in one piece at the end, since suites run side by side. */
async function runSuite(name, suite, log) {
  if (interrupted.yes) return;
  if (log) rmSync(log, { force: true });
  else console.log(`\n=== ${name}`);
  const start = Date.now();
  const result = await suite(log).catch((error) => {
    console.log(error.message);
    return { passed: 0, failed: 1 };
  });
  const text = log ? readFileSync(log, { encoding: 'utf8', flag: 'a+' }) : '';
  // The browser's suites say it in their output only.
  if (result.failed) result.failures ??= [...text.matchAll(/^\s*FAILED (.*\n.*)$/gm)].map(([, said]) => said);
  // A suite that died before it could report: its first error, and what it said last.
  if (result.failed && result.failures.length === 0 && text) {
    const error = /^.*\bError\b.*$/m.exec(text)?.[0] ?? '';
    result.failures = [`${error} ... ${text.trim().split('\n').slice(-3).join(' ')}`];
  }
  rows.push({ name, ...result, seconds: ((Date.now() - start) / 1000).toFixed(1) });
  if (log) console.log(`\n=== ${name}\n${text}`);
}

const runLane = async (lane) => {
  for (const [name, suite] of Object.entries(lane)) await runSuite(name, suite, join(artifacts, `${name}.log`));
};

async function runAsked() {
  const all = names(await setUp());
  const unknown = asked.filter((each) => !all[each]);
  if (unknown.length > 0) {
    console.error(`No suite is called ${unknown.join(', ')}. Suites: ${Object.keys(all).join(', ')}.`);
    process.exit(2);
  }
  for (const name of asked) await runSuite(name, all[name]);
}

async function runAll() {
  const ready = setUp().then(async (parts) => {
    if (parts.lanes.length !== early.length) throw new Error('Each lane has a beginning in `early`.');
    await runLane(parts.first);
    return { ...parts, busy: parts.lanes.length, left: Object.entries(parts.either) };
  });
  const lanes = early.map(async (lane, at) => {
    await runLane(lane);
    const state = await ready;
    await runLane(state.lanes[at]);
    state.busy -= 1;
    if (state.busy === 0) state.left.unshift(...Object.entries(state.last));
    while (state.left.length > 0) await runLane(Object.fromEntries([state.left.shift()]));
  });
  // Where something cannot be made ready, what began goes on to its end.
  await Promise.allSettled([...lanes, ready.catch(notReady)]);
}

function notReady(error) {
  console.error(error.message);
  rows.push({ name: 'setup', passed: 0, failed: 1, failures: [error.message], seconds: '0.0' });
}

await (asked.length > 0 ? runAsked().catch(notReady) : runAll());

console.log('');
// Of a long output often only a part is kept: what failed stands at the end, each with its tests.
for (const row of [...rows.filter((each) => !each.failed), ...rows.filter((each) => each.failed)]) {
  const skipped = row.skipped ? `, ${row.skipped} skipped` : '';
  const counts = `${row.passed} passed, ${row.failed} failed${skipped}`;
  console.log(`${row.failed ? 'FAILED' : 'ok    '} ${row.name.padEnd(22)} ${counts}  ${row.seconds} s`);
  for (const each of (row.failures ?? []).slice(0, 10))
    console.log(`FAILED ${row.name}: ${each.replace(/\s+/g, ' ').slice(0, 400)}`);
}
const sum = (key) => rows.reduce((total, row) => total + (row[key] ?? 0), 0);
if (interrupted.yes) console.log('Interrupted.');
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
process.exitCode = interrupted.yes || sum('failed') > 0 ? 1 : 0;
