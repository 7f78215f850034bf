/**
 * Runs the same suite in the desktop VS Code, which is downloaded unless TOOLBREAK_VSCODE names an executable. The workspace is a copy.
 *
 *   tsx test/extension/electron.ts [grep]
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTests } from '@vscode/test-electron';
import { DEMO, fixturePython, report, ROOT } from '../workbench/workbench';
import { QUIET_SETTINGS } from '../../build/workbench.mjs';

async function main(): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'toolbreak-electron-')));
  const folder = join(home, 'workspace');
  const result = join(home, 'result.json');
  try {
    cpSync(DEMO, folder, { recursive: true });
    const settings = join(home, 'user', 'User');
    mkdirSync(settings, { recursive: true });
    writeFileSync(
      join(settings, 'settings.json'),
      JSON.stringify({
        ...QUIET_SETTINGS,
        'toolbreak.python': fixturePython(),
        'toolbreak.timeline.openOnSession': 'never',
        'toolbreak.timeline.notifyAfterRun': false,
      }),
    );
    const code = await runTests({
      vscodeExecutablePath: process.env.TOOLBREAK_VSCODE,
      extensionDevelopmentPath: ROOT,
      extensionTestsPath: join(ROOT, 'dist', 'test', 'extension.js'),
      extensionTestsEnv: {
        TOOLBREAK_RESULT: result,
        TOOLBREAK_GREP: process.argv[2] ?? '',
        XDG_STATE_HOME: join(home, 'state'),
      },
      launchArgs: [folder, '--user-data-dir', join(home, 'user'), '--disable-workspace-trust', '--disable-extensions'],
    });
    const outcome = existsSync(result)
      ? (JSON.parse(readFileSync(result, 'utf8')) as { passes: number; failures: number })
      : { passes: 0, failures: 1 };
    report(outcome.passes, Math.max(outcome.failures, code === 0 ? 0 : 1));
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

void main();
