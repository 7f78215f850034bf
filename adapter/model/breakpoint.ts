import type { Boundary, Breakpoint, BreakpointState } from '../../protocol/control';

/** A breakpoint as a client asked for it: everything but the number the engine gives it. */
export type BreakpointSpec = Omit<Breakpoint, 'id'>;

/** One kind of breakpoint set; a client replaces a whole set at once. Source sets are one for each file. */
export type SetName = `source:${string}` | 'function' | 'data' | 'instruction';

/** A breakpoint that cannot be sent to any process: its text makes no sense. */
export interface BadBreakpoint {
  problem: string;
}

export type Mode = 'before' | 'after' | 'before and after' | 'error';

const MODES: Record<Mode, Boundary[]> = {
  before: ['before'],
  after: ['after'],
  'before and after': ['before', 'after'],
  error: ['error'],
};

/** Boundaries of a mode; undefined for a mode that does not exist. */
export function boundariesOf(mode: string): Boundary[] | undefined {
  return Object.hasOwn(MODES, mode) ? MODES[mode as Mode] : undefined;
}

/** A sentence when the hit condition cannot be read. */
export function problemOfHitCondition(text: string | undefined): string | undefined {
  if (text === undefined || /^\s*(==|>=|<=|>|<|%)?\s*\d+\s*$/.test(text)) {
    return undefined;
  }
  return `The hit count "${text}" cannot be read. Use a number, or one of ==5, >5, >=5, <5, %3.`;
}

/** Whether the hit of this number stops; a plain number means that hit alone. */
export function hitTest(text: string): (hits: number) => boolean {
  const [, operator = '==', digits = '0'] = /^\s*(==|>=|<=|>|<|%)?\s*(\d+)\s*$/.exec(text) ?? [];
  const wanted = Number(digits);
  switch (operator) {
    case '>=':
      return (hits) => hits >= wanted;
    case '>':
      return (hits) => hits > wanted;
    case '<=':
      return (hits) => hits <= wanted;
    case '<':
      return (hits) => hits < wanted;
    case '%':
      return (hits) => wanted > 0 && hits % wanted === 0;
    default:
      return (hits) => hits === wanted;
  }
}

/** Equal breakpoints of several clients are one to the debuggee. */
export function keyOf(spec: BreakpointSpec): string {
  return JSON.stringify([
    Object.entries(spec.target).sort(([a], [b]) => (a < b ? -1 : 1)),
    spec.boundaries,
    spec.enabled,
    spec.condition ?? null,
    spec.hitCondition ?? null,
    spec.logMessage ?? null,
    spec.ignoreCount ?? null,
    spec.group ?? null,
    spec.holdSeconds ?? null,
  ]);
}

/** Verified anywhere is verified; the place and the message come from where it is. Hits add up. */
export function mergeStates(states: readonly BreakpointState[]): BreakpointState | undefined {
  const best = states.find((state) => state.verified) ?? states.find((state) => state.message) ?? states[0];
  if (!best) {
    return undefined;
  }
  const hits = states.reduce((sum, state) => sum + (state.hits ?? 0), 0);
  const message = best.message ?? (best.verified ? states.find((s) => s.verified && s.message)?.message : undefined);
  return { ...best, message, hits };
}
