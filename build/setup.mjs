// Makes a fresh machine ready: npm packages, Python environments, and, as root on Debian, the browser, compilers and lldb-dap. Runs
// under Node 20 or later with nothing installed. Every step is skipped when its stamp says that it was done with the same inputs.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildCompiled, compiledKey, hasCompiler, headersOf, isBuilt } from './compiled.mjs';
import { setUpGdb } from './gdb.mjs';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const cache = join(root, '.cache');
const windows = process.platform === 'win32';

const digest = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
const say = (text) => console.log(`setup: ${text}`);

/** Runs `step` unless what it makes is there and `stamp` holds `key`. */
async function once(stamp, key, isThere, step) {
  const file = join(cache, 'stamps', stamp);
  if (isThere && existsSync(file) && readFileSync(file, 'utf8') === key) return;
  await step();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, key);
}

/** Set when a program was ended by a signal, as by Ctrl-C: nothing is started any more. */
let stopped = false;

/** Answers what it said; several may run side by side. */
async function run(command, args, options = {}) {
  if (stopped) throw new Error(`${command} ${args.join(' ')} was not started: what went before was ended.`);
  try {
    const done = promisify(execFile)(command, args, { cwd: root, maxBuffer: 2 ** 26, ...options });
    done.child.stdin?.end();
    return (await done).stdout;
  } catch (error) {
    stopped ||= Boolean(error.signal);
    if (typeof error.code !== 'number') throw error;
    throw new Error(`${command} ${args.join(' ')} failed:\n${error.stdout}${error.stderr}`, { cause: error });
  }
}

/** Waits for all, also where one fails: what installs something is not to be left alone. Throws what failed first. */
export async function allOf(steps) {
  const done = await Promise.allSettled(steps);
  for (const { status, reason } of done) if (status === 'rejected') throw reason;
  return done.map(({ value }) => value);
}

/** npm packages, Node 24 among them. */
export async function setUpNode() {
  const [major] = process.versions.node.split('.');
  if (Number(major) < 20) throw new Error(`Node ${process.versions.node} is too old. Install Node 20 or later.`);
  const lock = readFileSync(join(root, 'package-lock.json'));
  const complete = existsSync(nodeBinary()) && existsSync(join(root, 'node_modules/better-sqlite3'));
  await once('npm', digest(lock), complete, async () => {
    say('installing npm packages');
    // Install scripts run for what needs them only: npm would compile better-sqlite3, which brings its binaries along.
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { shell: windows });
    await run('npm', ['rebuild', 'node'], { shell: windows });
  });
}

/** The Node that everything runs under. */
export const nodeBinary = () => join(root, 'node_modules/node/bin', windows ? 'node.exe' : 'node');

/** The environment for child processes: our Node and our tools first. */
export function environment(extra = {}) {
  const paths = [dirname(nodeBinary()), join(root, 'node_modules/.bin')];
  return { ...process.env, ...extra, PATH: [...paths, process.env.PATH].join(delimiter) };
}

/** Every Python from 3.10 to 3.13 on this machine: version to executable. */
export function findPythons() {
  const names = ['3.11', '3.12', '3.13', '3.10'];
  const pyenv = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions');
  const installed = existsSync(pyenv) ? readdirSync(pyenv).map((each) => join(pyenv, each, 'bin/python')) : [];
  const candidates = [...names.map((each) => `python${each}`), ...installed, 'python3', 'python'];
  const found = new Map();
  const probe =
    'import sys,sysconfig;print("%d.%d"%sys.version_info[:2]);print(sys.executable);print(sysconfig.get_config_var("Py_GIL_DISABLED") or 0)';
  for (const candidate of candidates) {
    const answer = spawnSync(candidate, ['-c', probe], { encoding: 'utf8' });
    if (answer.status !== 0) continue;
    const [version, executable, free] = answer.stdout.trim().split(/\r?\n/);
    if (names.includes(version) && free === '0' && !found.has(version)) found.set(version, executable);
  }
  return new Map(names.filter((each) => found.has(each)).map((each) => [each, found.get(each)]));
}

export const pythonIn = (name) => join(cache, 'python', name, windows ? 'Scripts/python.exe' : 'bin/python');

async function makeEnvironment(name, executable, lockFile) {
  const lock = join(root, 'build/python', lockFile);
  await once(`python-${name}`, digest(readFileSync(lock), executable), existsSync(pythonIn(name)), async () => {
    say(`making the Python environment ${name}`);
    rmSync(join(cache, 'python', name), { recursive: true, force: true });
    try {
      await run(executable, ['-m', 'venv', join(cache, 'python', name)]);
    } catch (error) {
      if (!(await debianPackages(['python3-venv'], 'Python environments'))) throw error;
      rmSync(join(cache, 'python', name), { recursive: true, force: true });
      await run(executable, ['-m', 'venv', join(cache, 'python', name)]);
    }
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', lock];
    await run(pythonIn(name), install);
  });
}

const lockFor = (version) => (version === '3.10' ? 'test-3.10.txt' : 'test.txt');

/**
 * Python environments. `all` makes one for every Python present and one with the oldest LangGraph; otherwise only the first.
 * Returns the names of the environments, the one with everything first.
 */
export async function setUpPython({ all }) {
  const pythons = findPythons();
  if (pythons.size === 0)
    throw new Error('No Python from 3.10 to 3.13 found. Install one (Debian: apt-get install python3 python3-venv).');
  await setUpCompiled([...pythons.values()]);
  const [first, ...rest] = [...pythons.keys()];
  const wanted = [[first, pythons.get(first), first === '3.10' ? lockFor(first) : 'dev.txt']];
  if (all) wanted.push(...rest.map((version) => [version, pythons.get(version), lockFor(version)]));
  if (all && first !== '3.10') wanted.push(['langgraph-0.6', pythons.get(first), 'langgraph-0.6.txt']);
  // Side by side: most of it is work for one processor.
  await allOf(wanted.map((each) => makeEnvironment(...each)));
  return wanted.map(([name]) => name);
}

