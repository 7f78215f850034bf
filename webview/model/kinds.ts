import type { CallRow } from '../../protocol/timeline';

/** How a kind of call is told from others: an icon and a colour, never colour alone. Its name is always in the text too. */
export interface KindLook {
  kind: string;
  /** Name of a codicon. */
  icon: string;
  /** Theme token, without the leading `--`. */
  colour: string;
}

const LOOKS: readonly KindLook[] = [
  { kind: 'workflow', icon: 'type-hierarchy', colour: 'vscode-charts-purple' },
  { kind: 'node', icon: 'circle-large', colour: 'vscode-charts-blue' },
  { kind: 'tool', icon: 'wrench', colour: 'vscode-charts-orange' },
  { kind: 'llm', icon: 'sparkle', colour: 'vscode-charts-green' },
  { kind: 'http', icon: 'globe', colour: 'vscode-charts-yellow' },
  { kind: 'function', icon: 'symbol-method', colour: 'vscode-descriptionForeground' },
  { kind: 'native', icon: 'chip', colour: 'vscode-descriptionForeground' },
  { kind: 'event', icon: 'milestone', colour: 'vscode-charts-blue' },
];

const OTHER: KindLook = { kind: 'other', icon: 'symbol-misc', colour: 'vscode-descriptionForeground' };

export const KINDS: readonly string[] = LOOKS.map((look) => look.kind);

const BY_KIND = new Map(LOOKS.map((look) => [look.kind, look]));

export function lookOf(kind: string): KindLook {
  return BY_KIND.get(kind) ?? OTHER;
}

export function allLooks(): readonly KindLook[] {
  return [...LOOKS, OTHER];
}

export function isHeld(call: CallRow): boolean {
  return call.holds.some((hold) => hold.end === undefined);
}

/** No call, but something that happened outside of calls. */
export function isEvent(call: CallRow): boolean {
  return call.kind === 'event';
}

/** The state in a word, of events without one that says something: `held`, `running`, `returned`, `error`, `cancelled`, `skipped`, `interrupted`. */
export function stateWord(call: CallRow): string {
  if (call.state === 'running' && isHeld(call)) return 'held';
  if (isEvent(call)) return call.state === 'error' ? 'crash' : '';
  return call.state;
}
