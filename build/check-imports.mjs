// The arrows between folders. A file may import its own folder and those named behind it; every exception is a debt, listed by name.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Folder to the folders it may import. `vscode` stands for the editor's API. */
export const allowed = {
  protocol: [],
  language: ['protocol'],
  'adapter/common': ['protocol'],
  'adapter/model': ['protocol', 'adapter/common'],
  'adapter/engine': ['protocol', 'adapter/common', 'adapter/model'],
  'adapter/store': ['protocol', 'adapter/common', 'adapter/model'],
  'adapter/targets': ['protocol', 'adapter/common', 'adapter/model', 'adapter/engine', 'adapter/store'],
  'adapter/dap': [
    'protocol',
    'language',
    'adapter/common',
    'adapter/model',
    'adapter/engine',
    'adapter/store',
    'adapter/targets',
  ],
  'adapter/doors': [
    'protocol',
    'adapter/common',
    'adapter/model',
    'adapter/engine',
    'adapter/store',
    'adapter/targets',
    'adapter/dap',
  ],
  src: ['protocol', 'language', 'vscode'],
  webview: ['protocol'],
  'runtimes/node': [],
};

/** `importing file -> imported file`, with the reason beside it. */
export const debts = [];

export function violations(files, rules = allowed, owed = debts) {
  const folders = Object.keys(rules).sort((a, b) => b.length - a.length);
  const folderOf = (path) => folders.find((folder) => path === folder || path.startsWith(`${folder}/`));
  const found = [];
  for (const { path, text } of files) {
    const own = folderOf(path);
    if (!own) continue;
    for (const [, specifier] of text.matchAll(/(?:from\s+|import\s+|import\(\s*|require\(\s*)['"]([^'"]+)['"]/g)) {
      if (specifier === 'vscode') {
        if (!rules[own].includes('vscode')) found.push(`${path} imports vscode`);
        continue;
      }
      if (!specifier.startsWith('.')) continue;
      const target = relative(root, resolve(root, dirname(path), specifier)).replaceAll('\\', '/');
      const other = folderOf(target);
      if (other === own) continue;
      if (other && rules[own].includes(other)) continue;
      if (owed.includes(`${path} -> ${target}`)) continue;
      found.push(`${path} imports ${target}, which ${own} may not`);
    }
  }
  return found;
}

function* sources(folder) {
  for (const name of readdirSync(join(root, folder))) {
    const path = `${folder}/${name}`;
    if (statSync(join(root, path)).isDirectory()) yield* sources(path);
    else if (/\.(ts|tsx|mjs)$/.test(name)) yield path;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const tops = [...new Set(Object.keys(allowed).map((folder) => folder.split('/')[0]))];
  const files = tops
    .flatMap((top) => [...sources(top)])
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  const found = violations(files);
  for (const each of found) console.error(each);
  if (found.length > 0) process.exitCode = 1;
  else console.log(`${files.length} files keep to the arrows; ${debts.length} debts.`);
}
