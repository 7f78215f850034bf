/** The run as a whole, the list of runs, filters, table, help, and what is said when there is nothing to see. */
import assert from 'node:assert/strict';
import type { Answer } from './browser';
import { hostOf, picture, ready, RUNS, spoken, test, title, until, withPage } from './harness';
import { firstAnswers } from '../../protocol/tiles';
import { MINIMAP_BUCKETS, type HostMethods, type Overview } from '../../protocol/timeline';
import { answerFrom, sampleRun, tableOf, type SampleRun } from './sample';

test('the title says what the run was', (house) =>
  withPage(house, async (shown) => {
    await until(async () =>
      assert.match(
        (await shown.page.locator('.run-title').getAttribute('aria-label')) ?? '',
        /^Run 3, support_agent, 12.4 s, 41 calls, 2 errors, 1 hold, 3.1 k tokens/,
      ),
    );
  }));

for (const width of [640, 400, 320])
  test(`a page of ${width} pixels tells of errors, and its list of runs fits into it`, (house) =>
    withPage(
      house,
      async ({ page }) => {
        await page.locator('.scroller[aria-busy=false]').waitFor();
        const title = await page.locator('.run-title').boundingBox();
        const errors = page.locator('.run-title .error-text');
        assert.equal(await errors.innerText(), '2 errors');
        const box = await errors.boundingBox();
        assert.ok(box!.x + box!.width <= title!.x + title!.width, 'they are in the title');
        assert.ok(await errors.evaluate((fact) => fact.scrollWidth <= fact.clientWidth), 'and whole');
        await page.locator('.run-title').click();
        const list = await page.getByRole('listbox').boundingBox();
        assert.ok(list!.x >= 0 && list!.x + list!.width <= width);
        const when = await page.locator('.run-option .run-when').first().boundingBox();
        assert.ok(when!.x + when!.width <= list!.x + list!.width);
      },
      { size: { width, height: 420 } },
    ));

test('the list of runs changes the run by keyboard', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.locator('.run-title').focus();
    await shown.page.keyboard.press('Enter');
    await until(async () => assert.equal(await shown.page.getByRole('option').count(), 3));
    await picture(shown, 'runs');
    await shown.page.keyboard.press('ArrowDown');
    await shown.page.keyboard.press('Enter');
    await until(async () =>
      assert.match((await shown.page.locator('.run-title').getAttribute('aria-label')) ?? '', /^Run 2, .*20,017 calls/),
    );
  }));

test('the choice in the list of runs is not taken by a pointer that rests, nor by a run that begins', async (house) => {
  const runs = [sampleRun(3), sampleRun(2), sampleRun(1)];
  await withPage(
    house,
    async (shown) => {
      await until(async () => assert.match(await shown.page.locator('.run-title').innerText(), /run 3/));
      await shown.page.locator('.run-title').focus();
      await shown.page.keyboard.press('Enter');
      const chosen = shown.page.locator('.run-option.active .run-number');
      await shown.page.keyboard.press('ArrowDown');
      await until(async () => assert.equal(await chosen.innerText(), 'run 2'));
      // What a browser tells where the list opens or scrolls below the pointer.
      await shown.page.locator('.run-option').nth(2).dispatchEvent('mouseenter');
      assert.equal(await chosen.innerText(), 'run 2');
      runs.unshift(sampleRun(4));
      await shown.notify('runsChanged', { folder: '/runs' });
      await until(async () => assert.equal(await shown.page.locator('.run-option').count(), 4));
      assert.equal(await chosen.innerText(), 'run 2');
      await shown.page.locator('.run-option').nth(3).hover();
      await until(async () => assert.equal(await chosen.innerText(), 'run 1'));
    },
    { answer: hostOf(runs) },
  );
});

