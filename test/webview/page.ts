/**
 * Drives the built timeline page in a real browser: `tsx test/webview/page.ts`, with a part of a test's name to run only that. Screenshots go to
 * artifacts/timeline, the counts to the file named by RESULT. CHROMIUM names the browser.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { BrowserHouse } from './browser';
import { PICTURES, tests } from './harness';
import './page-basics';
import './page-events';
import './page-panel';
import './page-runs';
import './page-compare';
import './page-live';
import './page-scale';
import './page-readers';

async function main(): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  const only = process.argv[2];
  const house = await BrowserHouse.open();
  let passed = 0;
  let failed = 0;
  let current = 'before the first test';
  const fail = (error: unknown): void => {
    failed++;
    console.log(`  FAILED ${current}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  };
  // What nobody awaited is the failure of the test that runs, not the end of all the others.
  process.on('unhandledRejection', fail);
  try {
    for (const [name, body] of tests) {
      if (only !== undefined && !name.includes(only)) continue;
      current = name;
      const before = failed;
      await body(house).catch(fail);
      if (failed > before) continue;
      passed++;
      console.log(`  ok ${name}`);
    }
  } finally {
    await house.close();
  }
  console.log(`${passed} passed, ${failed} failed`);
  if (process.env.RESULT) writeFileSync(process.env.RESULT, JSON.stringify({ passed, failed, skipped: 0 }));
  process.exitCode = failed > 0 ? 1 : 0;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
