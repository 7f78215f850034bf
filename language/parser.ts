import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Language, Parser } from '@vscode/tree-sitter-wasm';

/** Where the WebAssembly files are: beside the bundle, else in the package they come from. */
function folder(): string {
  const beside = join(__dirname, 'language');
  return existsSync(beside) ? beside : join(__dirname, '../node_modules/@vscode/tree-sitter-wasm/wasm');
}

let python: Promise<Parser> | undefined;

/** One parser a process; loading it takes tens of milliseconds, so it is loaded at the first question. */
export function pythonParser(): Promise<Parser> {
  python ??= (async () => {
    await Parser.init({ locateFile: (name: string) => join(folder(), name) });
    const parser = new Parser();
    parser.setLanguage(await Language.load(join(folder(), 'tree-sitter-python.wasm')));
    return parser;
  })();
  return python;
}
