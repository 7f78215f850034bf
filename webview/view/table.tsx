import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { CallRow } from '../../protocol/timeline';
import { withCommas } from '../../protocol/withCommas';
import type { LineText } from '../data/lines';
import { TABLE_LIMIT, type Page } from '../data/page';
import { isFound } from '../data/search';
import { endOf } from '../model/bars';
import { isEvent, lookOf, stateWord } from '../model/kinds';
import { byStart } from '../model/neighbours';
import { formatClock, formatDuration, formatMoment } from '../model/time';
import { counted, heldTime } from '../model/words';
import { useLines, usePageState, usePageView } from './hooks';

const ROW = 22;
const COLUMNS = ['Start', 'Call', 'Kind', 'State', 'Time', 'Tokens', 'Held', 'Lane'] as const;
type Column = (typeof COLUMNS)[number];
const BY_START = { column: 'Start', down: false } as const;

/** The calls of the window as a table: the facts of the lanes for a screen reader, and for sorting. */
export function Table({
  page,
  openMenu,
}: {
  page: Page;
  openMenu: (call: CallRow, place: { x: number; y: number }) => void;
}): JSX.Element {
  usePageState(page);
  usePageView(page);
  const head = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState({ top: 0, height: 600 });
  const [chosen, setSort] = useState<{ column: Column; down: boolean }>(BY_START);
  // Of most programs no call has any.
  const hasTokens = (page.overview?.run.tokens ?? 0) > 0;
  // The run that is shown now may not have the column.
  const sort = chosen.column === 'Tokens' && !hasTokens ? BY_START : chosen;
  const { rows, left, atLeast, chosen: isChosen } = useWindowCalls(page);
  const lanes = new Map((page.overview?.lanes ?? []).map((lane) => [lane.task, lane.name]));
  const now = page.now();
  const sorted = useMemo(() => {
    const shown = rows
      .filter((call) => isChosen || page.matches(call))
      .sort((a, b) => compare(a, b, sort.column, now, lanes));
    return sort.down ? shown.reverse() : shown;
  }, [rows, sort, page.search, page.hiddenKinds.size, page.errorsOnly]);
  const selected = sorted.findIndex((call) => call.id === page.selection?.call.id);
  useLayoutEffect(() => {
    const element = body.current;
    if (!element || selected < 0) return;
    const top = selected * ROW;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW > element.scrollTop + element.clientHeight) element.scrollTop = top + ROW - element.clientHeight;
  }, [selected]);
  useEffect(() => {
    const element = body.current;
    if (element) setScroll({ top: element.scrollTop, height: element.clientHeight });
  }, []);
  const first = Math.max(0, Math.floor(scroll.top / ROW) - 5);
  const shown = sorted.slice(first, first + Math.ceil(scroll.height / ROW) + 10);
  const lineOf = useLines(page, shown, 60);
  const onKeyDown = (event: KeyboardEvent): void => {
    const page_ = Math.max(1, Math.floor(scroll.height / ROW) - 1);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page_,
      PageUp: -page_,
      Home: -Infinity,
      End: Infinity,
    };
    const step = steps[event.key];
    if (step === undefined || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const last = sorted.length - 1;
    const to = selected >= 0 ? Math.min(last, Math.max(0, selected + step)) : step === Infinity ? last : 0;
    page.chooser.select(sorted[to], { open: page.detailOpen });
  };
  const columns = COLUMNS.filter((column) => column !== 'Tokens' || hasTokens);
  const started = page.overview?.run.startedAt ?? '';
  const span = page.view.to - page.view.from;
  const clock = (time: number): string => formatClock(started, time, span);
  const moment = (time: number): string => formatMoment(time, now, span);
  const startOf = page.clock && clock(0) !== '' ? clock : moment;
  return (
    <div
      class={`table${hasTokens ? ' with-tokens' : ''}`}
      style={{ '--start': `${startOf(now).length}ch` }}
      role="grid"
      aria-label="Calls in the window"
      aria-rowcount={sorted.length + 1}
      aria-colcount={columns.length}
      tabIndex={0}
      aria-activedescendant={selected >= 0 ? `call-${selected}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div class="table-row table-head" ref={head} role="row" aria-rowindex={1}>
        {columns.map((column) => (
          <div
            class={`cell col-${column}`}
            role="columnheader"
            aria-sort={sort.column === column ? (sort.down ? 'descending' : 'ascending') : 'none'}
          >
            <button onClick={() => setSort({ column, down: sort.column === column && !sort.down })}>
              {column}
              {sort.column === column && (
                <span class={`codicon codicon-${sort.down ? 'arrow-down' : 'arrow-up'}`} aria-hidden="true" />
              )}
            </button>
          </div>
        ))}
      </div>
      <div
        class="table-body"
        ref={body}
        role="rowgroup"
        tabIndex={-1}
        onScroll={(event) => {
          const { scrollTop: top, scrollLeft, clientHeight: height } = event.currentTarget;
          if (head.current) head.current.style.transform = `translateX(${-scrollLeft}px)`;
          setScroll({ top, height });
        }}
      >
        <div class="table-space" role="presentation" style={{ height: `${sorted.length * ROW}px` }}>
          {shown.map((call, offset) => {
            const index = first + offset;
            return (
              <div
                key={call.id}
                id={`call-${index}`}
                role="row"
                aria-rowindex={index + 2}
                aria-selected={index === selected}
                class={`table-row${index === selected ? ' selected' : ''}`}
                style={{ top: `${index * ROW}px` }}
                onClick={() => page.chooser.select(call)}
                onContextMenu={(event) => {
                  event.preventDefault();
                  page.chooser.select(call);
                  openMenu(call, { x: event.clientX, y: event.clientY });
                }}
              >
                <span role="gridcell" class="cell col-Start" title={(page.clock ? moment : clock)(call.start)}>
                  {startOf(call.start)}
                </span>
                <span role="gridcell" class="cell col-Call">
                  <span
                    class={`codicon codicon-${lookOf(call.kind).icon} kind-${lookOf(call.kind).kind}`}
                    aria-hidden="true"
                  />
                  <span class="call-name">{call.name}</span>
                  {call.edited && <span class="edited-text">{' edited '}</span>}
                  <Said line={lineOf(call)} />
                </span>
                <span role="gridcell" class="cell col-Kind">
                  {call.kind}
                </span>
                <span role="gridcell" class={`cell col-State${call.state === 'error' ? ' error-text' : ''}`}>
                  {call.state === 'error' ? '! ' : ''}
                  {stateWord(call)}
                </span>
                <span role="gridcell" class="cell col-Time">
                  {isEvent(call) && call.end === call.start ? '' : formatDuration(endOf(call, now) - call.start)}
                </span>
                {hasTokens && (
                  <span role="gridcell" class="cell col-Tokens">
                    {call.tokens === undefined ? '' : withCommas(call.tokens)}
                  </span>
                )}
                <span role="gridcell" class="cell col-Held">
                  {call.holds.length > 0 ? formatDuration(heldTime(call, now)) : ''}
                </span>
                <span role="gridcell" class="cell col-Lane">
                  {lanes.get(call.task) ?? ''}
                </span>
              </div>
            );
          })}
        </div>
        {sorted.length === 0 && (
          <p class="empty-line">
            {atLeast
              ? 'No call that was looked at matches in this part of the run.'
              : isChosen && page.search?.first
                ? 'No call that begins in this part of the run matches.'
                : 'No calls match in this part of the run.'}
          </p>
        )}
      </div>
      {left > 0 && (
        <div class="table-foot muted">
          {isChosen
            ? 'Listed are the first calls of this part of the run that match.'
            : 'Listed are the longest calls of this part of the run, and those that failed.'}{' '}
          {atLeast && 'At least '}
          {counted(left, 'other')} {left === 1 ? 'is' : 'are'} not: zoom in to see {left === 1 ? 'it' : 'them'}.
        </div>
      )}
    </div>
  );
}

function Said({ line }: { line: LineText | undefined }): JSX.Element | null {
  return line === undefined ? null : (
    <span class="said muted" title={line.given + line.outcome}>
      <span>{line.given}</span>
      <span>{line.outcome}</span>
    </span>
  );
}

interface WindowCalls {
  rows: CallRow[];
  left: number;
  atLeast?: boolean;
  /** They pass a search or a filter. */
  chosen?: boolean;
}

/**
 * All calls of the window however short, fetched again when the window has come to rest or the run grew. There is room for the longest ones: a
 * search and the filters are asked for on their own, or they would choose among these alone.
 */
function useWindowCalls(page: Page): WindowCalls {
  const [found, setFound] = useState<WindowCalls>({ rows: [], left: 0 });
  const { file, view, overview, search } = page;
  const answered = search?.done && search.problem === undefined ? search : undefined;
  const isChosen = page.errorsOnly || page.hiddenKinds.size > 0 || answered !== undefined;
  useEffect(() => {
    if (file === undefined || !overview) return;
    let current = true;
    const timer = setTimeout(() => {
      const all = page.ask('calls', { file, from: view.from, to: view.to, minimum: 0, limit: TABLE_LIMIT });
      const chosen = isChosen ? page.finder.inWindow(TABLE_LIMIT) : undefined;
      Promise.all([all, chosen]).then(
        ([{ calls, left }, those]) => {
          if (!current) return;
          if (!isChosen) return setFound({ rows: calls, left });
          // With those that began before the window, as far as they are known.
          const known = [...(answered?.calls ?? []), ...calls].filter(
            (call) =>
              call.start <= view.to &&
              (call.end ?? call.start) >= view.from &&
              page.passes(call) &&
              (!answered || isFound(answered, call) === true),
          );
          const rows = new Map([...known, ...(those?.calls ?? [])].map((call) => [call.id, call]));
          const atLeast = those ? those.atLeast === true : answered?.first !== undefined;
          setFound({ rows: [...rows.values()], left: those?.left ?? 0, atLeast, chosen: true });
        },
        (error: unknown) => current && page.update({ problem: error instanceof Error ? error.message : String(error) }),
      );
    }, 60);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [
    file,
    Math.round(view.from),
    overview?.run.live ? overview : Math.round(view.to),
    answered?.text,
    page.errorsOnly,
    page.hiddenKinds.size,
  ]);
  return found;
}

function compare(a: CallRow, b: CallRow, column: Column, now: number, lanes: ReadonlyMap<number, string>): number {
  const text = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : byStart(a, b));
  switch (column) {
    case 'Start':
      return byStart(a, b);
    case 'Call':
      return text(a.name, b.name);
    case 'Kind':
      return text(a.kind, b.kind);
    case 'State':
      return text(stateWord(a), stateWord(b));
    case 'Time':
      return endOf(a, now) - a.start - (endOf(b, now) - b.start) || byStart(a, b);
    case 'Tokens':
      return (a.tokens ?? 0) - (b.tokens ?? 0) || byStart(a, b);
    case 'Held':
      return heldTime(a, now) - heldTime(b, now) || byStart(a, b);
    case 'Lane':
      return text(lanes.get(a.task) ?? '', lanes.get(b.task) ?? '');
  }
}
