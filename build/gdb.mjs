// A gdb that speaks DAP, for the tests: the machine's own, or, as root on an older Debian, the packages of a newer one, unpacked with their own C
// library beside this machine's.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** gdb speaks DAP from 14 on; here it is tested with 16. */
const MAJOR = 16;
/** The Debian that has it. */
const SUITE = 'trixie';
const KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Without anybody to ask: a question would wait for ever. */
function run(command, args, options) {
  const done = promisify(execFile)(command, args, options);
  done.child.stdin?.end();
  return done;
}

const majorOf = (program) =>
  Number(/\b(\d+)\.\d+/.exec(spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1] ?? 0);

/** Its path. Throws a sentence where it cannot be had. */
export async function setUpGdb(cache) {
  if (majorOf('gdb') >= MAJOR) return execFileSync('which', ['gdb'], { encoding: 'utf8' }).trim();
  const folder = join(cache, `gdb-${MAJOR}`);
  const program = join(folder, 'gdb');
  if (existsSync(program) && majorOf(program) >= MAJOR) return program;
  if (process.getuid?.() !== 0 || !existsSync(KEYS))
    throw new Error(`gdb ${MAJOR} is not tested: there is none on the PATH, and none can be unpacked here.`);
  rmSync(folder, { recursive: true, force: true });
  for (const name of ['lists/partial', 'archives/partial', 'root']) mkdirSync(join(folder, name), { recursive: true });
  await fetchPackages(folder);
  const archives = join(folder, 'archives');
  for (const name of readdirSync(archives).filter((one) => one.endsWith('.deb')))
    await run('dpkg-deb', ['-x', join(archives, name), join(folder, 'root')]);
  for (const name of ['lists', 'archives']) rmSync(join(folder, name), { recursive: true, force: true });
  writeFileSync(program, wrapper(join(folder, 'root', 'usr')), { mode: 0o755 });
  if (majorOf(program) < MAJOR) throw new Error(`gdb ${MAJOR} is not tested: what was unpacked does not run.`);
  return program;
}

/** With all they need, as for a machine that has nothing; apt checks the signatures. */
async function fetchPackages(folder) {
  const { stdout: lines } = await run('apt-get', ['indextargets', '--format', '$(COMPONENT) $(REPO_URI)']);
  const [, address] = /^main (\S+\/debian\/?)$/m.exec(lines) ?? [];
  if (address === undefined) throw new Error(`gdb ${MAJOR} is not tested: this machine names no server of Debian.`);
  writeFileSync(join(folder, 'sources.list'), `deb [signed-by=${KEYS}] ${address} ${SUITE} main\n`);
  writeFileSync(join(folder, 'status'), '');
  const settings = [
    `Dir::Etc::SourceList=${join(folder, 'sources.list')}`,
    'Dir::Etc::SourceParts=/dev/null',
    `Dir::State::Lists=${join(folder, 'lists')}`,
    `Dir::State::status=${join(folder, 'status')}`,
    `Dir::Cache::Archives=${join(folder, 'archives')}`,
    'Dir::Cache::pkgcache=',
    'Dir::Cache::srcpkgcache=',
    'APT::Sandbox::User=root',
    'Debug::NoLocking=1',
  ].flatMap((setting) => ['-o', setting]);
  const apt = (...args) => run('apt-get', [...settings, '-qq', ...args], { maxBuffer: 2 ** 26 });
  await apt('update');
  await apt('install', '-y', '--no-install-recommends', '--download-only', 'gdb');
}

/** Its libraries are its own; threads of programs are told by the library that they themselves use. */
function wrapper(usr) {
  const triplet = readdirSync(join(usr, 'lib')).find((name) => existsSync(join(usr, 'lib', name, 'libc.so.6')));
  const libraries = join(usr, 'lib', triplet);
  const loader = readdirSync(libraries).find((name) => name.startsWith('ld-linux'));
  const settings = [`set libthread-db-search-path /lib/${triplet}`, 'set auto-load safe-path /'];
  return `#!/bin/sh
export PYTHONHOME='${usr}' GCONV_PATH='${libraries}/gconv'
exec '${libraries}/${loader}' --library-path '${libraries}' '${usr}/bin/gdb' --data-directory='${usr}/share/gdb' ${settings.map((one) => `-iex '${one}'`).join(' ')} "$@"
`;
}
