// Writes THIRD_PARTY_NOTICES.md: the licences of all packages of others that are in the vsix. `--check` only says whether it is up to date.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

/** What is bundled or shipped; what these depend on is added. */
const shipped = ['@vscode/codicons', '@vscode/tree-sitter-wasm', 'better-sqlite3', 'commander', 'preact'];

function withDependencies(names, found = new Map()) {
  for (const name of names) {
    if (found.has(name)) continue;
    const folder = join(root, 'node_modules', name);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    found.set(name, { folder, manifest });
    withDependencies(Object.keys(manifest.dependencies ?? {}), found);
  }
  return found;
}

function notice({ folder, manifest }) {
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|notice)/i.test(name));
  if (files.length === 0) throw new Error(`${manifest.name} has no licence file.`);
  const texts = files.sort().map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim());
  // A version would only make the file old with every update.
  return `## ${manifest.name}\n\nLicense: ${manifest.license}\n\n${texts.map((text) => `~~~~text\n${text}\n~~~~`).join('\n\n')}\n`;
}

const packages = [...withDependencies(shipped).values()].sort((a, b) => (a.manifest.name < b.manifest.name ? -1 : 1));
const text = `# Third-party notices

Toolbreak contains these packages. This file is written by \`node build/notices.mjs\`.

${packages.map(notice).join('\n')}`;

const file = join(root, 'THIRD_PARTY_NOTICES.md');
if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (readFileSync(file, 'utf8') !== text) {
  console.error('THIRD_PARTY_NOTICES.md is not up to date. Run: node build/notices.mjs');
  process.exitCode = 1;
}
