/** Moving about and looking at calls. */
import assert from 'node:assert/strict';
import type { CallDetail } from '../../protocol/timeline';
import { hostOf, lastAsked, picture, ready, RUNS, spoken, test, title, until, windowText, withPage } from './harness';

test('keys zoom, move, and show the whole run again', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.keyboard.press('w');
    await until(async () => assert.doesNotMatch(await windowText(shown), /^0 ns/));
    const zoomed = await windowText(shown);
    await shown.page.keyboard.press('d');
    await until(async () => assert.notEqual(await windowText(shown), zoomed));
    await shown.page.keyboard.press('0');
    await until(async () => assert.match(await windowText(shown), /^0 ns to 12.4 s/));
  }));

test('keys zoom at the pointer, be there a call or none', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.locator('.scroller').focus();
    const box = (await shown.page.locator('.scroller').boundingBox())!;
    // At the start of the run, below all lanes.
    await shown.page.mouse.move(box.x + 205, box.y + box.height - 20);
    for (const _time of [1, 2, 3]) await shown.page.keyboard.press('w');
    await until(async () => assert.match(await windowText(shown), /^\d+ ms to 4\.\d s of 12\.4 s/));
  }));

test('Ctrl and the wheel zoom; dragging moves; the minimap brings its place', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.mouse.move(700, 300);
    await shown.page.keyboard.down('Control');
    await shown.page.mouse.wheel(0, -600);
    await shown.page.keyboard.up('Control');
    await until(async () => assert.doesNotMatch(await windowText(shown), /^0 ns/));
    const zoomed = await windowText(shown);
    await shown.page.mouse.down();
    await shown.page.mouse.move(500, 300, { steps: 4 });
    await shown.page.mouse.up();
    await until(async () => assert.notEqual(await windowText(shown), zoomed));
    await shown.page.locator('.minimap').click({ position: { x: 1240, y: 20 } });
    await until(async () => assert.match(await windowText(shown), /to 12.4 s of/));
  }));

test('a click selects a call and shows its facts, as text and never as html', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.mouse.click(520, 159);
    await until(async () =>
      assert.match(await title(shown), /^lookup_order\(amount=700, reason='customer <b>asked<\/b>'/),
    );
    assert.deepEqual(lastAsked(shown, 'selected'), { file: '/runs/3.db', id: '1.5' });
    await until(async () =>
      assert.match(await spoken(shown), /^lookup_order, tool, returned, 3\.3 s, held 2\.9 s, edited$/),
    );
    assert.equal(await shown.page.locator('.detail b').count(), 0);
    assert.match(await shown.page.locator('.tree .mark').first().innerText(), /cut after 20 characters/);
    const input = shown.page.getByRole('tree', { name: 'Input', exact: true }).locator('[role=treeitem]');
    await input.filter({ hasText: 'order' }).click();
    await input.filter({ hasText: 'lines' }).click();
    await until(async () => assert.equal(await input.filter({ hasText: "'mug'" }).count(), 1));
    // A part of it is copied from its own menu, by pointer or keyboard.
    await input.filter({ hasText: 'lines' }).focus();
    await shown.page.keyboard.press('Shift+F10');
    await shown.page.getByRole('menuitem', { name: 'Copy as Python' }).press('Enter');
    await until(() => {
      const { path, format } = lastAsked(shown, 'copy') ?? {};
      assert.deepEqual([path, format], [['order', 'lines'], 'python']);
    });
    await input.filter({ hasText: "'mug'" }).click({ button: 'right' });
    await shown.page.getByRole('menuitem', { name: 'Copy as JSON' }).click();
    await until(() => assert.equal(lastAsked(shown, 'copyText')?.text, '"mug"'));
    await input.filter({ hasText: "'mug'" }).click({ button: 'right' });
    await shown.page.getByRole('menuitem', { name: 'Find This Value', exact: true }).click();
    await until(async () => assert.equal(await shown.page.locator('.search input').inputValue(), 'value:"mug"'));
    assert.deepEqual(lastAsked(shown, 'search')?.query, { text: 'mug' });
    await input.filter({ hasText: 'lines' }).click({ button: 'right' });
    const find = shown.page.getByRole('menuitem', { name: 'Find This Value', exact: true });
    assert.equal(await find.getAttribute('aria-disabled'), 'true', 'a container is not searched for');
    await shown.page.keyboard.press('Escape');
    await shown.page.getByRole('button', { name: 'Copy as JSON' }).first().click();
    await until(() => assert.match(String(lastAsked(shown, 'copyText')?.text), /"amount":700/));
    await picture(shown, 'selected');
  }));

