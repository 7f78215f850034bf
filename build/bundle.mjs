// Bundles one file a process into dist/. `--watch` keeps at it, `--minify` is for the vsix.
import { build, context } from 'esbuild';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const minify = process.argv.includes('--minify');
const common = {
  absWorkingDir: root,
  bundle: true,
  sourcemap: minify ? false : 'linked',
  minify,
  legalComments: 'none',
  logLevel: 'warning',
};
const node = {
  ...common,
  platform: 'node',
  format: 'cjs',
  target: 'node22',
  external: ['vscode', 'better-sqlite3', 'tsx'],
};

const entries = [
  { ...node, entryPoints: { extension: 'src/extension.ts' } },
  // Small, so that it is read at once; it loads the rest, which lies beside it.
  {
    ...node,
    entryPoints: { toolbreak: 'adapter/doors/start.ts' },
    external: [...node.external, './cli'],
    supported: { 'dynamic-import': false },
    banner: { js: '#!/usr/bin/env node' },
  },
  { ...node, entryPoints: { cli: 'adapter/doors/cli.ts' } },
  { ...node, entryPoints: { reader: 'adapter/doors/reader.ts' } },
  { ...node, entryPoints: { guardian: 'adapter/targets/delegate/guardian.ts' } },
  { ...node, entryPoints: { 'store-worker': 'adapter/store/worker.ts' } },
  {
    ...common,
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
    tsconfig: 'webview/tsconfig.json',
    loader: { '.ttf': 'file' },
    assetNames: '[name]',
    entryPoints: { 'webview/timeline': 'webview/timeline.tsx' },
  },
];
if (!minify)
  entries.push({
    ...node,
    external: [...node.external, 'mocha'],
    entryPoints: { 'test/extension': 'test/extension/index.ts' },
  });

const outdir = join(root, 'dist');
if (minify) rmSync(outdir, { recursive: true, force: true });
mkdirSync(outdir, { recursive: true });
const options = entries.map((entry) => ({ ...entry, outdir }));
if (process.argv.includes('--watch')) {
  const contexts = await Promise.all(options.map((each) => context(each)));
  await Promise.all(contexts.map((each) => each.watch()));
} else {
  await Promise.all(options.map((each) => build(each)));
}
/** Files that are used as they are. */
const copies = [
  ['@vscode/codicons/dist/codicon.css', 'webview'],
  ['@vscode/codicons/dist/codicon.ttf', 'webview'],
  ['@vscode/tree-sitter-wasm/wasm/tree-sitter.wasm', 'language'],
  ['@vscode/tree-sitter-wasm/wasm/tree-sitter-python.wasm', 'language'],
];
for (const [from, folder] of copies) {
  mkdirSync(join(outdir, folder), { recursive: true });
  copyFileSync(join(root, 'node_modules', from), join(outdir, folder, basename(from)));
}