const HEADERS = ['gcc', 'libc6-dev', 'python3-dev'];

/** The compiled part of the Python runtime, which makes recording quicker. Not on Windows, where it was never tried. */
export async function setUpCompiled(pythons = [...findPythons().values()]) {
  if (windows) return;
  const there = () => hasCompiler() && headersOf(pythons) !== undefined;
  const purpose = 'Recording works; to be quicker, it would';
  if (!there() && !(await tried(() => debianPackages(HEADERS, purpose)))) return;
  const headers = headersOf(pythons);
  if (headers === undefined) return;
  await tried(() =>
    once('compiled', compiledKey(root, headers), isBuilt(root), () => {
      say('compiling a part of the Python runtime');
      buildCompiled(root, headers);
    }),
  );
}

const installed = (program) => spawnSync(windows ? 'where' : 'which', [program]).status === 0;
const which = (program) =>
  execFileSync(windows ? 'where' : 'which', [program], { encoding: 'utf8' })
    .trim()
    .split('\n')[0];

let debianTurn = Promise.resolve();
/** What asks Debian's package manager for something is done one after the other: it takes one request at a time. */
function inTurn(step) {
  const done = debianTurn.then(step);
  debianTurn = done.catch(() => undefined);
  return done;
}

/** Installs Debian packages where we are root on Debian. Answers whether they are there now; says what to type if not. */
async function debianPackages(packages, purpose) {
  const debian = existsSync('/etc/debian_version') && installed('apt-get');
  if (!debian || process.getuid?.() !== 0) {
    const names = packages.join(' ');
    const how = debian ? `Type: sudo apt-get install -y ${names}` : 'Install them with your package manager.';
    say(`${purpose} need ${packages.join(', ')}${debian ? '' : ' (as Debian calls them)'}. ${how}`);
    return false;
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await inTurn(async () => {
    say(`installing ${packages.join(', ')}`);
    await run('apt-get', ['update', '-qq'], { env });
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env });
  });
  return true;
}

/** A Chromium for the workbench tests: its path, or undefined after saying what to type. */
export async function setUpBrowser() {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const found = () => names.find(installed);
  if (!found()) await debianPackages(['chromium', 'fonts-dejavu-core'], 'The workbench tests');
  const name = found();
  return name && which(name);
}

/** A compiler for the workbench's native parts: make and g++. */
export async function setUpCompiler() {
  if (installed('g++') && installed('make')) return true;
  return debianPackages(['g++', 'make'], 'The browser workbench');
}

const LLDB_19 = ['lldb-19', 'gcc', 'libc6-dev', 'g++'];
/** What lldb-22's programs need. They are no package beside lldb-19: the two conflict, so the programs are unpacked into .cache. */
const LLDB_22 = ['liblldb-22', 'libclang-cpp22', 'libllvm22'];

/**
 * lldb-dap 19 and 22 for the tests of native code, with compilers: their paths, each undefined after saying what to type. With `gdb` also that, where it
 * can be had.
 */
export async function setUpNative({ gdb } = {}) {
  if (windows) return {};
  const there = () => ['lldb-dap-19', 'gcc', 'g++'].every(installed) && existsSync('/usr/include/stdio.h');
  const lldb19 = there() || (await tried(() => debianPackages(LLDB_19, 'The tests of native code')));
  return {
    lldb19: lldb19 ? which('lldb-dap-19') : undefined,
    lldb22: await tried(setUpLldb22),
    gdb: gdb ? await tried(() => inTurn(() => setUpGdb(cache))) : undefined,
  };
}

/** A package that cannot be had is told; the suites that need it fail or are skipped, the others run. */
async function tried(step) {
  try {
    return await step();
  } catch (error) {
    say(error.message);
    return undefined;
  }
}

async function setUpLldb22() {
  const folder = join(cache, 'lldb-22');
  const program = join(folder, 'lldb-dap');
  const works = () => existsSync(program) && spawnSync(program, ['--version']).status === 0;
  if (works()) return program;
  const libraries = spawnSync('dpkg', ['-s', ...LLDB_22]).status === 0;
  if (!libraries && !(await debianPackages(LLDB_22, 'The tests with lldb-dap 22'))) return undefined;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await inTurn(() => run('apt-get', ['download', '-qq', 'lldb-22'], { cwd: folder }));
  const [archive] = readdirSync(folder).filter((name) => name.endsWith('.deb'));
  await run('dpkg', ['-x', archive, '.'], { cwd: folder });
  rmSync(join(folder, archive));
  // The library looks for lldb-server beside itself, where the package would have put it.
  const programs = join(folder, 'usr/lib/llvm-22/bin');
  writeFileSync(
    program,
    `#!/bin/sh\nLLDB_DEBUGSERVER_PATH='${programs}/lldb-server' exec '${programs}/lldb-dap' "$@"\n`,
    { mode: 0o755 },
  );
  if (!works())
    throw new Error(`lldb-dap 22 does not run: ${spawnSync(program, ['--version'], { encoding: 'utf8' }).stderr}`);
  return program;
}

/** Bundles into dist/. */
export async function bundle() {
  const options = { cwd: root, env: environment(), stdio: ['ignore', 'inherit', 'inherit'] };
  execFileSync(nodeBinary(), ['build/bundle.mjs'], options);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await setUpNode();
  await setUpPython({ all: process.argv.includes('--all') });
}