test('a long text opens like a container and is read whole, line by line', (house) =>
  withPage(
    house,
    async (shown) => {
      const { page } = shown;
      await page.locator('.scroller').focus();
      await page.keyboard.press('/');
      await page.keyboard.type('score');
      await page.keyboard.press('Enter');
      await page.getByRole('tab', { name: 'Output' }).click();
      const rows = page.getByRole('tree', { name: 'Output', exact: true }).locator('[role=treeitem]');
      await until(async () => assert.equal(await rows.count(), 4));
      assert.equal(await rows.first().getAttribute('aria-expanded'), null, 'a short text has nothing to open');
      assert.match(await rows.nth(3).innerText(), /^''\s*:\s*1$/, 'an empty key is a name, too');
      // How long it is is told however narrow the page is.
      const length = rows.filter({ hasText: 'All work' }).getByText('(33008 characters)');
      const { x, width } = (await length.boundingBox()) ?? { x: 0, width: 0 };
      assert.ok(width > 0 && x + width <= 700);
      await rows.nth(1).focus();
      assert.equal(await rows.nth(1).getAttribute('aria-expanded'), 'false');
      await page.keyboard.press('ArrowRight');
      const whole = page.locator('.whole-text .value-text');
      await until(async () => assert.equal(await whole.innerText(), 'first <b>line</b>\nsecond line'));
      assert.equal(await rows.nth(1).getAttribute('aria-expanded'), 'true');
      assert.equal(await page.locator('.detail b').count(), 0);
      await page.keyboard.press('ArrowDown');
      assert.match(await page.locator('[role=treeitem]:focus').innerText(), /^first <b>line<\/b>\nsecond line$/);
      await page.keyboard.press('Shift+F10');
      const find = page.getByRole('menuitem', { name: 'Find This Value', exact: true });
      assert.equal(await find.getAttribute('aria-disabled'), 'false');
      await page.keyboard.press('Escape');
      await page.locator('.whole-text:focus').waitFor();
      await picture(shown, 'long-text');
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('Enter');
      await until(async () => assert.equal(await whole.count(), 0));
      // Of a very long one the beginning, and how long it is; a copy has all of it.
      await rows.filter({ hasText: 'All work' }).click();
      await until(async () =>
        assert.match(
          await whole.innerText(),
          /^(All work and no play\. )+A[^]*…\s*A copy has all 33,008 characters that were recorded\.$/,
        ),
      );
      assert.ok((await whole.boundingBox())!.width <= 700);
      await page.keyboard.press('ArrowDown');
      const scrolled = (): Promise<number> => page.locator('.tab-panel').evaluate((panel) => panel.scrollTop);
      const before = await scrolled();
      await page.keyboard.press('PageDown');
      await until(async () => assert.ok((await scrolled()) > before + 50, 'it can be read by keyboard'));
      await picture(shown, 'very-long-text');
      await page.keyboard.press('Shift+F10');
      await page.getByRole('menuitem', { name: 'Copy as JSON' }).press('Enter');
      await until(() => assert.equal(String(lastAsked(shown, 'copyText')?.text).length, 33_010));
    },
    { size: { width: 700, height: 600 } },
  ));

test('what is nested deep is read in a narrow page', (house) => {
  const host = hostOf(RUNS);
  const DEEPEST = 60;
  return withPage(
    house,
    async (shown) => {
      const { page } = shown;
      await ready(shown);
      await page.keyboard.press('/');
      await page.keyboard.type('score');
      await page.keyboard.press('Enter');
      await page.getByRole('tab', { name: 'Input' }).click();
      const tree = page.getByRole('tree', { name: 'Input', exact: true });
      const row = (level: number) => tree.locator(`[aria-level="${level}"]`).first();
      for (let level = 1; level < DEEPEST; level += 1) await row(level).click();
      const last = row(DEEPEST);
      const { x, width } = (await last.getByText("'found'").boundingBox()) ?? { x: 0, width: 0 };
      assert.ok(width > 30 && x + width <= 500, `from ${x} on ${width} wide`);
      await picture(shown, 'deep');
    },
    {
      size: { width: 500, height: 700 },
      answer: (method, params) => {
        if (method !== 'value') return host(method, params);
        const isLeaf = (params['path'] as string[]).length === DEEPEST - 1;
        const node = isLeaf
          ? { text: "'found'", type: 'str', children: 0 }
          : { text: 'dict (1)', type: 'dict', children: 1 };
        return { nodes: [{ name: isLeaf ? 'leaf' : 'inner', ...node }] };
      },
    },
  );
});

