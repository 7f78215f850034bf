import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CallRow } from '../../protocol/timeline';
import type { Page } from '../data/page';
import { nothingFound, type Search } from '../data/search';
import type { Host } from '../host';
import { searchWords } from '../model/searchWords';
import { callFacts } from '../model/words';
import { callItems } from './actions';
import { Detail } from './detail';
import { Empty } from './empty';
import { Header } from './header';
import { Help } from './help';
import { usePageState } from './hooks';
import { handleKey } from './keys';
import { Menu, type Place } from './menu';
import { Minimap } from './minimap';
import { Split, useShape } from './split';
import { Stage, type StageHandle } from './stage';
import { Table } from './table';

export function App({ page, host }: { page: Page; host: Host }): JSX.Element {
  usePageState(page);
  const search = useRef<HTMLInputElement>(null);
  const stage = useRef<StageHandle>(undefined);
  const [help, setHelp] = useState(false);
  const [menu, setMenu] = useState<{ call: CallRow; place: Place }>();
  const shape = useShape();

  const focusMain = (): void => (stage.current ? stage.current.focus() : focusTable());
  const focusDetail = (): void => {
    if (!page.selection) return;
    page.update({ detailOpen: true });
    // The tabs appear with the call's facts, which may still be on their way.
    const focus = (): void => {
      requestAnimationFrame(() => {
        const tab = document.querySelector<HTMLElement>('#detail [role=tab][aria-selected=true]');
        tab?.focus();
        if (tab || !page.selection) stop();
      });
    };
    const stop = page.onState(focus);
    focus();
  };
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (target.closest('input, textarea, dialog')) return;
      // Buttons, tabs and trees have their own Enter and arrows; the rest of the keys work everywhere.
      const owned =
        target.closest('button, .detail, .minimap, .sash') !== null &&
        /^(Enter|Arrow|Page|Context| )/.test(event.key) &&
        !event.altKey;
      if (owned) return;
      const did = handleKey(event, {
        page,
        pointerTime: () => stage.current?.pointerTime() ?? (page.view.from + page.view.to) / 2,
        scrollBy: (pages) => stage.current?.scrollBy(pages),
        focusSearch: () => {
          search.current?.focus();
          search.current?.select();
        },
        focusDetail,
        toggleTable: () => {
          page.update({ table: !page.table });
          requestAnimationFrame(focusMain);
        },
        focusStage: focusMain,
        openMenu: () => {
          const call = page.selection?.call;
          const place = stage.current?.selectedPlace() ?? rowPlace() ?? { x: 40, y: 80 };
          if (call) setMenu({ call, place });
        },
        openHelp: () => setHelp(true),
      });
      if (!did) return;
      event.preventDefault();
      // VS Code would take some of these keys for itself.
      event.stopPropagation();
    };
    document.body.addEventListener('keydown', onKeyDown);
    // A live run grows; ten pictures a second are enough for that, and fewer for a long one.
    const clock = setInterval(() => {
      if (!document.hidden) page.tick();
    }, 100);
    return () => {
      document.body.removeEventListener('keydown', onKeyDown);
      clearInterval(clock);
    };
  }, [page]);

  useFocusThatStays(focusMain);

  const openMenu = (call: CallRow, place: Place): void => setMenu({ call, place });
  const hasLanes = (page.overview?.lanes.length ?? 0) > 0;
  const detailShown = page.selection !== undefined && page.detailOpen;
  return (
    <div class={`app${shape.low ? ' low' : ''}`}>
      <Header page={page} searchField={search} openHelp={() => setHelp(true)} focusStage={focusMain} />
      {page.problem && hasLanes && (
        <div class="problem" role="alert">
          <span class="codicon codicon-warning" aria-hidden="true" /> {page.problem}
        </div>
      )}
      {hasLanes && <Minimap page={page} />}
      {hasLanes && <NoCalls page={page} />}
      <Empty page={page} />
      {hasLanes && (
        <Split host={host} side={shape.side} detail={detailShown && <Detail page={page} />}>
          <div class="main">
            {page.table ? (
              <Table page={page} openMenu={openMenu} />
            ) : (
              <Stage page={page} handle={stage} openMenu={openMenu} />
            )}
            {page.search?.done && page.search.total === 0 && <NoMatch page={page} search={page.search} />}
          </div>
        </Split>
      )}
      {menu && (
        <Menu
          label={`Actions of ${menu.call.name}`}
          items={callItems(page, menu.call)}
          place={menu.place}
          close={() => setMenu(undefined)}
        />
      )}
      {help && <Help close={() => setHelp(false)} />}
      <Notice page={page} />
      <Announcer page={page} />
    </div>
  );
}

