/**
 * A VS Code workbench from npm: installs code-server into `.cache/workbench` and starts it. Used by the tests and, where VS Code itself is not
 * installed, by `npm start`.
 *
 *   node build/workbench.mjs            installs, says where
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const CACHE = join(ROOT, '.cache', 'workbench');
const CODE_SERVER = '4.139.1';
const NODE = '24.21.0';
/** Changes when the steps below change, so that an older installation is made anew. */
const RECIPE = `${CODE_SERVER} node ${NODE} recipe 1`;

/**
 * Where an installation lies.
 * @typedef {{ node: string, entry: string }} Workbench
 */

/** @returns {Workbench} */
function places(folder = CACHE) {
  return {
    node: join(folder, 'node_modules', nodePackage(), 'bin', process.platform === 'win32' ? 'node.exe' : 'node'),
    entry: join(folder, 'node_modules', 'code-server', 'out', 'node', 'entry.js'),
  };
}

function nodePackage() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  return `node-${platform}-${process.arch}`;
}

/**
 * Installs the workbench unless it is there. Takes about a minute with a network, nothing afterwards. An installation that was broken off is
 * started anew: the stamp is written last.
 * @param {(line: string) => void} [say]
 * @returns {Workbench}
 */
export function install(say = (line) => console.log(line)) {
  const stamp = join(CACHE, 'installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === RECIPE) return places();

  say(
    `Installing the browser workbench (code-server ${CODE_SERVER}) into .cache/workbench, once; this takes a few minutes...`,
  );
  const staging = `${CACHE}.new`;
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  writeFileSync(join(staging, 'package.json'), JSON.stringify({ name: 'workbench', private: true }));

  npm(staging, ['install', '--ignore-scripts', '--no-package-lock', `${nodePackage()}@${NODE}`]);
  npm(staging, ['install', '--ignore-scripts', '--no-package-lock', `code-server@${CODE_SERVER}`]);
  const vscode = join(staging, 'node_modules', 'code-server', 'lib', 'vscode');
  npm(vscode, ['install', '--omit=dev', '--ignore-scripts', '--no-package-lock']);
  npm(vscode, ['rebuild', '@vscode/spdlog', '@vscode/native-watchdog']);
  npm(join(vscode, 'extensions'), ['install', '--omit=dev', '--ignore-scripts', '--no-package-lock']);
  trim(vscode);

  rmSync(CACHE, { recursive: true, force: true });
  renameSync(staging, CACHE);
  writeFileSync(stamp, RECIPE);
  return places();
}

/** Runs npm under the workbench's own Node, with that package's headers for native modules. */
function npm(cwd, args) {
  const staging = `${CACHE}.new`;
  const nodeFolder = join(staging, 'node_modules', nodePackage());
  let plain;
  const env = { ...process.env, npm_config_audit: 'false', npm_config_fund: 'false', npm_config_loglevel: 'error' };
  if (existsSync(nodeFolder)) {
    // The compiler's options are taken apart at spaces.
    if (/\s/.test(nodeFolder))
      symlinkSync(nodeFolder, join((plain = mkdtempSync(join(tmpdir(), 'toolbreak-'))), 'node'));
    env.npm_config_nodedir = plain === undefined ? nodeFolder : join(plain, 'node');
    const bin = process.platform === 'win32' ? nodeFolder : join(nodeFolder, 'bin');
    env.PATH = `${bin}${process.platform === 'win32' ? ';' : ':'}${env.PATH ?? ''}`;
  }
  const done = spawnSync('npm', args, {
    cwd,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (plain !== undefined) rmSync(plain, { recursive: true, force: true });
  if (done.status !== 0) {
    throw new Error(
      `npm ${args.join(' ')} failed in ${cwd}. The workbench needs a network once, a C++ compiler, make and Python 3; its absence breaks nothing else.`,
    );
  }
}

/** Takes out what a debugger's workbench never shows: assistants, and binaries of other platforms. */
function trim(vscode) {
  const extensions = join(vscode, 'extensions');
  for (const name of existsSync(extensions) ? readdirSync(extensions) : []) {
    if (/^(copilot|mermaid)/.test(name)) rmSync(join(extensions, name), { recursive: true, force: true });
  }
  for (const name of ['@github', '@microsoft/mxc-sdk']) {
    rmSync(join(vscode, 'node_modules', name), { recursive: true, force: true });
  }
}

/** Settings that keep a fresh profile quiet. */
export const QUIET_SETTINGS = {
  'workbench.startupEditor': 'none',
  'chat.disableAIFeatures': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
};

/**
 * Starts the workbench server on loopback, with its own profile below `home`. Ends with `stop()`, its whole process group.
 * @param {object} options
 * @param {Workbench} options.workbench
 * @param {string} options.home       folder for the profile, extensions and logs
 * @param {boolean} [options.forTests] no password, no trust question, and the page's driver for tests
 * @param {object} [options.settings] user settings beside the quiet ones
 * @param {AbortSignal} [options.cancelled] ends a start that is not wanted any more
 * @param {boolean} [options.trust]   `false` asks for trust as a desktop does, in tests too
 * @returns {Promise<{ url: string, port: number, password: string | undefined, pid: number, log: () => string, stop: () => Promise<void> }>}
 */
export async function start({ workbench, home, forTests = false, settings = {}, trust = true, cancelled }) {
  const port = await freePort();
  const user = join(home, 'user');
  // A remote window takes settings of machine scope from the second folder only.
  for (const scope of ['User', 'Machine']) {
    const file = join(user, scope, 'settings.json');
    mkdirSync(join(user, scope), { recursive: true });
    if (!existsSync(file)) writeFileSync(file, JSON.stringify({ ...QUIET_SETTINGS, ...settings }, null, 2));
  }

  const password = forTests ? undefined : randomBytes(12).toString('base64url');
  const args = [
    ...['--config', join(home, 'code-server.yaml')],
    ...['--auth', password === undefined ? 'none' : 'password'],
    ...['--bind-addr', `127.0.0.1:${port}`],
    ...['--user-data-dir', user, '--extensions-dir', join(home, 'extensions')],
    '--disable-telemetry',
    '--disable-update-check',
    '--disable-getting-started-override',
    '--ignore-last-opened',
    ...['--reconnection-grace-time', forTests ? '5' : '3600'],
    // Without this option the built workbench does not load an extension under development from the page's address.
    ...['--vscode-option', 'enable-smoke-test-driver'],
  ];
  if (trust && forTests) args.push('--disable-workspace-trust');
  writeFileSync(join(home, 'code-server.yaml'), '');

  const env = { ...process.env };
  for (const name of Object.keys(env)) if (/^(VSCODE|ELECTRON)_/.test(name)) delete env[name];
  env.XDG_CONFIG_HOME = join(home, 'config');
  env.XDG_DATA_HOME = join(home, 'data');
  env.XDG_CACHE_HOME = join(home, 'cache');
  env.XDG_STATE_HOME = join(home, 'state');
  // The server leaves its sockets behind: in tests they go with the folder, where a socket's path may be as long.
  if (forTests && home.length < 50) env.XDG_RUNTIME_DIR = home;
  if (password !== undefined) env.PASSWORD = password;

  const server = spawn(workbench.node, [workbench.entry, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  const keep = (chunk) => (output += chunk);
  server.stdout.setEncoding('utf8').on('data', keep);
  server.stderr.setEncoding('utf8').on('data', keep);
  const ended = new Promise((resolveEnded) => server.once('exit', resolveEnded));
  const stop = async () => {
    endGroup(server.pid, 'SIGTERM');
    const forced = setTimeout(() => endGroup(server.pid, 'SIGKILL'), 3000);
    await ended;
    clearTimeout(forced);
    // Extension hosts that outlived the server are in its group.
    endGroup(server.pid, 'SIGKILL');
  };

  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + 60_000;
  for (;;) {
    if (server.exitCode !== null) throw new Error(`The workbench server ended at once:\n${output}`);
    const answer = await fetch(`${url}/healthz`).catch(() => undefined);
    if (answer?.ok) break;
    if (cancelled?.aborted) {
      await stop();
      throw new Error('The start of the workbench server was cancelled.');
    }
    if (Date.now() > deadline) {
      await stop();
      throw new Error(`The workbench server did not answer within a minute:\n${output}`);
    }
    await new Promise((next) => setTimeout(next, 50));
  }
  return { url, port, password, pid: server.pid, log: () => output, stop };
}

function endGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH' && error.code !== 'EPERM') throw error;
  }
}

/** The page's address: a folder, and an extension under development, with a test suite if given. */
export function pageAddress({ url, port, folder, extension, tests, environment }) {
  const remote = (path) => `vscode-remote://127.0.0.1:${port}${path}`;
  const payload = [];
  if (extension !== undefined) payload.push(['extensionDevelopmentPath', remote(extension)]);
  if (tests !== undefined) payload.push(['extensionTestsPath', remote(tests)]);
  if (environment !== undefined) payload.push(['extensionEnvironment', JSON.stringify(environment)]);
  const query = new URLSearchParams({ folder });
  if (payload.length > 0) query.set('payload', JSON.stringify(payload));
  return `${url}/?${query}`;
}

function freePort() {
  return new Promise((resolvePort, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolvePort(port));
    });
  });
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    const { entry } = install();
    console.log(`The workbench is installed: ${entry}`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
