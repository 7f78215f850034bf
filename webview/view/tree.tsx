import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ValueHandle, ValueNode } from '../../protocol/timeline';
import type { Page } from '../data/page';
import { count } from '../model/words';
import { Menu, type Place } from './menu';

const CHUNK = 100;

interface TreeProps {
  page: Page;
  handle: ValueHandle;
  label: string;
  /** The root's children are shown without the root's own line. */
  flat?: boolean;
}

/** A value as a tree. Children are fetched when a node is opened, a hundred at a time. */
export function ValueTree({ page, handle, label, flat = true }: TreeProps): JSX.Element {
  const base = handle.path ?? [];
  const [menu, setMenu] = useState<{ path: string[]; leaf: boolean; place: Place }>();
  const openMenu = (row: Element, place?: Place): void => {
    const { left, bottom } = row.getBoundingClientRect();
    const path = [...base, ...(JSON.parse((row as HTMLElement).dataset.path ?? '[]') as string[])];
    setMenu({ path, leaf: !row.hasAttribute('aria-expanded'), place: place ?? { x: left + 24, y: bottom } });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = (event.target as Element).closest('[role=treeitem]');
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
          {withoutRoot ? handle.root.text : handle.root.type}
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
          const row = (event.target as Element).closest('[role=treeitem]');
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
              run: () => void copyValue(page, handle.value, menu.path, format === 'JSON' ? 'json' : 'python'),
            })),
            {
              label: 'Find This Value',
              icon: 'search',
              separated: true,
              disabled: !menu.leaf,
              run: () => void page.finder.findValue(handle.value, menu.path),
            },
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
    page.update({ announcement: 'Copied' });
  } catch (error) {
    page.update({ announcement: `Not copied: ${error instanceof Error ? error.message : String(error)}` });
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
  useEffect(() => {
    let current = true;
    const file = page.file;
    if (file === undefined) return;
    page.ask('value', { file, value, path: [...base, ...path], start: 0, count: wanted }).then(
      (answer) => current && setNodes(answer.nodes),
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
      {nodes.length > 0 && nodes.length < total && wanted <= nodes.length && (
        <button class="text-button more" onClick={() => setWanted(wanted + CHUNK)}>
          Show {count(Math.min(CHUNK, total - nodes.length))} more of {count(total)}
        </button>
      )}
    </>
  );
}

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
  return (
    <>
      <div
        class="tree-row"
        role="treeitem"
        aria-level={level}
        data-path={JSON.stringify(path)}
        aria-expanded={branch ? open : undefined}
        tabIndex={first ? 0 : -1}
        style={{ paddingLeft: `${(level - 1) * 14}px` }}
        onClick={() => branch && setOpen(!open)}
      >
        <span
          class={`codicon codicon-${branch ? (open ? 'chevron-down' : 'chevron-right') : 'blank'}`}
          aria-hidden="true"
        />
        {node.name !== '' && <span class="value-name">{node.name}</span>}
        {node.name !== '' && <span class="muted">: </span>}
        <span class={`value-text ${textClass(node)}`} title={node.type}>
          {node.text}
        </span>
        {node.mark && <span class="mark">{node.mark}</span>}
      </div>
      {open && <Children page={page} value={value} base={base} path={path} total={node.children} level={level + 1} />}
    </>
  );
}

export function textClass(node: ValueNode): string {
  if (node.children > 0) return 'plain';
  if (/^(str|string|bytes)$/.test(node.type)) return 'string';
  if (/^(int|float|complex|number|Decimal)$/.test(node.type)) return 'number';
  if (/^(bool|boolean|NoneType|null|undefined)$/.test(node.type)) return 'boolean';
  return 'plain';
}

/** Up and down go through the rows that are shown; right opens, left closes or goes to the parent. */
export function treeKeys(event: KeyboardEvent): void {
  const tree = event.currentTarget as HTMLElement;
  const rows = [...tree.querySelectorAll<HTMLElement>('[role=treeitem]')];
  const at = rows.indexOf(event.target as HTMLElement);
  const row = rows[at];
  if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
  const level = Number(row.ariaLevel);
  const open = row.getAttribute('aria-expanded');
  const go = (target: HTMLElement | undefined): void => {
    if (!target) return;
    row.tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
  };
  switch (event.key) {
    case 'ArrowDown':
      go(rows[at + 1]);
      break;
    case 'ArrowUp':
      go(rows[at - 1]);
      break;
    case 'ArrowRight':
      if (open === 'false') row.click();
      else if (open === 'true') go(rows[at + 1]);
      break;
    case 'ArrowLeft':
      if (open === 'true') row.click();
      else go(rows.slice(0, at).findLast((other) => Number(other.ariaLevel) < level));
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