test('more rows of a long value come by key, and the focus goes on with them', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.keyboard.press('/');
    await shown.page.keyboard.type('parse_line');
    await shown.page.keyboard.press('Enter');
    await until(async () => assert.match(await title(shown), /^parse_line/));
    const rows = shown.page.getByRole('tree', { name: 'Input', exact: true }).locator('[role=treeitem]');
    const focused = (): Promise<string> => shown.page.locator('[role=treeitem]:focus').innerText();
    await until(async () => assert.equal(await rows.count(), 101));
    await rows.nth(99).focus();
    await shown.page.keyboard.press('ArrowDown');
    assert.match(await focused(), /Show 100 more of 250/);
    await shown.page.keyboard.press('Enter');
    await until(async () => assert.match(await focused(), /^100\s*:\s*10000$/));
    assert.equal(await rows.count(), 201);
    await shown.page.keyboard.press('ArrowUp');
    assert.match(await focused(), /^99\s*:/);
    await shown.page.keyboard.press('PageUp');
    await until(async () => assert.match(await focused(), /^[5-9]\d\s*:/));
    await shown.page.keyboard.press('Home');
    assert.match(await focused(), /^0\s*:/);
    await shown.page.keyboard.press('End');
    assert.match(await focused(), /Show 50 more of 250/);
    await rows.nth(200).click();
    await until(async () => assert.match(await focused(), /^200\s*:\s*40000$/));
    assert.equal(await rows.count(), 250);
    assert.equal(await shown.page.locator('.tree .more').count(), 0);
    assert.equal(await shown.page.locator('[role=treeitem][tabindex="0"]').filter({ hasText: '40000' }).count(), 1);
  }));

test('brackets go from error to error; Enter opens; Alt and arrows walk the calls', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.keyboard.press(']');
    await until(async () => assert.match(await spoken(shown), /^refund, tool, error, 3 ms/));
    await shown.page.keyboard.press(']');
    await until(async () => assert.match(await spoken(shown), /^refund, tool, error, 600 ms/));
    await shown.page.keyboard.press('[');
    await until(async () => assert.match(await spoken(shown), /^refund, tool, error, 3 ms/));
    await until(async () =>
      assert.match(await shown.page.locator('.error-message').first().innerText(), /amount 700 needs approval/),
    );
    await shown.page.keyboard.press('Alt+ArrowUp');
    await until(async () => assert.match(await spoken(shown), /^tools, node/));
    await shown.page.keyboard.press('Alt+ArrowLeft');
    await until(async () => assert.match(await spoken(shown), /^agent, node/));
    await shown.page.keyboard.press('Alt+ArrowDown');
    await until(async () => assert.match(await spoken(shown), /^gpt-x, llm/));
    await shown.page.keyboard.press('Enter');
    await until(async () => assert.equal(await shown.page.locator('[role=tab]:focus').innerText(), 'Input'));
    await shown.page.keyboard.press('ArrowRight');
    await shown.page.keyboard.press('ArrowRight');
    await until(async () => assert.match(await shown.page.locator('.messages').innerText(), /please refund order 7/));
    for (const message of await shown.page.locator('.messages li').all()) {
      const [role, text] = [message.locator('.role'), message.locator('.message-text')];
      const end = await role.evaluate((element) => element.getBoundingClientRect().left + element.scrollWidth);
      assert.ok(end <= ((await text.boundingBox())?.x ?? 0), 'a long role does not reach into the text');
    }
  }));

test('what came of a command is shown for a moment, and said each time', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    const { page } = shown;
    await page.mouse.click(520, 159);
    const spokenTimes = `new Promise((resolve) => {
      new MutationObserver(() => resolve(document.querySelector('.spoken').textContent))
        .observe(document.querySelector('.spoken'), { childList: true, characterData: true, subtree: true });
    })`;
    const notice = page.locator('.notice');
    const copy = page.getByRole('button', { name: 'Copy as JSON' }).first();
    await copy.click();
    await until(async () => assert.equal(await spoken(shown), 'Copied'));
    assert.equal(await notice.innerText(), 'Copied');
    await picture(shown, 'notice');
    const again = page.evaluate<string>(spokenTimes);
    await copy.click();
    assert.equal(await again, 'Copied', 'the second time is told, too');
    await page.locator('.scroller').focus();
    await page.keyboard.press(']');
    await until(async () => assert.match(await spoken(shown), /^refund, tool, error, 3 ms/));
    await page.keyboard.press(']');
    await until(async () => assert.match(await spoken(shown), /^refund, tool, error, 600 ms/));
    await page.keyboard.press(']');
    await until(async () => assert.equal(await notice.innerText(), 'No next error in this run'));
    await until(async () => assert.equal(await spoken(shown), 'No next error in this run'));
    await until(async () => assert.equal(await notice.count(), 0));
  }));

