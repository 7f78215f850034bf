import type { FoundCall } from '../../../protocol/query';
import { runQuery } from './query';

const PAGE = 500;

export interface TreeNode {
  call: FoundCall;
  below: TreeNode[];
}

/** Levels of a tree in JSON, which takes two of its own for each: some readers take 256, others a thousand. */
const MOST_LEVELS = 100;

/** A node as it is told in JSON. */
export interface BoundNode {
  call: FoundCall;
  below: BoundNode[];
  /** Where the tree is deeper than is told nested: all calls below, in their order, and how many levels below this one each is. */
  deeper?: { levels: number; call: FoundCall }[];
}

export function boundTree(nodes: readonly TreeNode[], left = MOST_LEVELS): BoundNode[] {
  return nodes.map(({ call, below }) => {
    if (left > 1 || below.length === 0) return { call, below: boundTree(below, left - 1) };
    return { call, below: [], deeper: flat(below) };
  });
}

/** Not by calling itself for each level: a recursion of the app may be deep. */
function flat(nodes: readonly TreeNode[]): { levels: number; call: FoundCall }[] {
  const all: { levels: number; call: FoundCall }[] = [];
  const waiting = nodes.toReversed().map((node) => ({ node, levels: 1 }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, levels } = next;
    all.push({ levels, call: node.call });
    for (const below of node.below.toReversed()) waiting.push({ node: below, levels: levels + 1 });
  }
  return all;
}

/**
 * The first calls of a run, each below the call that made it. A call whose parent is not recorded stands at the top. `left`: calls that
 * follow, at least so many unless `exact`. `problems`: what could not be read. Throws a `UserError`.
 */
export function callTree(
  path: string,
  most: number,
): { tops: TreeNode[]; shown: number; left: number; exact: boolean; problems: string[] } {
  const tops: TreeNode[] = [];
  const nodes = new Map<string, TreeNode>();
  const problems = new Set<string>();
  let cursor: string | undefined;
  for (;;) {
    const limit = Math.min(PAGE, most - nodes.size);
    const answer = runQuery([path], { order: 'start', limit, ...(cursor === undefined ? {} : { cursor }) });
    for (const problem of answer.problems) problems.add(problem);
    for (const row of answer.rows) {
      if (row.type !== 'call') continue;
      const node = { call: row, below: [] };
      nodes.set(row.call.id, node);
      const parent = row.call.parent === undefined ? undefined : nodes.get(row.call.parent);
      (parent?.below ?? tops).push(node);
    }
    cursor = answer.cursor;
    const { count, exact } = answer.more;
    if (answer.rows.length === 0 || cursor === undefined || nodes.size >= most)
      return { tops, shown: nodes.size, left: count, exact, problems: [...problems] };
  }
}
