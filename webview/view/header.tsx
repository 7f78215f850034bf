import type { JSX, TargetedKeyboardEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { withCommas } from '../../protocol/withCommas';
import type { Page } from '../data/page';
import type { Search } from '../data/search';
import { KINDS } from '../model/kinds';
import { SEARCH_WORDS } from '../model/searchWords';
import { runFacts } from '../model/words';
import { usePageState } from './hooks';
import { MenuButton, type MenuItem } from './menu';
import { RunChooser } from './runs';

interface Props {
  page: Page;
  searchField: { current: HTMLInputElement | null };
  openHelp: () => void;
  focusStage: () => void;
}

export function Header({ page, searchField, openHelp, focusStage }: Props): JSX.Element {
  usePageState(page);
  const run = page.overview?.run ?? page.runs.find((one) => one.file === page.file);
  const live = run?.live ?? false;
  const filtered = page.hiddenKinds.size > 0 || page.errorsOnly;
  const kinds = (): MenuItem[] => [
    ...KINDS.map((kind) => ({
      label: kind,
      checked: !page.hiddenKinds.has(kind),
      stays: true,
      run: () => page.toggleKind(kind),
    })),
    {
      label: 'Errors only',
      checked: page.errorsOnly,
      stays: true,
      separated: true,
      run: () => page.toggleErrorsOnly(),
    },
  ];
  const more = (): MenuItem[] => [
    { label: 'Show Whole Run', keys: '0', icon: 'screen-full', run: () => page.window.showWhole() },
    {
      label: 'Fit Selection',
      keys: 'F',
      icon: 'screen-normal',
      disabled: !page.selection && !page.range,
      run: () => page.window.fitSelection(),
    },
    { label: 'Previous Error', keys: '[', icon: 'arrow-left', run: () => void page.chooser.nextError('previous') },
    { label: 'Next Error', keys: ']', icon: 'arrow-right', run: () => void page.chooser.nextError('next') },
    { label: 'Collapse All', icon: 'collapse-all', separated: true, run: () => page.collapseAll(true) },
    { label: 'Expand All', icon: 'expand-all', run: () => page.collapseAll(false) },
    { label: 'Clock Times', checked: page.clock, separated: true, run: () => page.update({ clock: !page.clock }) },
    { label: 'Signs, Search and Keys', keys: '?', icon: 'question', separated: true, run: openHelp },
  ];
  return (
    <header class="header">
      <RunChooser page={page} facts={run ? runFacts(run, live ? page.now() : run.duration) : []} />
      <span class="spring" />
      <SearchField page={page} field={searchField} focusStage={focusStage} />
      <MenuButton
        label="Filter kinds of calls"
        class={`tool-button${filtered ? ' on' : ''}`}
        title={filtered ? 'Kinds (filtered)' : 'Kinds'}
        items={kinds}
      >
        <span class={`codicon codicon-filter${filtered ? '-filled' : ''}`} aria-hidden="true" />
      </MenuButton>
      {live && (
        <button
          class={`tool-button${page.follow ? ' on' : ''}`}
          aria-pressed={page.follow}
          aria-label="Follow the run"
          title={page.follow ? 'Following the run. Press to stay here' : 'Follow the run'}
          onClick={() => page.window.setFollow(!page.follow)}
        >
          <span class={`codicon codicon-${page.follow ? 'record' : 'circle-large'}`} aria-hidden="true" />
        </button>
      )}
      <button
        class={`tool-button${page.table ? ' on' : ''}`}
        aria-pressed={page.table}
        aria-label="Table"
        title="Table of the calls in the window (T)"
        onClick={() => page.update({ table: !page.table })}
      >
        <span class="codicon codicon-table" aria-hidden="true" />
      </button>
      <button class="tool-button" aria-label="Help" title="What the signs mean, and the keys (?)" onClick={openHelp}>
        <span class="codicon codicon-question" aria-hidden="true" />
      </button>
      <MenuButton label="More" items={more}>
        <span class="codicon codicon-ellipsis" aria-hidden="true" />
      </MenuButton>
    </header>
  );
}

const SEARCH_HELP = `A name, or tool:name, or words of an event, such as printed ones. Also, alone or together:
${SEARCH_WORDS.map(({ word }) => word).join('   ')}
The help (?) explains these. Enter goes to the next match, Shift+Enter to the previous one`;

function partSearched({ looked = 0 }: Search): string {
  return `There may be more: ${looked > 0 ? `the first ${withCommas(looked)} calls were` : 'not all of the run was'} looked through`;
}

/** Searches while it is typed, a moment after the last letter. */
function SearchField({
  page,
  field,
  focusStage,
}: {
  page: Page;
  field: { current: HTMLInputElement | null };
  focusStage: () => void;
}): JSX.Element {
  const [text, setText] = useState('');
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  const found = page.search;
  // Another run, Escape and "Find calls like this" change the search from outside.
  useEffect(() => {
    if (document.activeElement !== field.current || found === undefined) setText(found?.text ?? '');
  }, [found?.text]);
  const asked = useRef<{ text: string; answered: Promise<boolean> }>(undefined);
  const find = (value: string): Promise<boolean> => {
    clearTimeout(waiting.current);
    const answered = page.finder.find(value);
    asked.current = { text: value, answered };
    return answered;
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>): void => {
    if (event.key === 'Escape') {
      setText('');
      void find('');
      focusStage();
    } else if (event.key === 'Enter') {
      const direction = event.shiftKey ? 'previous' : 'next';
      // What was typed a moment ago may not have been asked yet, or its answer may be on its way.
      const { value } = event.currentTarget;
      const before = page.search?.text === value ? asked.current : undefined;
      const answered = before?.text === value ? before.answered : find(value);
      void answered.then((isAnswered) => isAnswered && page.finder.step(direction));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  // Where those of the window are among all of them nobody knows.
  const at = (found?.first ?? found?.calls)?.findIndex((call) => call.id === page.selection?.call.id) ?? -1;
  const total = found === undefined ? '' : `${withCommas(found.total)}${found.atLeast ? '+' : ''}`;
  const said = !found?.done
    ? ''
    : found.total === 0
      ? found.atLeast
        ? 'None yet'
        : 'No match'
      : at >= 0
        ? `${withCommas(at + 1)} of ${total}`
        : `${total} found`;
  return (
    <div class={`search${found?.done && found.total === 0 ? ' nothing' : ''}`} role="search">
      <span class="codicon codicon-search" aria-hidden="true" />
      <input
        ref={field}
        type="text"
        placeholder="Search calls ( / )"
        title={SEARCH_HELP}
        aria-label="Search calls"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          const { value } = event.currentTarget;
          setText(value);
          clearTimeout(waiting.current);
          waiting.current = setTimeout(() => void find(value), 120);
        }}
        onKeyDown={onKeyDown}
      />
      <span class="search-count" title={found?.problem ?? (found?.atLeast ? partSearched(found) : undefined)}>
        {found?.problem ? 'Failed' : said}
      </span>
      {found?.done && found.notes && (
        <span
          class="codicon codicon-info"
          role="img"
          aria-label={found.notes.join(' ')}
          title={found.notes.join('\n')}
        />
      )}
      {found?.done && found.total > 0 && found.cursor !== undefined && (
        <button class="text-button" title={partSearched(found)} onClick={() => void page.finder.goOn()}>
          Search On
        </button>
      )}
    </div>
  );
}
