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

/** A statement's lines: the first one of an `if`, all of a call that is written on several. 1-based and inclusive. */
export interface PythonStatement {
  line: number;
  lastLine: number;
}

export interface PythonFile {
  /** Outer functions before their inner ones. */
  functions: PythonFunction[];
  /** What runs, in the order of the file; definitions of functions are not among them. */
  statements: PythonStatement[];
}

/** Broken source gives what could be read. */
export async function readPython(text: string): Promise<PythonFile> {
  const tree = (await pythonParser()).parse(text);
  const found: PythonFile = { functions: [], statements: [] };
  if (!tree) return found;
  try {
    visit(tree.rootNode, [], [], found.functions);
    statementsOf(tree.rootNode, found.statements);
    return found;
  } finally {
    tree.delete();
  }
}

export async function functionsIn(text: string): Promise<PythonFunction[]> {
  return (await readPython(text)).functions;
}

const NOTHING_RUNS = new Set(['global_statement', 'nonlocal_statement', 'future_import_statement']);

function statementsOf(node: Node, found: PythonStatement[]): void {
  const isBlock = node.type === 'module' || node.type === 'block';
  for (const child of childrenOf(node)) {
    const runs = isBlock
      ? !['comment', 'function_definition', 'decorated_definition', 'ERROR'].includes(child.type) &&
        !NOTHING_RUNS.has(child.type) &&
        !(child.type === 'expression_statement' && child.namedChildren.every((part) => part?.type === 'string'))
      : ['elif_clause', 'except_clause', 'except_group_clause'].includes(child.type);
    if (runs) {
      const compound = child.namedChildren.find((part) => part?.type === 'block');
      const head = child.childForFieldName('body') ?? child.childForFieldName('consequence') ?? compound;
      const line = child.startPosition.row + 1;
      const last = head ? head.startPosition.row : child.endPosition.row + 1;
      found.push({ line, lastLine: Math.max(line, last) });
    }
    statementsOf(child, found);
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
