import type { JSX } from 'preact';
import { useLayoutEffect, useReducer } from 'preact/hooks';
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

/** A text that changes with the page's clock, such as the time a call has run so far. */
export function Ticking({ page, read }: { page: Page; read: () => string }): JSX.Element {
  usePageView(page);
  return <>{read()}</>;
}
