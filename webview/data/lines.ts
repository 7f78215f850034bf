import { outcomeText, type CallLine, type CallRow } from '../../protocol/timeline';
import { isEvent } from '../model/kinds';
import type { Ask } from './client';

/** Calls whose lines are kept, and those that are asked for together. */
const MOST = 5_000;
const TOGETHER = 500;

/** Of one call: `(order_id=7, region='eu')` and ` → {'total': 700}`, or nothing. */
export interface LineText {
  given: string;
  outcome: string;
}

/** What calls of one run were given and what came of them, in a line each, of those that somebody looks at. */
export class Lines {
  private file = '';
  /** The last used ones are the last. */
  private readonly known = new Map<string, CallLine>();

  constructor(private readonly ask: Ask) {}

  /** Those of them that are not known as they are now: a call that runs has no outcome, and one that is edited gets something else. */
  missing(file: string, calls: readonly CallRow[]): CallRow[] {
    return calls.filter((call) => !isEvent(call) && this.of(file, call) === undefined).slice(0, TOGETHER);
  }

  async fetch(file: string, calls: readonly CallRow[]): Promise<void> {
    if (file !== this.file) this.known.clear();
    this.file = file;
    const { lines } = await this.ask('lines', { file, ids: calls.map(({ id }) => id) });
    // Another run is shown by now.
    if (file !== this.file) return;
    for (const [index, line] of lines.entries()) this.known.set(lineKey(calls[index]!), line);
    for (const key of this.known.keys()) {
      if (this.known.size <= MOST) break;
      this.known.delete(key);
    }
  }

  /** Of a call whose line is known. */
  textOf(file: string, call: CallRow): LineText | undefined {
    const line = this.of(file, call);
    if (line === undefined) return undefined;
    this.known.delete(lineKey(call));
    this.known.set(lineKey(call), line);
    return {
      given: line.arguments === undefined || line.arguments === '' ? '' : `(${line.arguments})`,
      outcome: outcomeText(call.state, line),
    };
  }

  private of(file: string, call: CallRow): CallLine | undefined {
    return file === this.file ? this.known.get(lineKey(call)) : undefined;
  }
}

/** All that a line is about. */
export function lineKey({ id, state, end, edited }: CallRow): string {
  return `${id} ${state} ${end ?? ''} ${edited}`;
}
