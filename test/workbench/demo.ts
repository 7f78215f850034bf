/**
 * What `npm start` leaves behind when it is told to end: nothing. The signal comes as a terminal sends it, to the whole process group, and
 * more than once, as launchers pass it on.
 *
 *   tsx test/workbench/demo.ts
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive, until } from './processes';
import { report, ROOT } from './workbench';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Starts the demo in this folder for temporary files, and ends it when `ready` says so. */
async function endedBy(signal: NodeJS.Signals, temporary: string, ready: (said: string) => boolean): Promise<void> {
  const child = spawn(process.execPath, [join(ROOT, 'build', 'demo.mjs')], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  try {
    await until('the demo is there', () => child.exitCode !== null || ready(said), 60_000);
    const left = readdirSync(temporary).filter((name) => name.startsWith('toolbreak-demo-'));
    assert.equal(left.length, 1, `one folder while it runs: ${said}`);
    process.kill(-child.pid!, signal);
    // And again and again, whatever it is just doing.
    await until('the demo ends', () => child.exitCode !== null || child.signalCode !== null || !child.kill(signal));
    const [code, by] = await closed;
    // The last of the signals may meet a process that is through with everything.
    assert.ok(code === 0 || by === signal, `ended with ${code ?? by}`);
    assert.deepEqual(
      readdirSync(temporary).filter((name) => name.startsWith('toolbreak-demo-')),
      [],
    );
    const port = /127\.0\.0\.1:(\d+)/.exec(said)?.[1];
    if (port !== undefined) await assert.rejects(fetch(`http://127.0.0.1:${port}/healthz`), 'its server is gone');
  } finally {
    if (isAlive(child.pid!)) process.kill(-child.pid!, 'SIGKILL');
  }
}

async function main(): Promise<void> {
  let passed = 0;
  let failed = 0;
  const test = async (title: string, run: (temporary: string) => Promise<void>): Promise<void> => {
    const temporary = mkdtempSync(join(tmpdir(), 'toolbreak-end-'));
    try {
      await run(temporary);
      passed += 1;
      console.log(`  ok ${title}`);
    } catch (error) {
      failed += 1;
      console.log(`  FAILED ${title}\n    ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    } finally {
      rmSync(temporary, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    }
  };
  for (const signal of SIGNALS)
    await test(`${signal} to the group leaves nothing behind`, (temporary) =>
      endedBy(signal, temporary, (said) => said.includes('Ctrl-C ends it')));
  await test('nor does one that comes while the workbench starts', (temporary) =>
    endedBy('SIGINT', temporary, () => readdirSync(temporary).some((name) => name.startsWith('toolbreak-demo-'))));
  report(passed, failed);
}

void main();