test('of many calls the table lists those that a search found, also behind the first thousand', async (house) => {
  const run = sampleRun(1, { busy: 20_000 });
  const odd = run.calls.filter((call) => call.name === 'parse_line')[15_000]!;
  odd.name = 'odd_line';
  await withPage(
    house,
    async ({ page }) => {
      const names = page.locator('.table-space .call-name');
      await until(async () => assert.match(await page.locator('.run-title').innerText(), /run 1/));
      await page.locator('.search input').fill('odd_line');
      await page.locator('.search input').press('Enter');
      await until(async () => assert.equal(await page.locator('.search-count').innerText(), '1 of 1'));
      await page.locator('.scroller').focus();
      await page.keyboard.press('t');
      await until(async () => assert.deepEqual(await names.allInnerTexts(), ['odd_line']));
      assert.equal(await page.locator('.table-foot').count(), 0);
      await page.keyboard.press('f');
      for (const _time of [1, 2, 3]) await page.keyboard.press('s');
      await page.locator('.search input').fill('parse_line');
      await until(async () => assert.equal(await page.locator('.search-count').innerText(), '19,999 found'));
      // The window is a few calls wide.
      await until(async () => assert.deepEqual([...new Set(await names.allInnerTexts())], ['parse_line']));
      assert.ok((await names.count()) < 20);
      // What is not known is not gone to: from the first call on, and in the window.
      await page.locator('.search input').press('Enter');
      await until(async () => assert.equal(await page.locator('.search-count').innerText(), '1 of 19,999'));
      await page.locator('.search input').press('Shift+Enter');
      await until(async () => assert.match(await page.locator('.spoken').innerText(), /This is the first one/));
      // The next one is the next here.
      await page.locator('.table-space .table-row').first().click();
      await page.locator('.search input').press('Enter');
      await until(async () =>
        assert.equal(await page.locator('.table-row.selected').getAttribute('aria-rowindex'), '3'),
      );
    },
    { answer: hostOf([run]) },
  );
});

test('where calls of a busy lane failed is seen in the lane, also behind the first thousand errors', async (house) => {
  const run = sampleRun(1, { busy: 40_000 });
  for (const [index, call] of run.calls.entries())
    if (index % 10 === 0 && call.name === 'parse_line') call.state = 'error';
  run.summary.errors = run.calls.filter((call) => call.state === 'error').length;
  await withPage(
    house,
    async (shown) => {
      const { page } = shown;
      await until(async () => assert.match(await page.locator('.run-title').innerText(), /run 1/));
      // Red pixels of the lanes in a part of the window, from the left: 0 to 1.
      const red = (from: number, to: number): Promise<number> =>
        page.locator('.canvas-column canvas').evaluate(
          (element, [left, right]) => {
            const canvas = element as HTMLCanvasElement;
            const x = Math.round(canvas.width * left!);
            const { data } = canvas
              .getContext('2d')!
              .getImageData(x, 22, Math.round(canvas.width * right!) - x, canvas.height - 22);
            let found = 0;
            for (let at = 0; at < data.length; at += 4)
              if (data[at]! > 200 && data[at + 1]! < 140 && data[at + 2]! < 140) found++;
            return found;
          },
          [from, to],
        );
      await until(async () => assert.ok((await red(0.95, 0.97)) > 20));
      assert.equal(await red(0.3, 0.5), 0);
      await picture(shown, 'busy-errors');
    },
    { answer: hostOf([run]) },
  );
});

test('the starts of a short run are told apart, also as clock times', (house) => {
  const run = sampleRun(6);
  const short: SampleRun = {
    summary: { ...run.summary, duration: run.summary.duration / 1000 },
    lanes: run.lanes,
    calls: run.calls.map((call) => ({ ...call, start: call.start / 1000, end: call.end! / 1000, holds: [] })),
  };
  return withPage(
    house,
    async (shown) => {
      await shown.page.locator('.scroller[aria-busy=false]').focus();
      await shown.page.keyboard.press('t');
      const starts = shown.page.locator('.table-space .col-Start');
      const first = async (): Promise<string[]> => (await starts.allInnerTexts()).slice(0, 4);
      await until(async () => assert.deepEqual(await first(), ['0.000 ms', '0.020 ms', '0.060 ms', '2.200 ms']));
      await shown.page.getByRole('button', { name: 'More' }).click();
      await shown.page.getByRole('menuitemcheckbox', { name: 'Clock Times' }).click();
      await until(async () =>
        assert.deepEqual(
          await first(),
          ['000000', '000020', '000060', '002200'].map((fraction) => `14:03:10.${fraction}`),
        ),
      );
      const whole = await starts.nth(3).evaluate((cell) => cell.scrollWidth <= cell.clientWidth);
      assert.ok(whole, 'there is room for all of it');
      const [head, cell] = ['.table-head .col-Call', '.table-space .col-Call'].map((of) =>
        shown.page.locator(of).first(),
      );
      assert.equal((await head!.boundingBox())!.x, (await cell!.boundingBox())!.x);
      await picture(shown, 'table-clock');
      await shown.page.keyboard.press('t');
      await shown.page.locator('.scroller[aria-busy=false]').waitFor();
      await picture(shown, 'axis-clock');
    },
    { answer: hostOf([short]) },
  );
});

