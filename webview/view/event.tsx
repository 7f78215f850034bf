import type { JSX } from 'preact';
import type { CallDetail } from '../../protocol/timeline';
import type { Page } from '../data/page';
import { formatClock, formatDuration, formatMoment } from '../model/time';
import { heldTime } from '../model/words';
import { Facts, SourceLink } from './facts';
import { ValueTree } from './tree';

/** What is known of something that happened outside of calls. */
export function EventTab({ page, detail }: { page: Page; detail: CallDetail }): JSX.Element | null {
  const { call, event } = detail;
  if (!event) return null;
  const started = page.overview?.run.startedAt ?? '';
  const rows: [string, string][] = [
    ['When', `${formatMoment(call.start, page.now())} into the run (${formatClock(started, call.start)})`],
  ];
  if (call.holds.length > 0)
    rows.push(['Held', `${formatDuration(heldTime(call, page.now()))}${call.end === undefined ? ' so far' : ''}`]);
  return (
    <>
      <pre class={call.state === 'error' ? 'error-message' : 'event-text'}>{event.text}</pre>
      {event.stack.length > 0 && (
        <ol class="stack" aria-label="Where it happened, innermost first">
          {event.stack.map((frame) => (
            <li>
              {frame.function !== '' && <span class="frame-function">{frame.function}</span>}
              {frame.path !== undefined && frame.line !== undefined && (
                <SourceLink page={page} path={frame.path} line={frame.line} />
              )}
            </li>
          ))}
        </ol>
      )}
      <Facts rows={rows} label="Times" />
      {detail.attributes.length > 0 && (
        <Facts rows={detail.attributes.map(({ name, value }) => [name, value])} label="Recorded with it" />
      )}
      {detail.input && <ValueTree page={page} handle={detail.input} label="Recorded with it" />}
    </>
  );
}
