/**
 * The packaged extension on a workspace outside this repository, without a launch.json: installs, the run button debugs the open
 * file, and F5 starts what the snippet makes.
 *
 *   tsx test/workbench/vsix.ts [file.vsix]
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, copyFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install } from '../../build/workbench.mjs';
import { Pane } from './pane';
import { insertSnippet } from './snippet';
import { DEMO, open, report, restored, ROOT, Steps } from './workbench';

function vsixPath(): string {
  if (process.argv[2] !== undefined) return process.argv[2];
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const command = [join(ROOT, 'build', 'package.mjs'), '--unsearched'];
  const { status } = spawnSync(process.execPath, command, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error('The vsix could not be made.');
  return join(ROOT, `toolbreak-${version}-unsearched.vsix`);
}

function installVsix(home: string, vsix: string): void {
  const { node, entry } = install();
  mkdirSync(join(home, 'extensions'), { recursive: true });
  const args = [
    entry,
    '--user-data-dir',
    join(home, 'user'),
    '--extensions-dir',
    join(home, 'extensions'),
    '--install-extension',
    vsix,
  ];
  const env = { ...process.env, XDG_CONFIG_HOME: join(home, 'config'), XDG_DATA_HOME: join(home, 'data') };
  const done = spawnSync(node, args, { env, encoding: 'utf8' });
  if (done.status !== 0 || !/successfully installed/.test(done.stdout)) {
    throw new Error(`The vsix does not install:\n${done.stdout}${done.stderr}`);
  }
}

async function main(): Promise<void> {
  const workspace = mkdtempSync(join(tmpdir(), 'toolbreak-elsewhere-'));
  copyFileSync(join(DEMO, 'triage.py'), join(workspace, 'triage.py'));
  const vsix = vsixPath();
  const opened = await open({ workspace, installed: (home) => installVsix(home, vsix) });
  const { page } = opened;
  const pane = new Pane(page);
  const test = new Steps('vsix', opened);
  page.setDefaultTimeout(30_000);
  try {
    await restored(page);
    await test.step('the run button debugs the open file', async () => {
      await pane.openFile('triage.py');
      await pane.breakpoint('def lookup_order');
      await pane.start(() => page.locator('.editor-actions .codicon-debug-alt').first().click());
      await pane.stopped();
      await pane.waitForFrame('lookup_order(');
      await test.picture('1-stopped');
    });
    await test.step('and ends', async () => {
      await pane.go('F5');
      await pane.ended();
    });
    await test.step("F5 starts the snippet's launch.json", async () => {
      await insertSnippet({ opened, page, pane, test }, 'triage.py');
      await pane.start();
      await pane.stopped();
      await pane.waitForFrame('lookup_order(');
      await test.picture('2-snippet');
      await pane.go('F5');
      await pane.ended();
    });
  } finally {
    await opened.close();
    rmSync(workspace, { recursive: true, force: true });
  }
  report(test.passed, test.failed);
}

void main();
