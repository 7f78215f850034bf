import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { damageText, endingText, type RunSummary } from '../../protocol/timeline';
import type { Page } from '../data/page';
import { formatDuration } from '../model/time';
import { runFacts } from '../model/words';
import { Ticking } from './hooks';
import { usePopup } from './menu';

/** The run's title, and below it when pressed the list of runs, newest first. */
export function RunChooser({ page, facts }: { page: Page; facts: string[] }): JSX.Element | null {
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const [tip, setTip] = useState(false);
  const run = page.overview?.run ?? page.runs.find((one) => one.file === page.file);
  if (!run) return <span class="run-title muted">Toolbreak Timeline</span>;
  const bad = [run.ending && run.ending.how !== 'stopped' && endingText(run.ending), damageText(run)];
  const lookOfFact = (fact: string, index: number): string => {
    if (/error/.test(fact) || bad.includes(fact)) return 'error-text';
    return index === 0 ? 'run-length' : / calls?$/.test(fact) ? 'run-calls' : 'run-more';
  };
  const box = open ? button.current?.getBoundingClientRect() : undefined;
  return (
    <>
      <button
        ref={button}
        class="run-title"
        aria-haspopup="listbox"
        aria-expanded={open}
        aria-label={`Run ${run.number}, ${run.name}, ${facts.join(', ')}. Choose a run`}
        // Not before it is wanted: a language's first words take a browser 15 ms.
        title={tip ? `Started ${when(run)}` : undefined}
        onPointerEnter={() => setTip(true)}
        onFocus={() => setTip(true)}
        onClick={() => setOpen(!open)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' || open) return;
          event.preventDefault();
          event.stopPropagation();
          setOpen(true);
        }}
      >
        <span class="run-number">run {run.number}</span>
        <span class="dot-before run-name">{run.name}</span>
        {run.live && <LiveBadge />}
        {facts.map((fact, index) => (
          <span class={`run-fact dot-before ${lookOfFact(fact, index)}`}>
            {index === 0 && run.live ? <Ticking page={page} read={() => formatDuration(page.now())} /> : fact}
          </span>
        ))}
        <span class="codicon codicon-chevron-down" aria-hidden="true" />
      </button>
      {box && (
        <RunList
          page={page}
          place={{ x: box.left, y: box.bottom + 2 }}
          close={() => setOpen(false)}
          choose={(file) => {
            setOpen(false);
            void page.show(file);
          }}
        />
      )}
    </>
  );
}

interface ListProps {
  page: Page;
  place: { x: number; y: number };
  close: () => void;
  choose: (file: string) => void;
}

function RunList({ page, place, close, choose }: ListProps): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const { runs } = page;
  // By its file: a run that begins meanwhile moves the others.
  const [chosen, setChosen] = useState(page.file);
  const active = Math.max(
    0,
    runs.findIndex((run) => run.file === chosen),
  );
  const setActive = (index: number): void => setChosen(runs[index]?.file);
  usePopup(list, place, close);
  useLayoutEffect(() => list.current?.focus(), []);
  useLayoutEffect(() => {
    list.current?.querySelector(`#run-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const last = runs.length - 1;
    const moves: Record<string, () => void> = {
      ArrowDown: () => setActive(Math.min(last, active + 1)),
      ArrowUp: () => setActive(Math.max(0, active - 1)),
      PageDown: () => setActive(Math.min(last, active + 10)),
      PageUp: () => setActive(Math.max(0, active - 10)),
      Home: () => setActive(0),
      End: () => setActive(last),
      Escape: close,
      Tab: close,
      Enter: () => runs[active] && choose(runs[active].file),
      ' ': () => runs[active] && choose(runs[active].file),
    };
    event.stopPropagation();
    const act = moves[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  return (
    <div
      class="menu run-list"
      ref={list}
      role="listbox"
      aria-label="Runs, newest first"
      tabIndex={-1}
      aria-activedescendant={`run-${active}`}
      onKeyDown={onKeyDown}
    >
      {runs.map((run, index) => (
        <div
          id={`run-${index}`}
          key={run.file}
          role="option"
          aria-selected={run.file === page.file}
          class={`run-option${index === active ? ' active' : ''}`}
          // Not when the list scrolls below a pointer that rests.
          onMouseMove={() => setActive(index)}
          onClick={() => choose(run.file)}
        >
          <span class={`codicon codicon-${run.file === page.file ? 'check' : 'blank'}`} aria-hidden="true" />
          <span class="run-number">run {run.number}</span>
          <span class="run-name">{run.name}</span>
          {run.live && <LiveBadge />}
          <span class="spring" />
          <span class={`run-facts ${run.problem ? 'error-text' : 'muted'}`}>
            {run.problem
              ? 'cannot be read'
              : runFacts(run)
                  .slice(0, run.ending ? 4 : 3)
                  .join(' · ')}
          </span>
          <span class="run-when muted">{when(run)}</span>
        </div>
      ))}
    </div>
  );
}

function LiveBadge(): JSX.Element {
  return (
    <span class="live-badge">
      <span class="codicon codicon-circle-filled" aria-hidden="true" />
      live
    </span>
  );
}

/** `14:03` today, `Nov 21, 14:03` before. */
function when(run: RunSummary): string {
  const date = new Date(run.startedAt);
  if (Number.isNaN(date.getTime())) return '';
  const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return date.toDateString() === new Date().toDateString()
    ? time
    : `${date.toLocaleDateString([], { month: 'short', day: 'numeric' })}, ${time}`;
}
