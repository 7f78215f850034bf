import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Row } from './rows';
import { app, figuresIn } from './session';

/** Runs the program whose variants take turns in one process; answers what a variant adds to the bare call, in nanoseconds. */
async function added(mode: 'quiet' | 'recorded', calls: number, folder: string): Promise<(variant: string) => number> {
  const { stdout } = await promisify(execFile)(process.execPath, [app('node_calls.mjs'), mode, String(calls), folder]);
  const figures = figuresIn(stdout);
  return (variant) => {
    const bare = variant.endsWith(' later') ? 'bare later' : 'bare';
    const [value, base] = [figures.get(variant), figures.get(bare)];
    if (value === undefined || base === undefined) throw new Error(`No figure "${variant}" was measured.`);
    return value - base;
  };
}

const KINDS = [
  ['', ''],
  [' later', ' of an async function'],
] as const;

/** Row 2: a wrapped function in Node while nothing records. */
export async function quietNodeCalls(): Promise<Row[]> {
  const figure = await added('quiet', 1_000_000, tmpdir());
  return KINDS.map(([suffix, words]) => ({
    row: '2',
    what: `call in Node${words}, wrapped and quiet, added`,
    unit: 'ns',
    reference: { name: 'OpenTelemetry API without SDK', value: figure(`opentelemetry${suffix}`) },
    ours: figure(`toolbreak${suffix}`),
    goal: `10; a function that only passes its arguments on: ${figure(`passed on${suffix}`).toPrecision(3)}`,
  }));
}

/** Row 4: a recorded call in Node. */
export async function recordedNodeCalls(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'toolbreak-bench-'));
  try {
    const figure = await added('recorded', 100_000, folder);
    return KINDS.map(([suffix, words]) => ({
      row: '4',
      what: `recorded call in Node${words}, added`,
      unit: 'us',
      reference: { name: 'OpenTelemetry SDK, batch processor', value: figure(`opentelemetry${suffix}`) / 1000 },
      ours: figure(`toolbreak${suffix}`) / 1000,
      goal: '1.3',
    }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
