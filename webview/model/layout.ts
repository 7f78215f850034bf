import type { Lane } from '../../protocol/timeline';

export const ROW_HEIGHT = 20;
export const LANE_PADDING = 4;
/** Height of one nesting level in a collapsed lane: a trace of what is inside, without names. */
export const THIN_ROW = 4;
/** A collapsed lane is no higher: of a deep recursion the levels lie on each other. */
export const MOST_COLLAPSED = 60;

/** A lane with its place on the (scrolled) page. */
export interface PlacedLane {
  lane: Lane;
  top: number;
  height: number;
  /** Nesting among lanes, 0 for a lane without parent. */
  level: number;
  collapsed: boolean;
  /** Lanes hidden under this one. */
  hidden: number;
  rowHeight: number;
}

export interface Layout {
  lanes: PlacedLane[];
  byTask: Map<number, PlacedLane>;
  height: number;
}

/** Puts lanes one below the other, children under their parent in order of their first call, events last. Lanes below a collapsed one are hidden. */
export function layOut(lanes: readonly Lane[], collapsed: ReadonlySet<number>): Layout {
  const known = new Set(lanes.map((lane) => lane.task));
  const children = new Map<number | undefined, Lane[]>();
  for (const lane of lanes) {
    const parent =
      lane.parent !== undefined && known.has(lane.parent) && lane.parent !== lane.task ? lane.parent : undefined;
    const siblings = children.get(parent);
    if (siblings) siblings.push(lane);
    else children.set(parent, [lane]);
  }
  for (const siblings of children.values())
    siblings.sort((a, b) => (a.events ? 1 : 0) - (b.events ? 1 : 0) || a.first - b.first || a.task - b.task);

  const placed: PlacedLane[] = [];
  let top = 0;
  const stack = (children.get(undefined) ?? []).map((lane) => ({ lane, level: 0 })).reverse();
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { lane, level } = next;
    const isCollapsed = collapsed.has(lane.task);
    const depth = Math.max(1, lane.depth);
    const rowHeight = isCollapsed ? Math.min(THIN_ROW, MOST_COLLAPSED / depth) : ROW_HEIGHT;
    const height = Math.max(ROW_HEIGHT, depth * rowHeight) + 2 * LANE_PADDING;
    const below = children.get(lane.task) ?? [];
    const hidden = isCollapsed ? countBelow(lane.task, children) : 0;
    placed.push({ lane, top, height, level, collapsed: isCollapsed, hidden, rowHeight });
    top += height;
    if (!isCollapsed) for (const child of [...below].reverse()) stack.push({ lane: child, level: level + 1 });
  }
  return { lanes: placed, byTask: new Map(placed.map((lane) => [lane.lane.task, lane])), height: top };
}

function countBelow(task: number, children: ReadonlyMap<number | undefined, Lane[]>): number {
  let count = 0;
  const stack = [task];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    for (const child of children.get(next) ?? []) {
      count++;
      stack.push(child.task);
    }
  }
  return count;
}

/** The lanes that touch top..bottom, found by halving: a run may have ten thousand. */
export function lanesBetween(layout: Layout, top: number, bottom: number): PlacedLane[] {
  let low = 0;
  let high = layout.lanes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const lane = layout.lanes[middle];
    if (lane && lane.top + lane.height <= top) low = middle + 1;
    else high = middle;
  }
  const found: PlacedLane[] = [];
  for (let index = low; index < layout.lanes.length; index++) {
    const lane = layout.lanes[index];
    if (!lane || lane.top >= bottom) break;
    found.push(lane);
  }
  return found;
}

/** `check_stock` for `support_agent › check_stock`: what a lane says under its parent. */
export function laneLabel(placed: PlacedLane): string {
  const parts = placed.lane.name.split(' › ');
  return placed.level > 0 ? (parts[parts.length - 1] ?? placed.lane.name) : placed.lane.name;
}
