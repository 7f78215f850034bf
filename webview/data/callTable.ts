import type { CallRow, CallTable } from '../../protocol/timeline';

/** The rows of a table. */
export function rowsOf(table: CallTable): CallRow[] {
  let start = 0;
  return table.id.map((id, index) => {
    start += table.start[index]!;
    const [kind, name] = table.functions[table.function[index]!]!;
    const row: CallRow = {
      id,
      task: table.task[index]!,
      depth: table.depth[index]!,
      kind,
      name,
      start,
      state: table.states[table.state[index]!]!,
      holds: NO_HOLDS,
      edited: false,
    };
    const parent = table.parent[index]!;
    const duration = table.duration[index]!;
    if (parent !== '') row.parent = parent;
    if (duration >= 0) row.end = start + duration;
    // A spread of nothing costs as much as the whole row.
    const held = table.held[index];
    if (held !== undefined) Object.assign(row, held);
    return row;
  });
}

const NO_HOLDS: CallRow['holds'] = [];
