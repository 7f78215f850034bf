import { basename } from 'node:path';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { projectPath } from './places';

/** One frame for scripts; innermost first in a list. */
export interface TraceFrame {
  function: string;
  /** Relative to the project where it lies in it; absent without debug information. */
  file?: string;
  line?: number;
}

/** Names in a compact backtrace. */
const COMPACT = 3;

/** The frames down to `main`; what calls that is of no interest. */
export function traceFrames(frames: readonly P.StackFrame[], project: string): TraceFrame[] {
  const trace: TraceFrame[] = [];
  for (const { name, source, line } of frames) {
    const known = source?.path !== undefined && line > 0;
    trace.push({ function: functionName(name), ...(known && { file: projectPath(source.path!, project), line }) });
    if (functionName(name) === 'main') break;
  }
  return trace;
}

/** `work_basic() -> main() @ loop_basic.c:7`; what calls the third function is an ellipsis, or where not all frames were asked for. */
export function compactTrace(trace: readonly TraceFrame[], whole = true): string {
  const [top] = trace;
  const names = trace.slice(0, COMPACT).map((frame) => `${frame.function}()`);
  if (trace.length > COMPACT || (!whole && trace.at(-1)?.function !== 'main')) names.push('…');
  return `${names.join(' -> ')}${top?.file === undefined ? '' : ` @ ${basename(top.file)}:${top.line}`}`;
}

/** A frame's name without parameters and marks: `ns::Stack<int>::push(int const&) [opt]` is `ns::Stack<int>::push`. */
export function functionName(name: string): string {
  // GCC's static functions come as `::sum(int)`.
  const plain = name
    .replace(/^::/, '')
    .replace(/(?:\s*\[[^\]]*\])+$/, '')
    .replace(/\)\s*(?:const|volatile|&{1,2}|noexcept|\s)*$/, ')');
  if (!plain.endsWith(')') || plain.endsWith('operator()')) return plain;
  let depth = 0;
  for (let index = plain.length - 1; index > 0; index -= 1) {
    if (plain[index] === ')') depth += 1;
    else if (plain[index] === '(' && --depth === 0) return plain.slice(0, index);
  }
  return plain;
}

/** With what a template was made of left out, for people: `Stack<…>::push() -> main() @ a.cpp:3`. */
export function withoutTemplates(text: string): string {
  let short = '';
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const sign = text[index]!;
    // An arrow, and operators that are written with the same signs.
    const operator =
      depth === 0 ? /^(?:->|operator\s*(?:<=>|<<=?|>>=?|->\*?|[<>]=?))/.exec(text.slice(index))?.[0] : undefined;
    if (operator !== undefined) {
      short += operator;
      index += operator.length - 1;
    } else if (sign === '<') {
      if (depth === 0) short += '<…';
      depth += 1;
    } else if (sign === '>' && depth > 0 && text[index - 1] !== '-') {
      depth -= 1;
      if (depth === 0) short += '>';
    } else if (depth === 0) short += sign;
  }
  return short;
}
