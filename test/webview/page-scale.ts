/** The page on a run of many calls: hundreds of thousands by default, or as many as SCALE_CALLS says. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bigRun } from '../support/big-run';
import { picture, spoken, test, until, windowText, withPage } from './harness';
import { ReaderProcess } from './recorded';

const CALLS = Number(process.env['SCALE_CALLS'] ?? 200_000);

test(`a run of ${CALLS} calls: first picture, zoom, pan, search`, async (house) => {
  const folder = mkdtempSync(join(tmpdir(), 'toolbreak-scale-'));
  const file = process.env['SCALE_FILE'] ?? join(folder, 'big.db');
  await bigRun(CALLS, file);
  const reader = new ReaderProcess(file);
  try {
    await withPage(
      house,
      async (shown) => {
        const { page } = shown;
        await page.locator('.scroller[aria-busy=false]').waitFor();
        for (const worker of [0, 1, 2, 3]) assert.equal((await page.getByText(`worker ${worker}`).count()) > 0, true);
        await picture(shown, 'scale-whole');
        // The host told all that is on screen with the run's name: nothing was asked for.
        const asked = (): unknown[] =>
          shown.asked.filter(({ method }) => ['overview', 'bars', 'density'].includes(method));
        assert.deepEqual(asked(), []);
        await page.locator('.scroller').focus();
        const whole = await windowText(shown);
        for (const key of 'wwwwwwwwwwwwdddddd') await page.keyboard.press(key);
        await until(async () => assert.notEqual(await windowText(shown), whole));
        await page.locator('.scroller[aria-busy=false]').waitFor();
        assert.ok(asked().length > 0);
        await picture(shown, 'scale-near');
        await page.keyboard.press(']');
        await until(async () => assert.match(await spoken(shown), /^lookup_order, tool, error/));
        await page.keyboard.press('Escape');
        await page.keyboard.press('Escape');
        await page.keyboard.press('0');
        await until(async () => assert.equal(await windowText(shown), whole));
        // A number that is nowhere: the index of texts knows that of the whole run.
        await page.locator('.search input').fill('argument.order_id=123456789');
        await until(async () =>
          assert.match(await page.locator('.no-match').innerText(), /^No call of this run matches/),
        );
        // What no index knows: a part of the run is looked through, and more of it when that is asked for.
        await page.locator('.search input').fill('argument.order_id~^x');
        await until(async () =>
          assert.match(await page.locator('.no-match').innerText(), /^None of the first [\d,]+ calls matches/),
        );
        const lookedAt = async (): Promise<number> =>
          Number(/first ([\d,]+) calls/.exec(await page.locator('.no-match').innerText())?.[1]?.replaceAll(',', ''));
        const first = await lookedAt();
        await page.locator('.no-match').getByRole('button', { name: 'Search On' }).click();
        await until(async () => assert.ok(!((await lookedAt()) <= first)));
        await picture(shown, 'scale-search');
        // Memory is bounded: the page holds no more than a window needs of so many calls.
        const rows = shown.asked.filter(({ method }) => method === 'bars');
        for (const { params } of rows) assert.ok((params['limit'] as number) <= 5000);
      },
      { answer: reader.answer, size: { width: 1280, height: 480 } },
    );
  } finally {
    await reader.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
