import type { ReaderMethods } from '../../protocol/timeline';
import { UserError } from '../../adapter/common/errors';
import { Reader } from '../../adapter/store/reader/reader';

export type Ask = <M extends keyof ReaderMethods>(method: M, params?: object) => ReaderMethods[M]['result'];

/** Asks what the timeline page asks. */
export function reading<T>(file: string, act: (ask: Ask) => T): T {
  const reader = new Reader(() => undefined);
  try {
    return act((method, params) => reader.handle(method, { file, ...params }) as never);
  } finally {
    reader.close();
  }
}

/** Asks again and again, since what a client hears is written a moment later; the file may not be there yet. */
export async function comes<T>(file: string, find: (ask: Ask) => T | undefined): Promise<T> {
  for (;;) {
    try {
      const found = reading(file, find);
      if (found !== undefined) return found;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
