import type { Page } from '../data/page';
import { isEvent } from '../model/kinds';

/** The page's keys, as the help shows them. */
export const KEYS: readonly { keys: string; what: string }[] = [
  { keys: 'A  D   or   ←  →', what: 'Move left and right' },
  { keys: 'W  S   or   ↑  ↓', what: 'Zoom in and out at the pointer' },
  { keys: 'Ctrl + wheel', what: 'Zoom at the pointer' },
  { keys: 'Wheel, Shift + wheel', what: 'Scroll the lanes, move along the run' },
  { keys: 'Alt + ←  →', what: 'Select the previous or next call in the row' },
  { keys: 'Alt + ↑  ↓', what: 'Select the call around, the first call inside' },
  { keys: '[   ]', what: 'Previous and next error' },
  { keys: 'Enter', what: 'Open the facts of the selected call' },
  { keys: 'F', what: 'Zoom to the selected call or range' },
  { keys: '0', what: 'Show the whole run' },
  { keys: '/', what: 'Search; Enter and Shift + Enter go through what was found' },
  { keys: 'Shift + drag   or   R', what: 'Select a range, or what the window shows, and see its figures' },
  { keys: 'C   Shift + C', what: 'Select the call for comparing, compare another one with it' },
  { keys: 'PageUp  PageDown', what: 'Scroll the lanes' },
  { keys: 'Shift + F10', what: 'Menu of the selected call' },
  { keys: 'L', what: 'Collapse or expand the lane of the selected call' },
  { keys: 'T', what: 'Table of the calls in the window' },
  { keys: 'Escape', what: 'Drop the range, close the facts, end the search, drop the selection' },
  { keys: '?', what: 'This help' },
];

export interface KeyActions {
  page: Page;
  /** Where the pointer is, as a moment of the run; the middle of the window when it is elsewhere. */
  pointerTime: () => number;
  scrollBy: (pages: number) => void;
  focusSearch: () => void;
  focusDetail: () => void;
  toggleTable: () => void;
  focusStage: () => void;
  openMenu: () => void;
  openHelp: () => void;
}

/** Does what a key says and tells whether it did. Keys typed into a field are not for the timeline. */
export function handleKey(event: KeyboardEvent, actions: KeyActions): boolean {
  const { page } = actions;
  if (event.ctrlKey || event.metaKey) return false;
  if (event.altKey) {
    const steps: Record<string, 'previous' | 'next' | 'out' | 'in'> = {
      ArrowLeft: 'previous',
      ArrowRight: 'next',
      ArrowUp: 'out',
      ArrowDown: 'in',
    };
    const step = steps[event.key];
    if (step) void page.chooser.step(step);
    return step !== undefined;
  }
  const run: Record<string, () => void> = {
    a: () => page.window.panBy(-0.15),
    d: () => page.window.panBy(0.15),
    ArrowLeft: () => page.window.panBy(-0.15),
    ArrowRight: () => page.window.panBy(0.15),
    w: () => page.window.zoomBy(1.4, actions.pointerTime()),
    s: () => page.window.zoomBy(1 / 1.4, actions.pointerTime()),
    ArrowUp: () => page.window.zoomBy(1.4, actions.pointerTime()),
    ArrowDown: () => page.window.zoomBy(1 / 1.4, actions.pointerTime()),
    f: () => page.window.fitSelection(),
    '0': () => page.window.showWhole(),
    '/': actions.focusSearch,
    '?': actions.openHelp,
    l: () => toggleLane(page),
    r: () => void page.ranger.select(Math.max(0, page.view.from), Math.min(page.now(), page.view.to)),
    t: actions.toggleTable,
    '[': () => void page.chooser.nextError('previous'),
    ']': () => void page.chooser.nextError('next'),
    PageUp: () => actions.scrollBy(-0.8),
    PageDown: () => actions.scrollBy(0.8),
    Enter: actions.focusDetail,
    ContextMenu: actions.openMenu,
    Escape: () => escape(actions),
  };
  if (event.key === 'F10' && event.shiftKey) {
    actions.openMenu();
    return true;
  }
  if (event.key.toLowerCase() === 'c') {
    const call = page.selection?.call;
    if (!call || isEvent(call)) return false;
    if (event.shiftKey) page.comparing.with(call);
    else page.comparing.choose(call);
    return true;
  }
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const act = Object.hasOwn(run, key) ? run[key] : undefined;
  act?.();
  return act !== undefined;
}

/** The lane of the selected call, of a hidden one the lane it is in; without a selection the first. */
function toggleLane(page: Page): void {
  const { byTask, lanes } = page.layout;
  const parents = new Map((page.overview?.lanes ?? []).map((lane) => [lane.task, lane.parent]));
  const seen = new Set<number>();
  let task = page.selection?.call.task ?? lanes[0]?.lane.task;
  while (task !== undefined && !byTask.has(task) && !seen.has(task)) {
    seen.add(task);
    task = parents.get(task);
  }
  if (task === undefined) return;
  page.toggleLane(task);
  const placed = page.layout.byTask.get(task);
  if (placed) page.update({ announcement: `${placed.lane.name}, ${placed.collapsed ? 'collapsed' : 'expanded'}` });
}

/** Takes back one thing at a time. */
function escape({ page, focusStage }: KeyActions): void {
  if (page.range) page.ranger.drop();
  else if (page.selection && page.detailOpen) {
    page.update({ detailOpen: false });
    focusStage();
  } else if (page.search) void page.finder.find('');
  else if (page.selection) page.chooser.select(undefined);
}
