// `npm start`: sets up what is missing and opens the demo workspace, with Toolbreak in it, in VS Code or, where that is not installed, in a
// browser workbench on loopback behind a random password.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { demo, serveDemo, WHAT_TO_DO } from './demo.mjs';
import { bundle, environment, nodeBinary, pythonIn, root, setUpCompiler, setUpNode, setUpPython } from './setup.mjs';

const windows = process.platform === 'win32';

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
  await serveDemo();
}

const asked = process.argv.slice(2);
if (asked.length > 0) {
  const isHelp = asked.length === 1 && /^(-h|--help)$/.test(asked[0]);
  const usage =
    'npm start: sets up what is missing and opens the demo workspace in VS Code, or else in a browser. No options.';
  console[isHelp ? 'log' : 'error'](isHelp ? usage : `npm start takes no options, and was given ${asked.join(' ')}.`);
  process.exit(isHelp ? 0 : 2);
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
