import type { DebugProtocol as P } from '@vscode/debugprotocol';
import type { Breakpoint } from '../../../protocol/control';
import type { DelegateClient } from '../delegate/client';

export type Kind = Breakpoint['target']['type'] | 'entry';

/** Breakpoints of ours at one place are one to the delegate. */
export interface Group {
  kind: Kind;
  key: string;
  breakpoints: Breakpoint[];
  /** The delegate's number; absent where it took none. */
  number?: number;
  verified: boolean;
  message?: string;
  path?: string;
  line?: number;
}

export function keyOf({ target }: Breakpoint): string {
  switch (target.type) {
    case 'source':
      return `source:${target.path}:${target.line}`;
    case 'function':
      return `function:${target.glob}`;
    case 'instruction':
      return `instruction:${target.reference}+${target.offset ?? 0}`;
    case 'memory':
      return `memory:${target.data}:${target.access}`;
    case 'data':
      return `data:${target.path}`;
  }
}

export function setOf(group: Group): string {
  const target = group.breakpoints[0]?.target;
  if (group.kind === 'entry') return 'function';
  return target?.type === 'source' ? `source:${target.path}` : group.kind;
}

/** Anything but a line break or tab, such as a brace that is none: lldb-dap stops instead, or writes something else. */
const OTHER_ESCAPE = /\\(?![nt])/;

/**
 * Whether the delegate writes this log message, without a stop. Not where it is written for some hits only: those are counted here, and a delegate that
 * cannot evaluate a condition takes it to be met.
 */
export function writesItself({ capabilities }: DelegateClient, { kind, breakpoints }: Group): boolean {
  const [one] = breakpoints;
  return (
    kind === 'source' &&
    breakpoints.length === 1 &&
    one?.logMessage !== undefined &&
    !OTHER_ESCAPE.test(one.logMessage) &&
    one.condition === undefined &&
    one.hitCondition === undefined &&
    !one.ignoreCount &&
    capabilities.supportsLogPoints === true
  );
}

/** What all breakpoints of one place have in common. */
export function conditionOf({ breakpoints }: Group): { condition?: string } {
  const conditions = breakpoints.map(({ condition }) => condition);
  if (conditions.length === 0 || conditions.some((condition) => condition === undefined)) return {};
  return { condition: conditions.length === 1 ? conditions[0]! : conditions.map((c) => `(${c})`).join(' || ') };
}

export function functionName(group: Group): string {
  const target = group.breakpoints[0]?.target;
  return target?.type === 'function' ? target.glob : 'main';
}

export function lineOf(group: Group): number {
  const target = group.breakpoints[0]?.target;
  return target?.type === 'source' ? target.line : 1;
}

export function placeOf({ path, line, breakpoints }: Group): { path?: string; line?: number } {
  const target = breakpoints[0]?.target;
  const here = target?.type === 'source' ? { path: target.path, line: target.line } : {};
  return { ...here, ...(path ? { path } : {}), ...(line === undefined ? {} : { line }) };
}

export function learn(group: Group, answer: P.Breakpoint): void {
  group.verified = answer.verified === true;
  if (typeof answer.id === 'number') group.number = answer.id;
  if (typeof answer.line === 'number') group.line = answer.line;
  const path = answer.source?.path;
  if (typeof path === 'string' && group.kind !== 'source') group.path = path;
  if (typeof answer.message === 'string' && answer.message !== '') group.message = answer.message;
  else delete group.message;
}

export function bound(group: Group | undefined): Partial<Group> {
  if (!group) return {};
  const { number, verified, message, path, line } = group;
  return Object.fromEntries(
    Object.entries({ number, verified, message, path, line }).filter(([, value]) => value !== undefined),
  );
}
