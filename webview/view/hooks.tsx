import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useReducer } from 'preact/hooks';
import type { CallRow } from '../../protocol/timeline';
import { lineKey, type LineText } from '../data/lines';
import type { Page } from '../data/page';

/** Draws the component again whenever the page's state changes: from its first picture on, since an answer may come before its effects run. */
export function usePageState(page: Page): void {
  const [, again] = useReducer((count: number, _: void) => count + 1, 0);
  useLayoutEffect(() => page.onState(() => again()), [page]);
}

/** Draws the component again, at most once a frame, when the window on the run moves. */
export function usePageView(page: Page): void {
  const [, again] = useReducer((count: number, _: void) => count + 1, 0);
  useLayoutEffect(() => {
    let waiting = 0;
    const stop = page.onView(() => {
      waiting ||= requestAnimationFrame(() => {
        waiting = 0;
        again();
      });
    });
    return () => {
      stop();
      cancelAnimationFrame(waiting);
    };
  }, [page]);
}

/** How often a question that was not answered is asked again, and after how many milliseconds. */
const TRIES = 3;
const AGAIN = 1000;

/**
 * The lines of the calls that are looked at, fetched once these stay for so many milliseconds; the component is drawn again when they come.
 * That a file cannot be read is said by what else is asked of it.
 */
export function useLines(
  page: Page,
  calls: readonly CallRow[],
  patience: number,
): (call: CallRow) => LineText | undefined {
  const [, again] = useReducer((count: number, _: void) => count + 1, 0);
  const [tries, retry] = useReducer((count: number, _: void) => count + 1, 0);
  const { file = '', lines } = page;
  const missing = lines.missing(file, calls);
  useEffect(() => {
    if (missing.length === 0) return;
    let timer = setTimeout(() => {
      lines.fetch(file, missing).then(
        () => current && again(),
        () => {
          if (current && tries < TRIES) timer = setTimeout(retry, AGAIN);
        },
      );
    }, patience);
    let current = true;
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [file, missing.map(lineKey).join('\n'), tries]);
  return (call) => lines.textOf(file, call);
}

/** A text that changes with the page's clock, such as the time a call has run so far. */
export function Ticking({ page, read }: { page: Page; read: () => string }): JSX.Element {
  usePageView(page);
  return <>{read()}</>;
}
