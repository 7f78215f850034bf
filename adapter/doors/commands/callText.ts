import type { FoundCall } from '../../../protocol/query';
import { outcomeText, type CallRow, type CallState } from '../../../protocol/timeline';
import { durationText, fit, plainText } from './text';

const SAID: ReadonlySet<CallState> = new Set(['skipped', 'cancelled', 'interrupted']);

/** What came of a call is told where not all has room: so much of it at least, and so many columns of what the call was given. */
const OF_OUTCOME = 0.6;
const LEAST_GIVEN = 12;

/** `lookup_order(order_id=7) → dict (3)`, `✗ refund(amount=700): ValueError: needs approval`, with what was done to it. */
export function callText(row: FoundCall, room = Infinity): string {
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
  const [name, given] = [`${call.state === 'error' ? '✗ ' : ''}${call.name}`, row.arguments ?? ''];
  const rest = plainText(`${notes.length > 0 ? ` [${notes.join(', ')}]` : ''}${outcome}`);
  const left = room - name.length - 2 - Math.min(rest.length, Math.floor((room - name.length) * OF_OUTCOME));
  return `${plainText(name)}(${fit(given, Math.max(LEAST_GIVEN, left))})${rest}`;
}

export function lengthText({ start, end, unended }: CallRow): string {
  if (end === undefined) return 'running';
  return `${unended === true ? '≥ ' : ''}${durationText(end - start)}`;
}
