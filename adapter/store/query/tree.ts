import type { FoundCall } from '../../../protocol/query';
import { runQuery } from './query';

const PAGE = 500;

export interface TreeNode {
  call: FoundCall;
  below: TreeNode[];
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
