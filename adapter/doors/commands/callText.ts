import type { FoundCall } from '../../../protocol/query';
import { outcomeText, type CallRow, type CallState } from '../../../protocol/timeline';
import { durationText, fit, plainText } from './text';

const SAID: ReadonlySet<CallState> = new Set(['skipped', 'cancelled', 'interrupted']);

/** Where not all has room, what came of a call has so much of it: an error more, since nothing else says why. And so many columns what it was given. */
const OF_ERROR = 0.5;
const OF_RESULT = 0.25;
const LEAST_GIVEN = 12;
/** Fewer columns of a result tell nothing. */
const LEAST_OUTCOME = 16;

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
  const name = plainText(`${call.state === 'error' ? '✗ ' : ''}${call.name}`);
  const noted = notes.length > 0 ? ` [${notes.join(', ')}]` : '';
  const rest = plainText(outcome);
  const left = room - name.length - noted.length - 2;
  const part = Math.floor(left * (row.error === undefined ? OF_RESULT : OF_ERROR));
  const share = part < LEAST_OUTCOME ? 0 : part;
  const given = fit(row.arguments ?? '', Math.max(LEAST_GIVEN, left - Math.min(rest.length, share)));
  return `${name}(${given})${noted}${rest}`;
}

export function lengthText({ start, end, unended }: CallRow): string {
  if (end === undefined) return 'running';
  return `${unended === true ? '≥ ' : ''}${durationText(end - start)}`;
}