test('the stack of a deep recursion shows the call itself, and how many levels are left out', (house) => {
  const answer = hostOf(RUNS);
  const deep: CallDetail['path'] = Array.from({ length: 1000 }, (_, index) => ({
    id: `9.${index}`,
    name: 'down',
    kind: 'function',
  }));
  return withPage(
    house,
    async (shown) => {
      await ready(shown);
      await shown.page.mouse.click(520, 159);
      await shown.page.getByRole('tab', { name: 'Stack' }).click();
      const here = shown.page.locator('.stack [aria-current=location]');
      await until(async () => assert.equal(await here.innerText(), 'lookup_order'));
      const [panel, own] = [await shown.page.locator('.tab-panel').boundingBox(), await here.boundingBox()];
      assert.ok(own!.y > panel!.y && own!.y + own!.height <= panel!.y + panel!.height + 1, 'it is in sight');
      assert.ok(own!.x < 400);
      await picture(shown, 'deep-stack');
      assert.match(await shown.page.locator('.stack li').nth(500).innerText(), /^… 19,002 levels left out …$/);
      assert.equal(await shown.page.locator('.stack li').count(), 1001);
    },
    {
      answer: (method, params) => {
        const told = answer(method, params);
        if (method !== 'call') return told;
        const { path, ...detail } = told as CallDetail;
        return { ...detail, path: [...deep.slice(0, -1), path.at(-1)], pathLeft: { at: 500, levels: 19_002 } };
      },
    },
  );
});

test('an error too short for the zoom is drawn all the same', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.notify('show', { file: '/runs/2.db' });
    await until(async () => assert.match(await shown.page.locator('.run-title').innerText(), /run 2/));
    await shown.page.locator('.scroller[aria-busy=false]').waitFor();
    await until(async () => assert.match(await shown.page.locator('.axis-corner').innerText(), /Short calls left out/));
    await until(() => assert.ok(lastAsked(shown, 'search')));
    // 7.5 s on the axis, third row of the first lane. It is there once the answer is drawn.
    await until(async () => {
      await shown.page.mouse.click(200 + Math.round((7.5 / 12.648) * 1080), 159);
      assert.match(await spoken(shown), /^refund, tool, error/);
    });
  }));

test('a node shows what it changed in the state', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.mouse.click(600, 139);
    await shown.page.getByRole('tab', { name: 'State' }).click();
    await until(async () => {
      const lines = await shown.page.locator('.change').allInnerTexts();
      assert.deepEqual(
        lines.map((line) => line.replace(/\s+/g, ' ')),
        ["+ visits[1] 'tools'", "~ verdict '' → 'scored'", "- draft 'dear customer'"],
      );
    });
    assert.equal(
      await shown.page.locator('.tab-panel > p').innerText(),
      'notes is shown as it was before: recording does not run its own reducer.',
    );
    await picture(shown, 'state');
  }));

test('an output of None is said once', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.mouse.click(1000, 139);
    await until(async () => assert.match(await spoken(shown), /^review, node/));
    await shown.page.getByRole('tab', { name: 'Output' }).click();
    const section = shown.page.locator('.tab-panel .value');
    await until(async () =>
      assert.match((await section.innerText()).replace(/\s+/g, ' '), /^Output Copy as JSON Copy as Python None$/),
    );
    await picture(shown, 'none');
  }));

test('search marks what it finds and goes through it', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.keyboard.press('/');
    await shown.page.keyboard.type('refund');
    await until(async () => assert.equal(await shown.page.locator('.search-count').innerText(), '3 found'));
    await picture(shown, 'search');
    await shown.page.keyboard.press('Enter');
    await until(async () => assert.equal(await shown.page.locator('.search-count').innerText(), '1 of 3'));
    await shown.page.keyboard.press('Shift+Enter');
    await until(async () => assert.equal(await shown.page.locator('.search-count').innerText(), '3 of 3'));
    await shown.page.locator('.search input').fill('status:error refund');
    await until(async () => assert.equal(await shown.page.locator('.search-count').innerText(), '2 of 2'));
    const { text, query } = lastAsked(shown, 'search') as { text: string; query: unknown };
    assert.deepEqual([text, query], ['refund', { status: ['error'] }]);
    await shown.page.locator('.search input').fill('status:bogus');
    await until(async () =>
      assert.equal(
        await shown.page.locator('.no-match').innerText(),
        'There is no status "bogus". There are running, returned, error, cancelled, skipped and interrupted.',
      ),
    );
    await shown.page.locator('.search input').fill('serach');
    await until(async () =>
      assert.match(await shown.page.locator('.no-match').innerText(), /No call of this run matches "serach"/),
    );
    await until(async () => assert.equal(await spoken(shown), 'No call of this run matches "serach".'));
    assert.equal(await shown.page.locator('.no-match[role]').count(), 0, 'it is read aloud once');
    await shown.page.keyboard.press('Escape');
    await until(async () => assert.equal(await shown.page.locator('.no-match').count(), 0));
  }));

