// `npm start`: sets up what is missing and opens the demo workspace, with Toolbreak in it, in VS Code or, where that is not installed, in a
// browser workbench on loopback behind a random password.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundle, environment, nodeBinary, pythonIn, root, setUpCompiler, setUpNode, setUpPython } from './setup.mjs';

const windows = process.platform === 'win32';
const demo = join(root, 'fixtures/workspaces/demo');
const WHAT_TO_DO = `
  1. Open triage.py and click left of the line "def lookup_order": a red dot appears.
  2. Press F5 ("Support agent" is selected). The run stops at the tool call.
  3. In Variables, open Arguments, double-click order_id, type 70, press Enter. F5 goes on.`;

/** The extension looks for `.venv` in the workspace; there the demo finds LangGraph. */
function linkEnvironment(name) {
  const link = join(demo, '.venv');
  const target = dirname(dirname(pythonIn(name)));
  if (lstatSync(link, { throwIfNoEntry: false })) rmSync(link, { recursive: true, force: true });
  symlinkSync(target, link, windows ? 'junction' : 'dir');
}

const hasCode = () => spawnSync(windows ? 'where' : 'which', ['code']).status === 0;

function openInVSCode() {
  console.log(`Opening the demo workspace in VS Code.\n${WHAT_TO_DO}`);
  const code = spawn('code', ['--new-window', `--extensionDevelopmentPath=${root}`, demo, join(demo, 'triage.py')], {
    stdio: 'inherit',
    shell: windows,
  });
  code.once('error', (error) => {
    console.error(`VS Code did not start: ${error.message}`);
    process.exitCode = 1;
  });
}

async function openInBrowser() {
  if (!(await setUpCompiler()))
    throw new Error('The browser workbench needs g++ and make once. Install them, or install VS Code.');
  const { install, pageAddress, start } = await import('./workbench.mjs');
  const workbench = install();
  const home = mkdtempSync(join(tmpdir(), 'toolbreak-demo-'));
  const server = await start({ workbench, home, settings: { 'security.workspace.trust.enabled': false } });
  console.log(`
VS Code is not installed here, so the demo runs in a browser. Open

  ${pageAddress({ ...server, folder: demo, extension: root })}

and give the password

  ${server.password}
${WHAT_TO_DO}

Ctrl-C ends it.`);
  const end = () => {
    void server.stop().then(() => {
      rmSync(home, { recursive: true, force: true });
      process.exit(0);
    });
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, end);
}

try {
  await setUpNode();
  if (process.execPath !== nodeBinary() && !process.env.TOOLBREAK_START) {
    // From here on under the Node of this project.
    const child = spawn(nodeBinary(), process.argv.slice(1), {
      env: environment({ TOOLBREAK_START: '1' }),
      stdio: 'inherit',
    });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    child.once('exit', (code) => process.exit(code ?? 1));
  } else {
    const [name] = await setUpPython({ all: false });
    linkEnvironment(name);
    if (!existsSync(join(root, 'dist'))) console.log('setup: bundling');
    await bundle();
    if (hasCode()) openInVSCode();
    else await openInBrowser();
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
