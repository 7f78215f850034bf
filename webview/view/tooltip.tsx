import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { CallRow } from '../../protocol/timeline';
import { withCommas } from '../../protocol/withCommas';
import type { Page } from '../data/page';
import { endOf } from '../model/bars';
import { formatClock, formatDuration, formatMoment } from '../model/time';
import { xOf } from '../model/viewport';
import { callFacts, counted, rough } from '../model/words';
import { useLines } from './hooks';

/** What the pointer rests on, beside the pointer. The live region says the same of the selected call, so this is not read aloud. */
export function Tooltip({ page, call, x, y }: { page: Page; call: CallRow; x: number; y: number }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const line = useLines(page, [call], 0)(call);
  useLayoutEffect(() => {
    const tip = box.current;
    if (!tip) return;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 14, window.innerWidth - width - 4))}px`;
    tip.style.top = `${y + 18 + height > window.innerHeight ? y - height - 8 : y + 18}px`;
  }, [x, y, call.id, line === undefined]);
  const span = page.view.to - page.view.from;
  const clock = formatClock(page.overview?.run.startedAt ?? '', call.start, span);
  return (
    <div class="tooltip" ref={box} aria-hidden="true">
      <div class="tooltip-name">{call.name}</div>
      {line !== undefined && line.given !== '' && <div class="tooltip-line">{line.given}</div>}
      {line !== undefined && line.outcome !== '' && (
        <div class="tooltip-line">{line.outcome.replace(/^[: ]+/, '')}</div>
      )}
      <div>{callFacts(call, page.now()).join(' · ')}</div>
      <div class="muted">
        starts at {formatMoment(call.start, page.now(), span)}
        {clock && ` (${clock})`}
      </div>
      {call.holds.map((hold) => (
        <div class="muted">
          {hold.description} for {formatDuration((hold.end ?? endOf(call, page.now())) - hold.start)} (hatched)
        </div>
      ))}
      {call.edited && <div class="muted">A value was changed while it was held (pencil)</div>}
    </div>
  );
}

/** The sums of the selected range, over its middle. */
export function RangeTotals({ page }: { page: Page }): JSX.Element | null {
  const box = useRef<HTMLDivElement>(null);
  const { range } = page;
  useLayoutEffect(() => {
    const tip = box.current;
    if (!tip || !range) return;
    const place = (): void => {
      const middle = (xOf(page.view, page.width, range.from) + xOf(page.view, page.width, range.to)) / 2;
      const room = tip.parentElement?.clientWidth ?? page.width;
      const width = tip.offsetWidth;
      const last = Math.max(8, room - width - 16);
      // Beside the names of the lanes, where there is room for it.
      tip.style.left = `${Math.min(last, Math.max(room - page.width, room - page.width + middle - width / 2))}px`;
    };
    place();
    return page.onView(place);
  });
  if (!range) return null;
  const { busy, statistics } = range;
  const least = statistics?.sampled ? 'at least ' : '';
  const about = statistics?.approximate ? '≈ ' : '';
  return (
    <div class="range-totals" ref={box} role="status">
      <strong>{formatDuration(range.to - range.from)}</strong>
      {statistics && busy !== undefined ? (
        <>
          <span>
            {least}
            {counted(statistics.calls, 'call')}
          </span>
          <span class={statistics.errors > 0 ? 'error-text' : ''}>{counted(statistics.errors, 'error')}</span>
          <span title="Time in which at least one call ran, and all calls' durations added up: one inside another counts in both">
            busy {range.busyAtLeast ? 'at least ' : ''}
            {formatDuration(busy)} · durations {formatDuration(statistics.total)}
          </span>
          {statistics.p50 !== undefined && statistics.p95 !== undefined && (
            <span title="Half of the calls took no longer than the first, 95 of 100 no longer than the second">
              p50 {about}
              {formatDuration(statistics.p50)} · p95 {about}
              {formatDuration(statistics.p95)}
            </span>
          )}
          {statistics.tokens > 0 && (
            <span>
              {rough(statistics.tokens)} {statistics.tokens === 1 ? 'token' : 'tokens'}
            </span>
          )}
          {statistics.kinds.map(({ kind, calls, total }) => (
            <span class="muted">
              {kind} {least}
              {withCommas(calls)} · {formatDuration(total)}
            </span>
          ))}
        </>
      ) : (
        <span class="muted">Counting…</span>
      )}
      <button
        class="tool-button"
        aria-label="Drop the range"
        title="Drop the range (Escape)"
        onClick={() => page.ranger.drop()}
      >
        <span class="codicon codicon-close" aria-hidden="true" />
      </button>
    </div>
  );
}