test('the table has the same facts, sorts, and selects by keyboard', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.keyboard.press('t');
    await until(async () => assert.equal(await shown.page.getByRole('grid').getAttribute('aria-rowcount'), '42'));
    const tokens = shown.page.locator('.table-head').getByRole('button', { name: 'Tokens' });
    await tokens.click();
    await tokens.click();
    await until(async () =>
      assert.deepEqual((await shown.page.locator('.table-space .col-Tokens').allInnerTexts()).slice(0, 3), [
        '1,900',
        '1,220',
        '',
      ]),
    );
    await shown.page.locator('.table-head').getByRole('button', { name: 'Time' }).click();
    await shown.page.locator('.table-head').getByRole('button', { name: 'Time' }).click();
    await until(async () =>
      assert.match(await shown.page.locator('.table-space .table-row').first().innerText(), /support_agent/),
    );
    const grid = shown.page.getByRole('grid');
    await grid.focus();
    await shown.page.keyboard.press('ArrowDown');
    await until(async () => assert.match(await spoken(shown), /^support_agent, workflow/));
    // A screen reader is told of the row that the arrows are on.
    const row = shown.page.locator(`#${(await grid.getAttribute('aria-activedescendant')) ?? 'none'}`);
    assert.match(await row.innerText(), /support_agent/);
    assert.equal(await row.getAttribute('aria-selected'), 'true');
    // What each was given and what came of it, as text.
    const calls = shown.page.locator('.table-space .col-Call');
    await until(async () => {
      const texts = await calls.allTextContents();
      assert.ok(
        texts.includes("lookup_order edited (order_id=7, region='eu') → {'id': 7, 'total': 700}"),
        texts.join(),
      );
      assert.ok(texts.includes('refund(amount=700): ApprovalNeeded: <b>700</b> needs approval'), texts.join());
    });
    await picture(shown, 'table');
    for (const _row of [1, 2, 3]) await shown.page.keyboard.press('ArrowDown');
    await until(async () => assert.equal(await grid.getAttribute('aria-activedescendant'), 'call-3'));
    await shown.page.keyboard.press('Shift+F10');
    const [menu, selected] = [shown.page.getByRole('menu'), shown.page.locator('.table-row.selected')];
    const [at, of] = [await menu.boundingBox(), await selected.boundingBox()];
    assert.ok(Math.abs(at!.y - (of!.y + of!.height)) < 2, 'the menu opens at the row');
  }));

test('lines that were not answered are asked for again', (house) => {
  const usual = hostOf(RUNS);
  let failed = 0;
  const answer: Answer = (method, params) => {
    if (method === 'lines' && failed++ === 0) throw new Error('busy');
    return usual(method, params);
  };
  return withPage(
    house,
    async (shown) => {
      await ready(shown);
      await shown.page.keyboard.press('t');
      const calls = shown.page.locator('.table-space .col-Call');
      await until(async () => assert.match((await calls.allTextContents()).join(), /refund\(amount=700\)/));
      assert.equal(failed, 2);
    },
    { answer },
  );
});

test('lanes collapse and expand, by pointer and by keyboard', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    const lane = shown.page.getByRole('button', { name: /^support_agent, / });
    await shown.page.keyboard.press('l');
    await until(async () => assert.equal(await lane.getAttribute('aria-expanded'), 'false'));
    await until(async () => assert.equal(await spoken(shown), 'support_agent, collapsed'));
    // The lane below is hidden with it, and counted.
    assert.equal(await shown.page.locator('.lane-name').count(), 1);
    assert.equal(await shown.page.locator('.count-badge').innerText(), '+1');
    await lane.click();
    await until(async () => assert.equal(await shown.page.locator('.lane-name').count(), 2));
  }));

