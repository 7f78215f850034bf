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

/** `work_basic() -> main() @ loop_basic.c:7` */
export function compactTrace(trace: readonly TraceFrame[]): string {
  const [top] = trace;
  const names = trace.slice(0, COMPACT).map((frame) => `${frame.function}()`);
  return `${names.join(' -> ')}${top?.file === undefined ? '' : ` @ ${basename(top.file)}:${top.line}`}`;
}

/** A frame's name without parameters and marks: `ns::Stack<int>::push(int const&) [opt]` is `ns::Stack<int>::push`. */
export function functionName(name: string): string {
  const plain = name.replace(/(?:\s*\[[^\]]*\])+$/, '').replace(/\)\s*(?:const|volatile|&{1,2}|noexcept|\s)*$/, ')');
  if (!plain.endsWith(')') || plain.endsWith('operator()')) return plain;
  let depth = 0;
  for (let index = plain.length - 1; index > 0; index -= 1) {
    if (plain[index] === ')') depth += 1;
    else if (plain[index] === '(' && --depth === 0) return plain.slice(0, index);
  }
  return plain;
}