test('Shift and a drag select a range and say its totals', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.keyboard.down('Shift');
    await shown.page.mouse.move(850, 300);
    await shown.page.mouse.down();
    await shown.page.mouse.move(1260, 300, { steps: 5 });
    await shown.page.mouse.up();
    await shown.page.keyboard.up('Shift');
    await until(async () =>
      assert.match(
        (await shown.page.locator('.range-totals').innerText()).replace(/\s+/g, ' '),
        /^4\.\d s 3\d calls 1 error busy .* · durations .* p50 29 ms · p95 \S+ \S+ .*function 25 · /,
      ),
    );
    await until(async () => assert.match(await spoken(shown), /^Range selected: 3\d calls, 1 error, p50 29 ms, p95 /));
    await picture(shown, 'range');
    // What is filtered out does not count.
    await shown.page.getByRole('button', { name: 'Filter kinds of calls' }).click();
    await shown.page.getByRole('menuitemcheckbox', { name: 'function' }).click();
    await until(async () => assert.doesNotMatch(await shown.page.locator('.range-totals').innerText(), /function/));
    await shown.page.getByRole('menuitemcheckbox', { name: 'function' }).click();
    await shown.page.keyboard.press('Escape');
    await shown.page.locator('.scroller').focus();
    await shown.page.keyboard.press('Escape');
    await until(async () => assert.equal(await shown.page.locator('.range-totals').count(), 0));
    // By keyboard: what the window shows.
    await shown.page.keyboard.press('r');
    await until(async () =>
      assert.match(
        (await shown.page.locator('.range-totals').innerText()).replace(/\s+/g, ' '),
        /^12\.4 s 41 calls 2 errors .* 3\.1 k tokens/,
      ),
    );
    assert.match(await shown.page.locator('.range-totals').innerText(), /http 1 /, 'the smallest kind is told, too');
    await shown.page.getByRole('button', { name: 'Filter kinds of calls' }).click();
    await shown.page.getByRole('menuitemcheckbox', { name: 'Errors only' }).click();
    await until(async () =>
      assert.match(
        (await shown.page.locator('.range-totals').innerText()).replace(/\s+/g, ' '),
        /^12\.4 s 2 calls 2 errors busy 603 ms /,
      ),
    );
    await shown.page.keyboard.press('Escape');
    // Of more calls than are fetched, some of the short ones are not known.
    await shown.notify('show', { file: '/runs/2.db' });
    await until(async () => assert.match(await shown.page.locator('.run-title').innerText(), /run 2/));
    await shown.page.locator('.scroller').focus();
    await shown.page.keyboard.press('r');
    await until(async () => assert.match(await shown.page.locator('.range-totals').innerText(), /busy at least /));
  }));

test('the menu of a call asks for breakpoints, source and the like', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.mouse.click(520, 159, { button: 'right' });
    await picture(shown, 'menu');
    await shown.page.getByRole('menuitem', { name: 'Break on Error' }).click();
    await until(() =>
      assert.deepEqual(lastAsked(shown, 'breakHere'), {
        path: '/app/triage.py',
        line: 12,
        kind: 'tool',
        name: 'lookup_order',
        boundary: 'error',
      }),
    );
    await shown.page.locator('.scroller').focus();
    await shown.page.keyboard.press('Shift+F10');
    const like = shown.page.getByRole('menuitem', { name: 'Find Calls Like This' });
    await like.focus();
    // What a browser tells when the menu opens below a pointer that rests.
    await shown.page.getByRole('menuitem', { name: 'Break on Error' }).dispatchEvent('mouseenter');
    assert.ok(await like.evaluate((item) => item === document.activeElement));
    await shown.page.getByRole('menuitem', { name: 'Fit' }).hover();
    await until(async () => assert.ok(await like.evaluate((item) => item !== document.activeElement)));
    await like.press('Enter');
    await until(async () => assert.equal(await shown.page.locator('.search input').inputValue(), 'lookup_order'));
    await shown.page.getByRole('button', { name: 'Go to source' }).click();
    await until(() => assert.deepEqual(lastAsked(shown, 'openSource'), { path: '/app/triage.py', line: 12 }));
  }));
