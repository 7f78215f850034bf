import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ComparedRow, ReaderMethods, ValueHandle, ValueNode, ValuePlace } from '../../protocol/timeline';
import { withCommas } from '../../protocol/withCommas';
import type { Page } from '../data/page';
import { sentence } from '../data/sentence';
import { counted } from '../model/words';
import { CHUNK, indented, MoreRow, shownName, treeKeys, ValueText, WholeText } from './tree';

/** Levels that are opened without being asked, and in all so many values: what differs is shown, but no flood of it. */
const OPEN_LEVELS = 6;
const OPEN_VALUES = 40;

type Which = ReaderMethods['compare']['params']['which'];
type Answer = ReaderMethods['compare']['result'];

const SIGNS: Record<ComparedRow['change'], { sign: string; word: string }> = {
  same: { sign: '', word: 'equal' },
  added: { sign: '+', word: 'added' },
  removed: { sign: '-', word: 'removed' },
  changed: { sign: '~', word: 'changed' },
};

interface Sides {
  before?: ValuePlace | undefined;
  after?: ValuePlace | undefined;
}

interface Shared {
  page: Page;
  /** Values that may still be opened without being asked. */
  left: { values: number };
}

interface Props {
  page: Page;
  label: string;
  before: ValueHandle | undefined;
  after: ValueHandle | undefined;
  /** What the two sides are called. */
  titles?: readonly [string, string];
  /** Stands at the right of the title. */
  actions?: JSX.Element;
}

/** Two values side by side: what differs is open, what is equal is one line that says how much it is. */
export function CompareTree({ page, label, before, after, titles = ['Before', 'After'], actions }: Props): JSX.Element {
  const sides: Sides = { before: before && placeOf(before), after: after && placeOf(after) };
  const { answer, problem } = useLevel(page, sides, 'different', CHUNK);
  const [left] = useState({ values: OPEN_VALUES });
  const shared = { page, left };
  const { root } = answer ?? {};
  return (
    <section class="value compare">
      <div class="value-head">
        <span class="value-label">{label}</span>
        <span class="muted">{answer && said(answer)}</span>
        {actions && <span class="spring" />}
        {actions}
      </div>
      {root && root.change !== 'same' && (
        <div class="compare-row compare-head" aria-hidden="true">
          <span />
          <span>{titles[0]}</span>
          <span>{titles[1]}</span>
        </div>
      )}
      {problem && <div class="mark">{problem}</div>}
      <div role="tree" aria-label={`${label}, ${titles[0]} and ${titles[1]}`} class="tree" onKeyDown={treeKeys}>
        {root && answer && <Top shared={shared} sides={sides} answer={answer} />}
      </div>
    </section>
  );
}

/** The first level; values without parts that can be compared are a row of their own. */
function Top({ shared, sides, answer }: { shared: Shared; sides: Sides; answer: Answer }): JSX.Element {
  const { root, equal } = answer;
  if (root.change === 'same' && equal > 0) return <Equal shared={shared} sides={sides} level={1} total={equal} first />;
  if (root.change !== 'changed' || !root.alike)
    return <Row shared={shared} sides={sides} row={root} level={1} first isRoot />;
  return (
    <>
      {marksOf(root)}
      <Rows shared={shared} sides={sides} level={1} which="different" first />
    </>
  );
}

function placeOf({ value, path }: ValueHandle): ValuePlace {
  return { value, path: path ?? [] };
}

function said({ root, different, equal, unrecorded, reordered }: Answer): string {
  if (root.change !== 'same' && !root.alike) return '';
  // What was not recorded may differ.
  if (unrecorded !== undefined) return `What was recorded of both is equal. ${unrecorded}`.trimEnd();
  if (root.change === 'same') return 'Both are equal.';
  if (reordered) return 'Both are equal, in another order.';
  // An OrderedDict in another order, or keys that are written alike.
  if (different === 0) return 'Their parts read the same, but the two are not equal.';
  return `${counted(different, 'difference')}${equal > 0 ? `, ${withCommas(equal)} equal` : ''}`;
}

function marksOf({ before, after }: ComparedRow): JSX.Element | null {
  if (!before?.mark && !after?.mark) return null;
  return (
    <div class="compare-row">
      <span />
      <span class="mark">{before?.mark}</span>
      <span class="mark">{after?.mark}</span>
    </div>
  );
}

/** Asks for the rows of one level; again when more of them are wanted. */
function useLevel(page: Page, sides: Sides, which: Which, wanted: number): { answer?: Answer; problem?: string } {
  const [state, setState] = useState<{ of?: string; answer?: Answer; problem?: string }>({});
  useEffect(() => {
    const { file } = page;
    if (file === undefined || wanted === 0) return;
    let current = true;
    const key = [keyOf(sides.before), keyOf(sides.after), which].join('\0\0');
    const before = state.of === key ? (state.answer?.rows ?? []) : [];
    const part = { start: before.length, count: wanted - before.length };
    page.ask('compare', { file, ...sides, which, ...part }).then(
      (answer) => current && setState({ of: key, answer: { ...answer, rows: [...before, ...answer.rows] } }),
      (error: unknown) => current && setState({ problem: sentence(error) }),
    );
    return () => {
      current = false;
    };
  }, [keyOf(sides.before), keyOf(sides.after), which, wanted]);
  return state;
}

function keyOf(place: ValuePlace | undefined): string {
  return place === undefined ? '' : [place.value, ...place.path].join('\0');
}

interface LevelProps {
  shared: Shared;
  sides: Sides;
  level: number;
  first?: boolean;
}

