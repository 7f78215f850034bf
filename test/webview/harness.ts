/** What the tests of the page share: opening it, reading it, waiting for it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Answer, BrowserHouse, Shown } from './browser';
import { answerFrom, sampleRun, type SampleRun } from './sample';
import type { ThemeName } from './themes';

export const PICTURES = join(__dirname, '../../artifacts/timeline');

export interface Size {
  width: number;
  height: number;
}

type Test = (house: BrowserHouse) => Promise<void>;
export const tests: [string, Test][] = [];
export const test = (name: string, body: Test): void => void tests.push([name, body]);

export const RUNS = [sampleRun(3), sampleRun(2, { busy: 20_000 }), sampleRun(1)];

export function hostOf(
  runs: readonly SampleRun[],
  start: { file?: string; call?: string; recording?: boolean } = {},
): Answer {
  const reader = answerFrom(runs);
  return (method, params) =>
    method === 'start' ? { folder: '/runs', follow: true, ...start } : reader(method as 'runs', params);
}

/** Opens a run, does something, and makes sure the browser had nothing to complain about. */
export async function withPage(
  house: BrowserHouse,
  act: (shown: Shown) => Promise<void>,
  { theme = 'dark', answer = hostOf(RUNS), size }: { theme?: ThemeName; answer?: Answer; size?: Size } = {},
): Promise<void> {
  const shown = await house.show(theme, answer, size);
  try {
    await act(shown);
    assert.deepEqual(shown.complaints, []);
  } finally {
    await shown.close();
  }
}

/** Polls until `check` holds; what it throws last is the failure. */
export async function until(check: () => Promise<void> | void): Promise<void> {
  const end = Date.now() + 10_000;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

export const spoken = (shown: Shown): Promise<string> => shown.page.locator('.spoken').innerText();
export const windowText = async (shown: Shown): Promise<string> =>
  (await shown.page.locator('.minimap').getAttribute('aria-valuetext')) ?? '';
export const title = (shown: Shown): Promise<string> => shown.page.locator('.detail h2').innerText();
export const lastAsked = (shown: Shown, method: string): Record<string, unknown> | undefined =>
  shown.asked.findLast((request) => request.method === method)?.params;

export async function ready(shown: Shown): Promise<void> {
  await shown.page.locator('.scroller').focus();
  await until(async () => assert.ok((await windowText(shown)).startsWith('0 ns to 12.4 s')));
  await shown.page.locator('.scroller[aria-busy=false]').waitFor();
}

export async function picture(shown: Shown, name: string): Promise<void> {
  await shown.page.screenshot({ path: join(PICTURES, `${name}.png`) });
}
