/** The suite that runs inside the extension host; two launchers start it (see README.md). */
import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', timeout: 60_000, slow: 10_000, color: false, grep: process.env.TOOLBREAK_GREP });
  mocha.suite.emit('pre-require', globalThis, 'suite', mocha);
  await import('./manifest.test');
  await import('./breakpoints.test');
  await import('./configuration.test');
  await import('./session.test');
  await import('./timeline.test');

  await new Promise<void>((resolve, reject) => {
    const runner = mocha.run((failures) => {
      const { passes = 0, pending = 0 } = runner.stats ?? {};
      const file = process.env.TOOLBREAK_RESULT;
      if (file !== undefined) writeFileSync(file, JSON.stringify({ passes, failures, pending }));
      if (failures > 0) reject(new Error(`${failures} tests failed`));
      else resolve();
    });
  });
}