/** Where what had the focus is gone, such as a button that closed its own part of the page, `focusMain` gets it: keys go on to work. */
function useFocusThatStays(focusMain: () => void): void {
  const last = useRef<Element>(undefined);
  useEffect(() => {
    const focused = (event: FocusEvent): void => void (last.current = event.target as Element);
    document.addEventListener('focusin', focused);
    return () => document.removeEventListener('focusin', focused);
  }, []);
  useLayoutEffect(() => {
    // Not from the editor, where the person may type.
    if (!document.hasFocus() || last.current?.isConnected !== false || document.activeElement !== document.body) return;
    last.current = undefined;
    focusMain();
  });
}

function focusTable(): void {
  document.querySelector<HTMLElement>('.table')?.focus();
}

/** Below the selected row of the table, where it is in sight. */
function rowPlace(): Place | undefined {
  const row = document.querySelector('.table-row.selected')?.getBoundingClientRect();
  return row && { x: row.left + 24, y: row.bottom };
}

/** Only what happened around calls is there: why there are none. A native program has none to record. */
function NoCalls({ page }: { page: Page }): JSX.Element | null {
  const run = page.overview?.run;
  if (!run || run.calls > 0 || run.live || run.languages?.some((language) => language.startsWith('native')))
    return null;
  return (
    <div class="no-calls" role="note">
      No calls in this run. Functions are recorded when they have a breakpoint, or when "record" in launch.json names
      them.
    </div>
  );
}

/** The live region says the first sentence of it. */
function NoMatch({ page, search }: { page: Page; search: Search }): JSX.Element {
  const { problem, text, notes = [], cursor } = search;
  if (problem !== undefined) return <div class="no-match">{problem}</div>;
  const isFiltered = page.hiddenKinds.size > 0 || page.errorsOnly;
  const { query, conditions } = searchWords(text);
  const isName = query === undefined && conditions === undefined;
  return (
    <div class="no-match">
      {nothingFound(search)}
      {isFiltered && ' Some calls are filtered out: see the filter button.'}
      {!isFiltered &&
        isName &&
        ' The search looks at the names of calls and at what happened beside them; value:"..." looks into arguments and results. The help (?) has more such words.'}
      {notes.map((note) => ` ${note}`)}
      {cursor !== undefined && (
        <button class="text-button" onClick={() => void page.finder.goOn()}>
          Search On
        </button>
      )}
    </div>
  );
}

/** Says what was selected and what came of a command, for those who do not see it. */
function Announcer({ page }: { page: Page }): JSX.Element {
  const call = page.selection?.call;
  const [said, setSaid] = useState({ text: '', count: 0 });
  const say = (text: string): void => setSaid(({ count }) => ({ text, count: count + 1 }));
  useEffect(() => {
    if (call) say(`${call.name}, ${callFacts(call, page.now()).join(', ')}`);
  }, [call?.id, call?.state]);
  useEffect(() => {
    if (page.announcement !== '') say(page.announcement);
  }, [page.announced]);
  return (
    <div class="spoken" role="status" aria-live="polite">
      {/* What is said twice is read twice only where it is new to the region. */}
      <span key={said.count}>{said.text}</span>
    </div>
  );
}

/** Milliseconds for which a notice is shown, and for each of its letters. */
const SHOWN = 2500;
const SHOWN_LETTER = 40;

/** What came of a command, shown for a moment over the rest of the page. The live region says it, so this is not read aloud. */
function Notice({ page }: { page: Page }): JSX.Element | null {
  const { notice } = page;
  const [past, setPast] = useState<Page['notice']>();
  useEffect(() => {
    if (!notice) return;
    const timer = setTimeout(() => setPast(notice), SHOWN + SHOWN_LETTER * notice.text.length);
    return () => clearTimeout(timer);
  }, [notice]);
  if (!notice || notice === past) return null;
  return (
    <div class="notice" aria-hidden="true">
      {notice.text}
    </div>
  );
}