test('lanes that scroll: each call stands beside its name, the axis stays, and what is found is scrolled to', (house) =>
  withPage(
    house,
    async (shown) => {
      await ready(shown);
      const { page } = shown;
      const scrolled = (): Promise<number> => page.locator('.scroller').evaluate((element) => element.scrollTop);
      const heights = await page.evaluate(() =>
        ['.scroller', '.canvas-column canvas'].map((each) => document.querySelector(each)!.clientHeight),
      );
      assert.equal(heights[1], heights[0], 'of the canvas as of what is seen');
      const clickBeside = async (name: string): Promise<void> => {
        const box = await page.getByRole('button', { name: `${name}, expanded` }).boundingBox();
        await page.mouse.click(640, box!.y + box!.height / 2);
        await until(async () => assert.match(await spoken(shown), new RegExp(`^work_${name}, function`)));
      };
      await clickBeside('worker-2');
      // Also where the pane with its facts would open over it.
      await page.keyboard.press('Escape');
      await page.locator('.detail').waitFor({ state: 'detached' });
      const low = await page.locator('.scroller').boundingBox();
      await page.mouse.click(640, low!.y + low!.height - 30);
      await page.locator('.detail').waitFor();
      await until(async () => assert.ok((await scrolled()) > 100));
      const left = await page.locator('.scroller').boundingBox();
      const selected = /^work_(worker-[0-9]+), /.exec(await spoken(shown))![1]!;
      const named = await page.getByRole('button', { name: `${selected}, expanded` }).boundingBox();
      assert.ok(named!.y > left!.y && named!.y + named!.height <= left!.y + left!.height, 'it is seen');
      await page.locator('.scroller').evaluate((element) => (element.scrollTop = 0));
      await page.mouse.move(640, 300);
      await page.mouse.wheel(0, 700);
      await until(async () => assert.equal(await scrolled(), 700));
      await page.locator('.scroller[aria-busy=false]').waitFor();
      await clickBeside('worker-30');
      await picture(shown, 'lanes-scrolled');
      // A page by key is what is seen, no more.
      await page.locator('.scroller').evaluate((element) => (element.scrollTop = 0));
      await page.keyboard.press('PageDown');
      await until(async () => assert.ok((await scrolled()) > 100));
      assert.ok((await scrolled()) < heights[0]!);
      await page.keyboard.press('/');
      await page.keyboard.type('work_worker-59');
      await page.keyboard.press('Enter');
      await until(async () => assert.match(await spoken(shown), /^work_worker-59, function/));
      await until(async () => assert.ok((await scrolled()) > 700));
      await clickBeside('worker-59');
    },
    { answer: hostOf([sampleRun(1, { workers: 60 })]) },
  ));

test('the focus stays where the keys work, whatever closes under it', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    const { page } = shown;
    const focused = (): Promise<string> =>
      page.evaluate(
        () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.className ?? '',
      );
    await page.locator('.scroller').focus();
    const stage = await focused();
    for (const label of ['Filter kinds of calls', 'More']) {
      await page.getByRole('button', { name: label, exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('menu').waitFor();
      await page.keyboard.press('Escape');
      await until(async () => assert.equal(await focused(), label));
    }
    await page.locator('.scroller').focus();
    await page.keyboard.press(']');
    await until(async () => assert.match(await title(shown), /^refund/));
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menu').waitFor();
    await page.keyboard.press('Escape');
    await until(async () => assert.equal(await focused(), stage));
    await page.getByRole('button', { name: 'Close', exact: true }).press('Enter');
    await until(async () => assert.equal(await focused(), stage));
    await page.keyboard.press('r');
    await page.getByRole('button', { name: 'Drop the range' }).press('Enter');
    await until(async () => assert.equal(await focused(), stage));
    await page.keyboard.press('t');
    await until(async () => assert.match(await focused(), /^Calls/));
    await page.keyboard.press('/');
    await page.keyboard.press('Escape');
    await until(async () => assert.match(await focused(), /^Calls/));
    await page.keyboard.press('t');
    await until(async () => assert.equal(await focused(), stage));
  }));

