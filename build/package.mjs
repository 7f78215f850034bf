// `npm run package`: bundles for release and writes toolbreak-<version>.vsix. Then bundles for development again.
// `--unsearched` leaves out the search for secrets in what is packed, which takes most of the time, and says so in the file's name: for a test, not for a release.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment, nodeBinary, root, setUpCompiled, setUpNode } from './setup.mjs';

function run(command, args) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    env: environment(),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${args.join(' ')} failed.`);
}

/** Writes the vsix and answers its path. */
async function makePackage(isSearched) {
  await setUpNode();
  await setUpCompiled();
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const out = join(root, `toolbreak-${version}${isSearched ? '' : '-unsearched'}.vsix`);
  const vsce = join(root, 'node_modules/@vscode/vsce/vsce');
  run(nodeBinary(), ['build/bundle.mjs', '--minify']);
  try {
    // There is no public repository yet, so links in the README stay as they are.
    run(nodeBinary(), [
      vsce,
      'package',
      '--allow-missing-repository',
      '--no-rewrite-relative-links',
      '--skip-license',
      ...(isSearched ? [] : ['--allow-package-all-secrets']),
      '-o',
      out,
    ]);
  } finally {
    run(nodeBinary(), ['build/bundle.mjs']);
  }
  return out;
}

console.log(await makePackage(!process.argv.includes('--unsearched')));
