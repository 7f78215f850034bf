import type { Boundary, CallKind, DataTarget, FunctionTarget } from '../../protocol/control';

/** A tool, node, workflow or model that a debuggee knows. */
export interface KnownName {
  kind: CallKind;
  name: string;
  path?: string;
  line?: number;
}

/** What the text of a function breakpoint means. */
export type NamePattern =
  | { target: FunctionTarget; boundaries: Boundary[] }
  | { target: DataTarget; condition?: string; boundaries: Boundary[] }
  | { problem: string };

export const KINDS: readonly CallKind[] = ['workflow', 'node', 'tool', 'llm', 'http', 'function', 'native'];
const BOUNDARIES: readonly Boundary[] = ['before', 'after', 'error'];
const GLOB = /^[\p{L}\p{N}_.$<>*?\- ]+$/u;
const STATE = /^state:\s*([^=!<>]+?)\s*(?:(==)\s*(.+))?$/s;

/** Reads `tool:search`, `llm:*@after`, `plan`, or `state:verdict == 'scored'`. */
export function parseNamePattern(text: string): NamePattern {
  const trimmed = text.trim();
  if (trimmed === '') {
    return { problem: 'Write a name, such as tool:search, node:plan or llm:*.' };
  }
  if (/^state\s*:/.test(trimmed)) {
    return parseState(trimmed);
  }
  if (/\w::[\w~]/.test(trimmed)) {
    // No Python name has these; C++ and Rust name functions so.
    return { target: { type: 'function', kind: 'native', glob: trimmed }, boundaries: ['before'] };
  }
  const at = trimmed.lastIndexOf('@');
  const suffix = at > 0 ? trimmed.slice(at + 1).trim() : 'before';
  const boundary = BOUNDARIES.find((known) => known === suffix);
  if (!boundary) {
    return { problem: `"@${suffix}" is not known. Use @before, @after or @error.` };
  }
  const named = at > 0 ? trimmed.slice(0, at).trim() : trimmed;
  const colon = named.indexOf(':');
  const kindText = colon >= 0 ? named.slice(0, colon).trim() : undefined;
  const kind = KINDS.find((known) => known === kindText);
  if (kindText !== undefined && !kind) {
    return { problem: `"${kindText}" is not a kind of call. Use tool, node, workflow, llm or function.` };
  }
  const glob = colon >= 0 ? named.slice(colon + 1).trim() : named;
  if (!GLOB.test(glob)) {
    return { problem: `"${glob}" is not a name. Use letters, digits, dots, and * or ** for any text.` };
  }
  return { target: kind ? { type: 'function', kind, glob } : { type: 'function', glob }, boundaries: [boundary] };
}

function parseState(text: string): NamePattern {
  const match = STATE.exec(text);
  const path = match?.[1];
  if (!match || !path || !isStatePath(path)) {
    return { problem: "Write a path in the state, such as state:verdict, or state:verdict == 'scored'." };
  }
  const wanted = match[3]?.trim();
  const target: DataTarget = { type: 'data', path };
  return wanted === undefined
    ? { target, boundaries: ['after'] }
    : { target, condition: `value == ${wanted}`, boundaries: ['after'] };
}

/** `verdict`, `visits[1]`, `plan.steps[0]['name']`. */
export function isStatePath(path: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_]*(\.[\p{L}_][\p{L}\p{N}_]*|\[(-?\d+|'[^']*'|"[^"]*")\])*$/u.test(path);
}

/** Whether a glob means this name, or its last part. `*` stops at a dot, `**` does not. */
export function globMatches(glob: string, name: string): boolean {
  const pattern = [...glob.matchAll(/\*\*|\*|\?|[^*?]+/g)]
    .map(([part]) =>
      part === '**' ? '.*' : part === '*' ? '[^.]*' : part === '?' ? '[^.]' : part.replace(/[\\^$.|+()[\]{}]/g, '\\$&'),
    )
    .join('');
  const whole = new RegExp(`^(?:${pattern})$`, 'su');
  return whole.test(name) || whole.test(name.slice(name.lastIndexOf('.') + 1));
}

export function patternMatches(target: FunctionTarget, known: KnownName): boolean {
  return (target.kind === undefined || target.kind === known.kind) && globMatches(target.glob, known.name);
}

const PLURALS: Record<CallKind, string> = {
  workflow: 'workflows',
  node: 'nodes',
  tool: 'tools',
  llm: 'models',
  http: 'requests',
  function: 'functions',
  native: 'native functions',
};
const SINGULARS: Record<CallKind, string> = {
  workflow: 'workflow',
  node: 'node',
  tool: 'tool',
  llm: 'model',
  http: 'request',
  function: 'function',
  native: 'native function',
};
const LISTED = 12;

/** "No tool matches. Known tools: search, refund". */
export function sentenceForNoMatch(target: FunctionTarget, known: readonly KnownName[]): string {
  const kinds: CallKind[] = target.kind ? [target.kind] : ['tool', 'node', 'workflow', 'llm'];
  const lists = kinds
    .map((kind) => ({ kind, names: [...new Set(known.filter((k) => k.kind === kind).map((k) => k.name))].sort() }))
    .filter((list) => list.names.length > 0);
  const subject = target.kind ? `No ${SINGULARS[target.kind]} matches.` : 'Nothing matches.';
  if (lists.length === 0) {
    return `${subject} ${target.kind ? 'None' : 'No name'} is known yet.`;
  }
  const texts = lists.map(({ kind, names }) => {
    const rest = names.length - LISTED;
    return `Known ${PLURALS[kind]}: ${names.slice(0, LISTED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  });
  return `${subject} ${texts.join('. ')}`;
}
