import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { errorText, type CallDetail } from '../../protocol/timeline';
import type { Page } from '../data/page';
import type { Selection } from '../data/selection';
import { endOf } from '../model/bars';
import { isEvent, lookOf, stateWord } from '../model/kinds';
import { formatDuration } from '../model/time';
import { callFacts, callTitle } from '../model/words';
import { breakItems, goToSource } from './actions';
import { CompareTab } from './compareTab';
import { EventTab } from './event';
import { ErrorTab, InputTab, MessagesTab, StackTab, StateTab, TimingTab } from './facts';
import { Ticking, usePageState } from './hooks';
import { MenuButton } from './menu';
import { ValueTree } from './tree';

type Tab = 'Event' | 'Input' | 'Output' | 'Waits For' | 'State' | 'Messages' | 'Error' | 'Stack' | 'Timing' | 'Compare';

/** Everything about the selected call or event. */
export function Detail({ page }: { page: Page }): JSX.Element | null {
  usePageState(page);
  const { selection } = page;
  if (!selection || !page.detailOpen) return null;
  const { call, detail } = selection;
  const tabs = detail ? tabsOf(page, detail) : [];
  const tab = tabs.find((name) => name === page.tab) ?? firstTab(tabs);
  const look = lookOf(call.kind);
  const event = isEvent(call);
  return (
    <section class="detail" aria-label={event ? 'Selected event' : 'Selected call'} id="detail">
      <div class="detail-head">
        <div class="detail-title">
          <span
            class={`codicon codicon-${call.state === 'error' ? 'error' : look.icon} kind-${look.kind}`}
            aria-hidden="true"
          />
          <h2 title={title(selection)}>{title(selection)}</h2>
          <span class="detail-facts">
            {event ? (
              <Ticking page={page} read={() => callFacts(call, page.now()).join(' · ')} />
            ) : (
              <>
                <span>{call.kind}</span>
                <span class={`dot-before${call.state === 'error' ? ' error-text' : ''}`}>{stateWord(call)}</span>
                <span class="dot-before">
                  <Ticking page={page} read={() => formatDuration(endOf(call, page.now()) - call.start)} />
                </span>
              </>
            )}
            {call.edited && <span class="dot-before edited-text">edited</span>}
          </span>
        </div>
        <div
          class="tabs"
          role="tablist"
          aria-label={event ? 'Parts of the event' : 'Parts of the call'}
          onKeyDown={tabKeys}
        >
          {tabs.map((name) => (
            <button
              key={name}
              role="tab"
              id={`tab-${name}`}
              class="tab"
              aria-selected={name === tab}
              aria-controls="tab-panel"
              tabIndex={name === tab ? 0 : -1}
              onClick={() => page.update({ tab: name })}
            >
              {name}
            </button>
          ))}
        </div>
        <div class="detail-actions">
          {detail?.source && (
            <button
              class="button secondary"
              aria-label="Go to source"
              title={`Go to source (${detail.source.path}:${detail.source.line})`}
              onClick={() => goToSource(page, detail)}
            >
              <span class="codicon codicon-go-to-file" aria-hidden="true" />
              <span class="button-text">Go to source</span>
            </button>
          )}
          {!event && (
            <MenuButton
              label="Break here"
              class="button"
              title="Stop at this call when it comes again"
              items={() => (detail ? breakItems(page, detail) : [])}
            >
              <span class="codicon codicon-debug-breakpoint" aria-hidden="true" />
              <span class="button-text">Break here</span>
              <span class="codicon codicon-chevron-down" aria-hidden="true" />
            </MenuButton>
          )}
          <button
            class="tool-button"
            aria-label="Close"
            title="Close (Escape); Enter opens it again"
            onClick={() => page.update({ detailOpen: false })}
          >
            <span class="codicon codicon-close" aria-hidden="true" />
          </button>
        </div>
      </div>
      {detail?.error && tab !== 'Error' && <div class="error-line">{errorText(detail.error)}</div>}
      {!(tab === 'Input' && detail?.inputBefore) &&
        detail?.edits?.map((edit) => (
          <div class="edited-line" key={edit}>
            <span class="codicon codicon-edit" aria-hidden="true" /> Edited while held: {edit}
          </div>
        ))}
      {selection.problem && <div class="error-line">{selection.problem}</div>}
      <div
        class="tab-panel"
        role="tabpanel"
        id="tab-panel"
        tabIndex={-1}
        aria-labelledby={tab && `tab-${tab}`}
        key={`${call.id} ${tab}`}
      >
        {detail && tab ? content(page, detail, tab) : !selection.problem && <Waiting />}
      </div>
    </section>
  );
}

/** Says so only when the answer takes long enough to be noticed. */
function Waiting(): JSX.Element | null {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return late ? <p class="muted">Reading…</p> : null;
}

function title({ call, args, detail }: Selection): string {
  if (args.length === 0 || isEvent(call)) return call.name;
  return callTitle(call.name, args.slice(0, 4), (detail?.input?.root.children ?? 0) > 4);
}

function tabsOf(page: Page, detail: CallDetail): Tab[] {
  if (detail.event) return ['Event'];
  const tabs: Tab[] = [];
  // A node's input is the state; an empty dict would say nothing.
  if (detail.input && (detail.input.root.children > 0 || detail.call.kind !== 'node')) tabs.push('Input');
  if (detail.output) tabs.push(detail.call.state === 'interrupted' ? 'Waits For' : 'Output');
  if (detail.stateBefore || detail.stateAfter || detail.changes?.length) tabs.push('State');
  if (detail.messages?.length) tabs.push('Messages');
  if (detail.error) tabs.push('Error');
  tabs.push('Stack');
  tabs.push('Timing');
  if (page.compared && page.compared.id !== detail.call.id) tabs.push('Compare');
  return tabs;
}

/** An error, or what it waits for, is what one came for; else the input. */
function firstTab(tabs: readonly Tab[]): Tab | undefined {
  return tabs.find((tab) => tab === 'Error' || tab === 'Waits For') ?? tabs[0];
}

function content(page: Page, detail: CallDetail, tab: Tab): JSX.Element | null {
  switch (tab) {
    case 'Event':
      return <EventTab page={page} detail={detail} />;
    case 'Input':
      return <InputTab page={page} detail={detail} />;
    case 'Output':
    case 'Waits For':
      return detail.output ? <ValueTree page={page} handle={detail.output} label={tab} root="result" /> : null;
    case 'State':
      return <StateTab page={page} detail={detail} />;
    case 'Messages':
      return <MessagesTab detail={detail} />;
    case 'Error':
      return <ErrorTab page={page} detail={detail} />;
    case 'Stack':
      return <StackTab page={page} detail={detail} />;
    case 'Compare':
      return <CompareTab page={page} detail={detail} />;
    case 'Timing':
      return <TimingTab page={page} detail={detail} />;
  }
}

function tabKeys(event: KeyboardEvent): void {
  const tabs = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=tab]')];
  const at = tabs.indexOf(event.target as HTMLElement);
  const steps: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 };
  const to = steps[event.key];
  if (to === undefined || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  const tab = tabs[(to + tabs.length) % tabs.length];
  tab?.focus();
  tab?.click();
}
