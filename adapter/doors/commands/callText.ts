import type { FoundCall } from '../../../protocol/query';
import { outcomeText, type CallRow, type CallState } from '../../../protocol/timeline';
import { durationText, plainText } from './text';

const SAID: ReadonlySet<CallState> = new Set(['skipped', 'cancelled', 'interrupted']);

/** `lookup_order(order_id=7) → dict (3)`, `✗ refund(amount=700): ValueError: needs approval`, with what was done to it. */
export function callText(row: FoundCall): string {
  const { call } = row;
  const held = call.holds.reduce((sum, { start, end }) => sum + Math.max(0, (end ?? start) - start), 0);
  const notes = [
    ...(call.edited ? ['edited'] : []),
    ...(call.holds.some(({ end }) => end === undefined)
      ? ['held now']
      : held > 0
        ? [`held ${durationText(held)}`]
        : []),
    ...(SAID.has(call.state) ? [call.state] : []),
  ];
  const outcome = outcomeText(call.state, row);
  const text = `${call.state === 'error' ? '✗ ' : ''}${call.name}(${row.arguments ?? ''})${notes.length > 0 ? ` [${notes.join(', ')}]` : ''}${outcome}`;
  return plainText(text);
}

export function lengthText({ start, end, unended }: CallRow): string {
  if (end === undefined) return 'running';
  return `${unended === true ? '≥ ' : ''}${durationText(end - start)}`;
}