test('kinds can be filtered', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.getByRole('button', { name: 'Filter kinds of calls' }).click();
    await shown.page.getByRole('menuitemcheckbox', { name: 'function' }).click();
    assert.equal(
      await shown.page.getByRole('menuitemcheckbox', { name: 'function' }).getAttribute('aria-checked'),
      'false',
    );
    await shown.page.keyboard.press('Escape');
    await shown.page.keyboard.press('t');
    await until(async () => assert.equal(await shown.page.getByRole('grid').getAttribute('aria-rowcount'), '17'));
  }));

test('the host shows a call of another run', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.notify('show', { file: '/runs/1.db', call: '1.5' });
    await until(async () => assert.match(await title(shown), /^lookup_order/));
    assert.match((await shown.page.locator('.run-title').getAttribute('aria-label')) ?? '', /^Run 1/);
  }));

test('no run yet teaches, and the first one shows itself', async (house) => {
  const runs: SampleRun[] = [];
  await withPage(
    house,
    async (shown) => {
      await until(async () =>
        assert.match(await shown.page.locator('.empty').innerText(), /No run yet\s+Press F5 on an agent\./),
      );
      await picture(shown, 'no-run');
      runs.push(sampleRun(1));
      await shown.notify('runsChanged', { folder: '/runs' });
      await until(async () =>
        assert.match((await shown.page.locator('.run-title').getAttribute('aria-label')) ?? '', /^Run 1/),
      );
    },
    { answer: hostOf(runs) },
  );
});

test('a file that cannot be read says so in its own sentence', async (house) => {
  const reader = answerFrom(RUNS);
  const answer: Answer = (method, params) => {
    if (method === 'start') return { folder: '/runs', follow: true };
    if (method === 'overview') throw new Error('The run file 3.db is damaged. The runs beside it can still be opened.');
    return reader(method as 'runs', params);
  };
  await withPage(
    house,
    async (shown) => {
      await until(async () =>
        assert.match(
          await shown.page.locator('.empty').innerText(),
          /This run cannot be shown\s+The run file 3.db is damaged/,
        ),
      );
    },
    { answer },
  );
});

test('what was added to a run since the host read it is shown', async (house) => {
  const reader = answerFrom(RUNS);
  const { file } = RUNS[0]!.summary;
  const whole = reader('overview', { file, buckets: MINIMAP_BUCKETS }) as Overview;
  // A session that died had written half of it. The question for the list of runs has the rest added.
  const half = Math.round(whole.end / 2);
  const overview: Overview = { ...whole, end: half, run: { ...whole.run, live: false, calls: 7, duration: half } };
  const none = { calls: tableOf([]), events: [], left: 0 };
  let known = 0;
  const answer: Answer = async (method, params) => {
    if (method !== 'start') return reader(method as 'runs', params);
    const { width = 0 } = params as HostMethods['start']['params'];
    const answers = await firstAnswers(file, overview, width, (asked) => {
      known += 1;
      return Promise.resolve((asked === 'bars' ? none : { lanes: [] }) as never);
    });
    return { folder: '/runs', follow: true, file, overview, known: answers };
  };
  await withPage(
    house,
    async (shown) => {
      await until(async () =>
        assert.match((await shown.page.locator('.run-title').getAttribute('aria-label')) ?? '', /, 41 calls,/),
      );
      await shown.page.locator('.scroller[aria-busy=false]').waitFor();
      assert.ok(known > 0);
      // The answers of before are not taken for those of now.
      await until(() => assert.ok(shown.asked.some(({ method }) => method === 'bars')));
    },
    { answer },
  );
});

test('help lists the keys and the signs', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.keyboard.press('?');
    await until(async () =>
      assert.match(
        await shown.page.locator('dialog').innerText(),
        /held: a breakpoint stopped[\s\S]*Previous and next error/,
      ),
    );
    await picture(shown, 'help');
    await shown.page.keyboard.press('Escape');
    await until(async () => assert.equal(await shown.page.locator('dialog').count(), 0));
  }));
