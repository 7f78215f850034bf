import type { PythonFile, PythonFunction } from './python';

/** What a breakpoint on a line would stop. */
export type LineMeaning =
  /** The line belongs to a `def` or its decorators: calls of this function stop. */
  | { at: 'definition'; function: PythonFunction }
  /** The line is inside this function's body. */
  | { at: 'body'; function: PythonFunction }
  | { at: 'nothing' };

export function meaningOf(line: number, functions: readonly PythonFunction[]): LineMeaning {
  // Inner functions come later, so the last one that contains the line is the innermost.
  const inside = functions.filter((each) => each.firstLine <= line && line <= each.lastLine).at(-1);
  if (!inside) return { at: 'nothing' };
  const definition = line <= inside.line || line < inside.bodyLine;
  return definition ? { at: 'definition', function: inside } : { at: 'body', function: inside };
}

/** The line with code that a breakpoint on this one belongs to: itself, or the next one in the same function. */
export function lineWithCode(line: number, { functions, statements }: PythonFile): number | undefined {
  const meaning = meaningOf(line, functions);
  const within = meaning.at === 'body' ? meaning.function : undefined;
  const last = within?.lastLine ?? Math.min(...functions.filter((f) => f.firstLine > line).map((f) => f.firstLine - 1));
  const inner = functions.filter((f) => f !== within && f.firstLine > (within?.line ?? 0));
  for (const each of statements) {
    const found = Math.max(each.line, line);
    if (found <= each.lastLine && found <= last && !inner.some((f) => f.firstLine <= found && found <= f.lastLine)) {
      return found;
    }
  }
  return undefined;
}

/** Lines from first to last on which a breakpoint can be: the `def` lines, and those where a statement begins. */
export function breakpointLines(first: number, last: number, { functions, statements }: PythonFile): number[] {
  const lines = new Set([...functions, ...statements].map((each) => each.line));
  return [...lines].filter((line) => first <= line && line <= last).sort((a, b) => a - b);
}
