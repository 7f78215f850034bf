import type { PythonFunction } from './python';

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

/** Lines from first to last on which a breakpoint stops calls: the `def` lines. */
export function breakpointLines(first: number, last: number, functions: readonly PythonFunction[]): number[] {
  return functions.map((each) => each.line).filter((line) => first <= line && line <= last);
}
