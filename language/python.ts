import type { Node } from '@vscode/tree-sitter-wasm';
import { pythonParser } from './parser';

/** A function in a Python file. Lines are 1-based and inclusive. */
export interface PythonFunction {
  name: string;
  /** `Agent.plan` for a method, `outer.inner` for a nested function. */
  qualifiedName: string;
  /** First decorator's line, else the `def` line. */
  firstLine: number;
  /** Line of `def`. */
  line: number;
  /** First line of the body. */
  bodyLine: number;
  lastLine: number;
  /** It has a decorator whose last name is `tool`. */
  isTool: boolean;
}

/** Every function of the file, outer ones before their inner ones. Broken source gives what could be read. */
export async function functionsIn(text: string): Promise<PythonFunction[]> {
  const tree = (await pythonParser()).parse(text);
  if (!tree) return [];
  try {
    const found: PythonFunction[] = [];
    visit(tree.rootNode, [], [], found);
    return found;
  } finally {
    tree.delete();
  }
}

function visit(node: Node, owners: string[], decorators: Node[], found: PythonFunction[]): void {
  if (node.type === 'decorated_definition') {
    const own = childrenOf(node).filter((each) => each.type === 'decorator');
    const definition = node.childForFieldName('definition');
    if (definition) visit(definition, owners, own, found);
    return;
  }
  const name = node.childForFieldName('name')?.text;
  const body = node.childForFieldName('body');
  if (node.type === 'function_definition' && name && body) {
    found.push({
      name,
      qualifiedName: [...owners, name].join('.'),
      firstLine: (decorators[0] ?? node).startPosition.row + 1,
      line: node.startPosition.row + 1,
      bodyLine: body.startPosition.row + 1,
      lastLine: body.endPosition.row + 1,
      isTool: decorators.some((each) => /^@\s*([\w.]+\.)?tool\b/.test(each.text)),
    });
  }
  const owned =
    (node.type === 'function_definition' || node.type === 'class_definition') && name ? [...owners, name] : owners;
  for (const child of childrenOf(node)) visit(child, owned, [], found);
}

const childrenOf = (node: Node): Node[] => node.namedChildren.filter((each) => each !== null);
