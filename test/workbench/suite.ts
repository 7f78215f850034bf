/**
 * Runs the extension's mocha suite inside a browser workbench.
 *
 *   tsx test/workbench/suite.ts [grep]
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format } from 'node:util';
import { DEMO, EXTENSION, open, report, restored } from './workbench';

const LIMIT = 300_000;
/** What the workbench says about itself. */
const NOISE = /^(Resolv|Creating a socket|Updating additional|getaddrinfo|\[[A-Za-z])/;

async function main(): Promise<void> {
  const results = mkdtempSync(join(tmpdir(), 'toolbreak-suite-'));
  const result = join(results, 'result.json');
  let exit: (why: number | string) => void = () => undefined;
  const exited = new Promise<number | string>((resolve) => (exit = resolve));
  const timer = setTimeout(() => exit('no answer within five minutes'), LIMIT);
  const opened = await open({
    workspace: DEMO,
    tests: join(EXTENSION, 'dist', 'test', 'extension.js'),
    environment: { TOOLBREAK_RESULT: result, TOOLBREAK_GREP: process.argv[2] ?? '' },
    settings: { 'toolbreak.timeline.openOnSession': 'never', 'toolbreak.timeline.notifyAfterRun': false },
    beforeLoad: async (page) => {
      await page.exposeFunction('codeAutomationLog', (_type: string, args: unknown[]) => {
        const text = format(...args);
        if (!NOISE.test(text)) console.log(text);
      });
      await page.exposeFunction('codeAutomationExit', (code: number) => exit(code));
    },
  });
  let code: number | string | undefined;
  try {
    await restored(opened.page);
    code = await exited;
  } finally {
    clearTimeout(timer);
    if (code !== 0) opened.keepLogs('suite-failed');
    await opened.close();
  }
  // A crashed extension host reports success: only the suite's own result counts.
  const outcome = existsSync(result)
    ? (JSON.parse(readFileSync(result, 'utf8')) as { passes: number; failures: number })
    : { passes: 0, failures: 1 };
  rmSync(results, { recursive: true, force: true });
  if (code !== 0) console.log(`The extension host ended with: ${code}.`);
  report(outcome.passes, Math.max(outcome.failures, code === 0 ? 0 : 1));
}

void main();