function Rows({ shared, sides, level, which, first }: LevelProps & { which: Which }): JSX.Element | null {
  const [wanted, setWanted] = useState(CHUNK);
  const { answer, problem } = useLevel(shared.page, sides, which, wanted);
  if (problem) return <div class="mark">{problem}</div>;
  if (!answer) return null;
  const { rows, different, equal, reordered } = answer;
  const total = which === 'equal' ? equal : different;
  return (
    <>
      {rows.map((row, index) => (
        <Row
          key={`${row.before?.name ?? ''}\0${row.after?.name ?? ''}\0${row.change}`}
          shared={shared}
          sides={below(sides, row)}
          row={row}
          level={level}
          first={first && index === 0}
        />
      ))}
      <MoreRow shown={rows.length} total={total} level={level} wanted={wanted} want={setWanted} />
      {which === 'different' && equal > 0 && (
        <Equal
          shared={shared}
          sides={sides}
          level={level}
          total={equal}
          reordered={reordered}
          first={first && rows.length === 0}
        />
      )}
    </>
  );
}

/** The equal parts of a level in one line, until somebody wants to see them. */
function Equal({
  shared,
  sides,
  level,
  total,
  reordered,
  first,
}: LevelProps & { total: number; reordered?: boolean | undefined }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <>
      <div
        class="tree-row equal"
        role="treeitem"
        aria-level={level}
        aria-expanded={open}
        tabIndex={first ? 0 : -1}
        style={indented(level)}
        onClick={() => setOpen(!open)}
      >
        <span class={`codicon codicon-chevron-${open ? 'down' : 'right'}`} aria-hidden="true" />
        <span class="muted">
          {counted(total, 'equal part')}
          {reordered && ', in another order'}
        </span>
      </div>
      {open && <Rows shared={shared} sides={sides} level={level + 1} which="equal" />}
    </>
  );
}

function Row({
  shared,
  sides,
  row,
  level,
  first,
  isRoot = false,
}: LevelProps & { row: ComparedRow; isRoot?: boolean }): JSX.Element {
  const { before, after, change } = row;
  const branch = (before?.children ?? 0) + (after?.children ?? 0) > 0;
  const [open, setOpen] = useState(
    () => branch && change === 'changed' && row.alike && level < OPEN_LEVELS && shared.left.values-- > 0,
  );
  const opens = branch || before?.long === true || after?.long === true;
  const { sign, word } = SIGNS[change];
  const name = isRoot ? '' : nameOf(before, after);
  return (
    <>
      <div
        class={`tree-row compare-row ${change}`}
        role="treeitem"
        aria-level={level}
        aria-expanded={opens ? open : undefined}
        aria-label={spoken(name, word, before, after)}
        tabIndex={first ? 0 : -1}
        onClick={() => opens && setOpen(!open)}
      >
        <span class="compare-name" style={indented(level)}>
          <span
            class={`codicon codicon-${opens ? (open ? 'chevron-down' : 'chevron-right') : 'blank'}`}
            aria-hidden="true"
          />
          <span class="sign">{sign}</span>
          <span class="value-name" title={name}>
            {name}
          </span>
        </span>
        <Side node={before} kind="before" />
        <Side node={after} kind="after" />
      </div>
      {open && branch && (
        <Rows shared={shared} sides={sides} level={level + 1} which={change === 'same' ? 'equal' : 'different'} />
      )}
      {open && !branch && (
        <div class={`tree-row compare-row whole-text ${change}`} role="treeitem" aria-level={level + 1} tabIndex={-1}>
          <span />
          <WholeSide page={shared.page} place={sides.before} node={before} from={row.from} kind="before" />
          <WholeSide page={shared.page} place={sides.after} node={after} from={row.from} kind="after" />
        </div>
      )}
    </>
  );
}

function Side({ node, kind }: { node: ValueNode | undefined; kind: 'before' | 'after' }): JSX.Element {
  if (!node) return <span class={`compare-side ${kind} absent`} />;
  return (
    <span class={`compare-side ${kind}`} title={`${node.type}: ${node.text}`}>
      <ValueText node={node} />
      {node.mark && <span class="mark">{node.mark}</span>}
    </span>
  );
}

interface WholeProps {
  page: Page;
  place: ValuePlace | undefined;
  node: ValueNode | undefined;
  from: number | undefined;
  kind: 'before' | 'after';
}

/** A long text; what is beside it may be of another kind. */
function WholeSide({ page, place, node, from, kind }: WholeProps): JSX.Element {
  if (!place || !node) return <span class={`compare-side ${kind} absent`} />;
  return (
    <span class={`compare-side ${kind}`}>
      {node.long ? <WholeText page={page} place={place} node={node} from={from} /> : <ValueText node={node} />}
    </span>
  );
}

/** An element of a list may stand at another place on the other side. */
function nameOf(before: ValueNode | undefined, after: ValueNode | undefined): string {
  if (before && after && before.name !== after.name) return `${shownName(before)} → ${shownName(after)}`;
  const either = after ?? before;
  return either === undefined ? '' : shownName(either);
}

function spoken(name: string, word: string, before: ValueNode | undefined, after: ValueNode | undefined): string {
  const texts = [before, after].flatMap((node) => (node ? [[node.text, node.mark].filter(Boolean).join(', ')] : []));
  return [name, word, word === 'equal' ? texts[0] : texts.join(' → ')].filter(Boolean).join(', ');
}

function below({ before, after }: Sides, row: ComparedRow): Sides {
  const at = (place: ValuePlace | undefined, node: ValueNode | undefined): ValuePlace | undefined =>
    place && node && { value: place.value, path: [...place.path, node.name] };
  return { before: at(before, row.before), after: at(after, row.after) };
}
