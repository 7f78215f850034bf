import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../../adapter/common/errors';
import { checkRun } from '../../adapter/store/life/check';
import { writeFormat } from '../../adapter/store/formats/write';
import { runQuery } from '../../adapter/store/query/query';
import { callTree } from '../../adapter/store/query/tree';
import { wholeCall } from '../../adapter/store/query/wholeCall';
import type { Query, QueryAnswer } from '../../protocol/query';

/** Folders of a state folder, gone after the test. */
export class Shelf {
  readonly folder = mkdtempSync(join(tmpdir(), 'toolbreak-fuzz-'));
  readonly runs = join(this.folder, 'projects', 'p', 'runs');

  /** Takes all runs away again. */
  clear(): void {
    rmSync(this.runs, { recursive: true, force: true });
  }

  left(): string[] {
    try {
      return readdirSync(this.runs).filter((name) => !name.endsWith('.db'));
    } catch {
      return [];
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Whether a sentence is for people: one that names the file, of printable words, without a trace of our insides. */
export function assertSentence(error: unknown, named: string): void {
  assert.ok(error instanceof UserError, error instanceof Error ? error.stack : String(error));
  assert.ok(error.message.includes(named), `it does not name ${named}: ${error.message}`);
  assert.ok(!/\.import-|\bat .*:\d+:\d+|undefined|\[object/.test(error.message), error.message);
}

/** What the commands do with a run, and the page: none of it fails but with a sentence. Answers how many calls are found, and whether `check` finds nothing. */
export async function useEverything(file: string, into: string): Promise<{ calls: number; whole: boolean }> {
  const sentence = (error: unknown): void => assert.ok(error instanceof UserError, (error as Error).stack);
  const ask = (query: Query): QueryAnswer | undefined => {
    try {
      return runQuery([file], query, { rows: 1e6, counting: 1e6, milliseconds: 30_000 });
    } catch (error) {
      sentence(error);
      return undefined;
    }
  };
  let whole = false;
  try {
    ({ whole } = checkRun(file));
    callTree(file, 200);
  } catch (error) {
    sentence(error);
  }
  const all = ask({ limit: 20 });
  ask({ text: 'order', limit: 5 });
  ask({ types: ['event', 'output', 'crash'], limit: 50 });
  ask({ where: [{ path: ['argument', 'order_id'], matches: '.' }], order: '-duration' } as unknown as Query);
  for (const row of all?.rows ?? []) {
    if (row.type !== 'call') continue;
    try {
      wholeCall(file, row.call.id, 100);
    } catch (error) {
      sentence(error);
    }
  }
  for (const format of ['perfetto', 'otlp'] as const) {
    const target = join(into, `out.${format}`);
    try {
      await writeFormat(file, target, format, '0.0.0');
    } catch (error) {
      sentence(error);
    } finally {
      rmSync(target, { force: true });
    }
  }
  return { calls: all === undefined ? 0 : all.rows.length + all.more.count, whole };
}
