import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ReaderMethods, ValueHandle, ValueNode, ValuePlace } from '../../protocol/timeline';
import { withCommas } from '../../protocol/withCommas';
import type { Page } from '../data/page';
import { isSearched, type ValueRoot } from '../model/searchWords';
import { sentence } from '../data/sentence';
import { withoutLength } from '../model/words';
import { Menu, type Place } from './menu';

/** Rows of a level that come at a time. */
export const CHUNK = 100;
/** As many again as are shown, and no more than these at once. */
const LARGEST_CHUNK = 1000;

interface TreeProps {
  page: Page;
  handle: ValueHandle;
  label: string;
  /** Whose value it is, where calls can be asked for it. */
  root?: ValueRoot;
  /** The root's children are shown without the root's own line. */
  flat?: boolean;
}

/** A value as a tree. Children are fetched when a node is opened, a hundred at a time. */
export function ValueTree({ page, handle, label, root, flat = true }: TreeProps): JSX.Element {
  const base = handle.path ?? [];
  const [menu, setMenu] = useState<{ steps: string[]; searched: boolean; plain: boolean; place: Place }>();
  const openMenu = (row: Element, place?: Place): void => {
    const { left, bottom } = row.getBoundingClientRect();
    setMenu({
      steps: JSON.parse((row as HTMLElement).dataset.path ?? '[]') as string[],
      searched: row.hasAttribute('data-searched'),
      plain: row.hasAttribute('data-plain'),
      place: place ?? { x: left + 24, y: bottom },
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = (event.target as Element).closest('[role=treeitem][data-path]');
    if (row && (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey))) {
      event.preventDefault();
      event.stopPropagation();
      openMenu(row);
    } else treeKeys(event);
  };
  const copy = async (format: 'json' | 'python'): Promise<void> => {
    await copyValue(page, handle.value, base, format);
  };
  const withoutRoot = flat && handle.root.children > 0;
  return (
    <section class="value">
      <div class="value-head">
        <span class="value-label">{label}</span>
        <span class="muted" title={handle.root.type}>
          {withoutRoot ? handle.root.text : typeText(handle.root)}
        </span>
        <span class="spring" />
        <button class="text-button" title={`Copy ${label} as JSON`} onClick={() => void copy('json')}>
          Copy as JSON
        </button>
        <button class="text-button" title={`Copy ${label} as Python`} onClick={() => void copy('python')}>
          Copy as Python
        </button>
      </div>
      {withoutRoot && handle.root.mark && <div class="mark">{handle.root.mark}</div>}
      <div
        role="tree"
        aria-label={label}
        class="tree"
        onKeyDown={onKeyDown}
        onContextMenu={(event) => {
          const row = (event.target as Element).closest('[role=treeitem][data-path]');
          if (!row) return;
          event.preventDefault();
          openMenu(row, { x: event.clientX, y: event.clientY });
        }}
      >
        {withoutRoot ? (
          <Children page={page} value={handle.value} base={base} path={[]} total={handle.root.children} level={1} />
        ) : (
          <Node page={page} value={handle.value} base={base} path={[]} node={handle.root} level={1} first />
        )}
      </div>
      {menu && (
        <Menu
          label="Actions of this value"
          items={[
            ...(['JSON', 'Python'] as const).map((format) => ({
              label: `Copy as ${format}`,
              run: () =>
                void copyValue(page, handle.value, [...base, ...menu.steps], format === 'JSON' ? 'json' : 'python'),
            })),
            {
              label: 'Find This Value',
              icon: 'search',
              separated: true,
              disabled: !menu.searched,
              run: () => void page.finder.findValue(handle.value, [...base, ...menu.steps]),
            },
            ...(root === undefined
              ? []
              : [
                  {
                    label: 'Find This Value at This Place',
                    disabled: !menu.plain,
                    run: () =>
                      void page.finder.findAtPlace(
                        root,
                        { value: handle.value, path: [...base, ...menu.steps] },
                        menu.steps,
                      ),
                  },
                ]),
          ]}
          place={menu.place}
          close={() => setMenu(undefined)}
        />
      )}
    </section>
  );
}

export async function copyValue(page: Page, value: number, path: string[], format: 'json' | 'python'): Promise<void> {
  const file = page.file;
  if (file === undefined) return;
  try {
    const { text } = await page.ask('copy', { file, value, path, format });
    await page.ask('copyText', { text });
    page.tell('Copied');
  } catch (error) {
    page.tell(`Not copied: ${error instanceof Error ? error.message : String(error)}`);
  }
}

interface ChildrenProps {
  page: Page;
  value: number;
  /** The way to the root of the tree, and from there. */
  base: string[];
  path: string[];
  total: number;
  level: number;
}

function Children({ page, value, base, path, total, level }: ChildrenProps): JSX.Element {
  const [nodes, setNodes] = useState<ValueNode[]>([]);
  const [wanted, setWanted] = useState(CHUNK);
  const [problem, setProblem] = useState<string>();
  const where = [...base, ...path].join('\0');
  const of = useRef('');
  useEffect(() => {
    let current = true;
    const file = page.file;
    if (file === undefined) return;
    const key = `${value}\0${where}`;
    const before = of.current === key ? nodes : [];
    const part = { start: before.length, count: wanted - before.length };
    page.ask('value', { file, value, path: [...base, ...path], ...part }).then(
      (answer) => {
        if (!current) return;
        of.current = key;
        setNodes([...before, ...answer.nodes]);
      },
      (error: unknown) => current && setProblem(error instanceof Error ? error.message : String(error)),
    );
    return () => {
      current = false;
    };
  }, [value, where, wanted]);
  if (problem) return <div class="mark">{problem}</div>;
  return (
    <>
      {nodes.map((node, index) => (
        <Node
          key={node.name}
          page={page}
          value={value}
          base={base}
          path={[...path, node.name]}
          node={node}
          level={level}
          first={level === 1 && index === 0}
        />
      ))}
      <MoreRow shown={nodes.length} total={total} level={level} wanted={wanted} want={setWanted} />
    </>
  );
}

interface MoreProps {
  /** Rows of this level that there are, of how many, and how many were asked for. */
  shown: number;
  total: number;
  wanted: number;
  want: (wanted: number) => void;
  level: number;
}

/** The last row of a level that is not whole. The first of the rows that come for it gets the focus. */
export function MoreRow({ shown, total, wanted, want, level }: MoreProps): JSX.Element | null {
  const pressed = useRef<{ tree: HTMLElement; row: HTMLElement; at: number }>(undefined);
  useLayoutEffect(() => {
    if (pressed.current === undefined) return;
    const { tree, row, at } = pressed.current;
    pressed.current = undefined;
    const first = tree.querySelectorAll<HTMLElement>('[role=treeitem]')[at];
    // Whoever went elsewhere meanwhile stays there; Tab comes back to the first new row.
    if (document.activeElement === row || document.activeElement === document.body) goTo(first);
    else if (first !== undefined && tree.querySelector('[role=treeitem][tabindex="0"]') === null) first.tabIndex = 0;
  }, [shown]);
  if (shown === 0 || shown >= total) return null;
  const isAsked = wanted > shown;
  const step = Math.min(LARGEST_CHUNK, Math.max(CHUNK, shown));
  return (
    <div
      class="tree-row more"
      role="treeitem"
      aria-level={level}
      aria-busy={isAsked}
      tabIndex={-1}
      style={indented(level)}
      onClick={({ currentTarget }) => {
        const tree = currentTarget.closest<HTMLElement>('[role=tree]');
        if (isAsked || tree === null) return;
        pressed.current = {
          tree,
          row: currentTarget,
          at: [...tree.querySelectorAll('[role=treeitem]')].indexOf(currentTarget),
        };
        want(shown + step);
      }}
    >
      <span class="codicon codicon-blank" aria-hidden="true" />
      <span class="link">
        Show {withCommas(Math.min(step, total - shown))} more of {withCommas(total)}
      </span>
    </div>
  );
}

/** However deep a row is, there is room for what it says. */
export const indented = (level: number): { paddingLeft: string } => ({
  paddingLeft: `min(${(level - 1) * 14}px, 45%)`,
});

function Node({
  page,
  value,
  base,
  path,
  node,
  level,
  first,
}: Omit<ChildrenProps, 'total'> & { node: ValueNode; first?: boolean }): JSX.Element {
  const [open, setOpen] = useState(false);
  const branch = node.children > 0;
  const opens = branch || node.long === true;
  const about = {
    'data-path': JSON.stringify(path),
    'data-searched': isSearched(node) ? '' : undefined,
    'data-plain': isPlain(node) ? '' : undefined,
  };
  return (
    <>
      <div
        class="tree-row"
        role="treeitem"
        aria-level={level}
        {...about}
        aria-expanded={opens ? open : undefined}
        tabIndex={first ? 0 : -1}
        style={indented(level)}
        onClick={() => opens && setOpen(!open)}
      >
        <span
          class={`codicon codicon-${opens ? (open ? 'chevron-down' : 'chevron-right') : 'blank'}`}
          aria-hidden="true"
        />
        {path.length > 0 && <span class="value-name">{shownName(node)}</span>}
        {path.length > 0 && <span class="muted">: </span>}
        <ValueText node={node} title={node.type} />
        {node.mark && <span class="mark">{node.mark}</span>}
      </div>
      {open && branch && (
        <Children page={page} value={value} base={base} path={path} total={node.children} level={level + 1} />
      )}
      {open && !branch && (
        <div
          class="tree-row whole-text"
          role="treeitem"
          aria-level={level + 1}
          {...about}
          tabIndex={-1}
          style={indented(level + 1)}
        >
          <span class="codicon codicon-blank" aria-hidden="true" />
          <WholeText page={page} place={{ value, path: [...base, ...path] }} node={node} />
        </div>
      )}
    </>
  );
}

/** Of a part of a value: the key of a dict may be an empty text. */
export function shownName({ name }: ValueNode): string {
  return name === '' ? "''" : name;
}

/** The line of a value. Where there is no room for it, it ends in an ellipsis; how long a text is is told all the same. */
export function ValueText({ node, title }: { node: ValueNode; title?: string }): JSX.Element {
  const [line, length] = withoutLength(node.text);
  return (
    <>
      <span class={`value-text ${textClass(node)}`} title={title}>
        {line}
      </span>
      {length !== '' && <span class="muted">{length}</span>}
    </>
  );
}

interface WholeProps {
  page: Page;
  place: ValuePlace;
  node: ValueNode;
  /** Where a very long one begins. */
  from?: number | undefined;
}

/** A long text with its lines, as far as a page should show one. */
export function WholeText({ page, place, node, from }: WholeProps): JSX.Element {
  const [answer, setAnswer] = useState<ReaderMethods['text']['result']>();
  const [problem, setProblem] = useState<string>();
  const { value, path } = place;
  useEffect(() => {
    const { file } = page;
    if (file === undefined) return;
    let current = true;
    page.ask('text', { file, value, path, ...(from !== undefined && { from }) }).then(
      (told) => current && setAnswer(told),
      (error: unknown) => current && setProblem(sentence(error)),
    );
    return () => {
      current = false;
    };
  }, [value, path.join('\0'), from]);
  if (problem) return <span class="mark">{problem}</span>;
  return (
    <span class={`value-text ${textClass(node)}`}>
      {answer?.text}
      {answer?.all && (
        <span class="mark">
          A copy has all {withCommas(answer.all.count)} {answer.all.of} that were recorded.
        </span>
      )}
    </span>
  );
}

/** A text, a number or the like that a search can be given. */
function isPlain({ type, text, mark }: ValueNode): boolean {
  return (
    mark === undefined &&
    /^(str|string|int|float|number|bool|boolean|NoneType|null)$/.test(type) &&
    !/^-?(nan|inf)/i.test(text)
  );
}

/** Nothing where the line of the value says all of it. */
function typeText({ type }: ValueNode): string {
  return /^(NoneType|null|undefined)$/.test(type) ? '' : type;
}

export function textClass(node: ValueNode): string {
  if (node.children > 0) return 'plain';
  if (/^(str|string|bytes)$/.test(node.type)) return 'string';
  if (/^(int|float|complex|number|Decimal)$/.test(node.type)) return 'number';
  if (/^(bool|boolean|NoneType|null|undefined)$/.test(node.type)) return 'boolean';
  return 'plain';
}

/** Focuses a row, which is then where Tab comes to. */
function goTo(row: HTMLElement | undefined): void {
  if (!row) return;
  for (const before of row.closest('[role=tree]')?.querySelectorAll<HTMLElement>('[role=treeitem][tabindex="0"]') ?? [])
    before.tabIndex = -1;
  row.tabIndex = 0;
  row.focus();
}

/** Up and down, by pages and to the ends go through the rows that are shown; right opens, left closes or goes to the parent. */
export function treeKeys(event: KeyboardEvent): void {
  const tree = event.currentTarget as HTMLElement;
  const rows = [...tree.querySelectorAll<HTMLElement>('[role=treeitem]')];
  const at = rows.indexOf(event.target as HTMLElement);
  const row = rows[at];
  if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
  const level = Number(row.ariaLevel);
  const open = row.getAttribute('aria-expanded');
  // A long text is read by pages, which the browser does.
  if (row.classList.contains('whole-text') && event.key.startsWith('Page')) return;
  const panel = tree.closest('.tab-panel') ?? tree;
  const page = Math.max(1, Math.floor(panel.clientHeight / Math.max(1, row.offsetHeight)) - 1);
  switch (event.key) {
    case 'ArrowDown':
      goTo(rows[at + 1]);
      break;
    case 'ArrowUp':
      goTo(rows[at - 1]);
      break;
    case 'PageDown':
      goTo(rows[Math.min(rows.length - 1, at + page)]);
      break;
    case 'PageUp':
      goTo(rows[Math.max(0, at - page)]);
      break;
    case 'Home':
      goTo(rows[0]);
      break;
    case 'End':
      goTo(rows.at(-1));
      break;
    case 'ArrowRight':
      if (open === 'false') row.click();
      else if (open === 'true') goTo(rows[at + 1]);
      break;
    case 'ArrowLeft':
      if (open === 'true') row.click();
      else goTo(rows.slice(0, at).findLast((other) => Number(other.ariaLevel) < level));
      break;
    case 'Enter':
    case ' ':
      row.click();
      break;
    default:
      return;
  }
  event.preventDefault();
  event.stopPropagation();
}
