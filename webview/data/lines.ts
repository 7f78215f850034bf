import { outcomeText, type CallLine, type CallRow } from '../../protocol/timeline';
import { isEvent } from '../model/kinds';
import type { Ask } from './client';

/** Calls whose lines are kept. */
const MOST = 5_000;
const TOGETHER = 500;

/** Of one call: `(order_id=7, region='eu')` and ` → {'total': 700}`, or nothing. */
export interface LineText {
  given: string;
  outcome: string;
}

/** What calls were given and what came of them, in a line each, of those that somebody looks at. */
export class Lines {
  private file = '';
  private readonly known = new Map<string, CallLine>();

  constructor(private readonly ask: Ask) {}

  /** Those of them that are not known yet. Of a call that runs only what it was given is, until it ends. */
  missing(file: string, calls: readonly CallRow[]): CallRow[] {
    return calls.filter((call) => !isEvent(call) && this.of(file, call) === undefined).slice(0, TOGETHER);
  }

  async fetch(file: string, calls: readonly CallRow[]): Promise<void> {
    const { lines } = await this.ask('lines', { file, ids: calls.map(({ id }) => id) });
    if (file !== this.file || this.known.size > MOST) this.known.clear();
    this.file = file;
    for (const [index, line] of lines.entries()) this.known.set(keyOf(calls[index]!), line);
  }

  /** Of a call whose line is known. */
  textOf(file: string, call: CallRow): LineText | undefined {
    const line = this.of(file, call);
    if (line === undefined) return undefined;
    return {
      given: line.arguments === undefined || line.arguments === '' ? '' : `(${line.arguments})`,
      outcome: outcomeText(call.state, line),
    };
  }

  private of(file: string, call: CallRow): CallLine | undefined {
    return file === this.file ? this.known.get(keyOf(call)) : undefined;
  }
}

function keyOf({ id, state, end }: CallRow): string {
  return `${id} ${state} ${end ?? ''}`;
}
