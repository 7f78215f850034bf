/** Values beside each other: the state around a node, arguments that were edited, and two calls. */
import assert from 'node:assert/strict';
import type { ReaderMethods } from '../../protocol/timeline';
import type { Answer, Shown } from './browser';
import { RUNS, hostOf, lastAsked, picture, ready, spoken, test, title, until, windowText, withPage } from './harness';

/** The rows of the tree of that name: what is said of each, and how deep it is. */
async function rows(shown: Shown, label: string): Promise<string[]> {
  const all = await shown.page.locator(`[role=tree][aria-label^="${label}"] [role=treeitem]`).all();
  return Promise.all(
    all.map(async (row) => {
      const text = (await row.getAttribute('aria-label')) ?? (await row.innerText()).trim();
      return `${'  '.repeat(Number(await row.getAttribute('aria-level')) - 1)}${text}`;
    }),
  );
}

test('the state before and after a node side by side: what differs is open, what is equal is counted', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.mouse.click(600, 139);
    await shown.page.getByRole('tab', { name: 'State' }).click();
    await shown.page.getByRole('button', { name: 'Side by Side' }).click();
    const different = [
      'messages, changed, list (1) → list (2)',
      "  1, added, '→ lookup_order'",
      '  1 equal part',
      'visits, changed, list (1) → list (2)',
      "  1, added, 'tools'",
      '  1 equal part',
      "verdict, changed, '' → 'scored'",
    ];
    await until(async () => assert.deepEqual(await rows(shown, 'Changes'), different));
    await picture(shown, 'state-side-by-side');
    // By keyboard alone: down to the equal parts, and into them.
    await shown.page.locator('[role=tree][aria-label^="Changes"] [role=treeitem]').first().focus();
    await shown.page.keyboard.press('ArrowDown');
    await shown.page.keyboard.press('ArrowDown');
    await shown.page.keyboard.press('ArrowRight');
    await until(async () =>
      assert.deepEqual((await rows(shown, 'Changes')).slice(2, 4), [
        '  1 equal part',
        "    0, equal, 'please refund order 7'",
      ]),
    );
    await shown.page.keyboard.press('ArrowLeft');
    await until(async () => assert.deepEqual(await rows(shown, 'Changes'), different));
    // The choice stays for the next node.
    await shown.page.getByRole('button', { name: 'List' }).click();
    await until(async () => assert.equal(await shown.page.locator('.changes .change').count(), 3));
  }));

test('an edited call shows what it got, beside what it was given', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.mouse.click(520, 159);
    await until(async () => assert.match(await title(shown), /^lookup_order\(amount=700/));
    await until(async () =>
      assert.deepEqual(await rows(shown, 'Edited while held'), [
        'amount, changed, 70 → 700',
        'order, changed, dict (4) → dict (4)',
        '  paid, changed, False → True',
        '  3 equal parts',
        '1 equal part',
      ]),
    );
    await picture(shown, 'edited');
    assert.equal(await shown.page.locator('.detail b').count(), 0);
  }));

test('two long texts stand whole beside each other when they are opened', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    const { page } = shown;
    const find = async (name: string): Promise<void> => {
      await page.keyboard.press('/');
      await page.locator('.search input').fill(name);
      await page.keyboard.press('Enter');
      await until(async () => assert.match(await title(shown), new RegExp(`^${name}\\(`)));
      await page.locator('.scroller').focus();
    };
    await find('score');
    await page.keyboard.press('c');
    await find('notify');
    await page.keyboard.press('Shift+C');
    const lines = page.locator('[role=tree][aria-label^="Output"] [role=treeitem]').filter({ hasText: 'second line' });
    await until(async () => assert.equal(await lines.first().getAttribute('aria-expanded'), 'false'));
    await lines.first().focus();
    await page.keyboard.press('Enter');
    const sides = page.locator('.whole-text .value-text');
    await until(async () =>
      assert.deepEqual(await sides.allInnerTexts(), [
        'first <b>line</b>\nsecond line',
        'first <b>line</b>\nanother line',
      ]),
    );
    const [one, other] = [await sides.nth(0).boundingBox(), await sides.nth(1).boundingBox()];
    assert.ok(one!.x + one!.width <= other!.x);
    assert.equal(one!.y, other!.y);
    await picture(shown, 'long-texts-compared');
    assert.ok((await rows(shown, 'Output')).some((row) => row.startsWith("'', removed, 1")));
  }));

test('two calls are compared: one is selected for it, the other one by menu or key', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.mouse.click(520, 159, { button: 'right' });
    assert.equal(
      await shown.page.getByRole('menuitem', { name: 'Compare with Selected' }).getAttribute('aria-disabled'),
      'true',
    );
    await shown.page.getByRole('menuitem', { name: 'Select for Compare' }).click();
    await until(async () => assert.match(await spoken(shown), /lookup_order is selected for comparing/));
    assert.equal(await shown.page.getByRole('tab', { name: 'Compare' }).count(), 0);
    await shown.page.locator('.scroller').focus();
    await shown.page.keyboard.press(']');
    await until(async () => assert.match(await title(shown), /^refund/));
    await shown.page.keyboard.press('Shift+C');
    await until(async () =>
      assert.equal(await shown.page.locator('[role=tab][aria-selected=true]').innerText(), 'Compare'),
    );
    await until(async () => {
      const facts = await shown.page.locator('.compare-facts').innerText();
      assert.match(facts.replace(/\s+/g, ' '), /State returned error Took 3.3 s 3 ms/);
    });
    // The reason is cut on both sides: behind that they may differ.
    await until(async () =>
      assert.match(
        await shown.page.locator('.tab-panel').innerText(),
        /What was recorded of both is equal\. cut after 20 characters/,
      ),
    );
    await until(async () => assert.deepEqual(await rows(shown, 'Input'), ['3 equal parts']));
    // What only one of them has is on its own side.
    await until(async () => assert.deepEqual(await rows(shown, 'Output'), ['removed, dict (2)']));
    await picture(shown, 'compare-calls');
    await shown.page.getByRole('button', { name: 'Stop Comparing' }).click();
    await until(async () => assert.equal(await shown.page.getByRole('tab', { name: 'Compare' }).count(), 0));
    await shown.page.keyboard.press('Escape');
    // And from the menu: the other way round, by keys.
    await shown.page.locator('.scroller').focus();
    await shown.page.keyboard.press('c');
    await until(async () => assert.match(await spoken(shown), /refund is selected for comparing/));
    await shown.page.keyboard.press('0');
    await until(async () => assert.match(await windowText(shown), /^0 ns to 12.4 s/));
    await shown.page.mouse.click(520, 159, { button: 'right' });
    await shown.page.getByRole('menuitem', { name: 'Compare with refund' }).click();
    await until(async () => assert.equal(await shown.page.getByRole('tab', { name: 'Compare' }).count(), 1));
    assert.equal((lastAsked(shown, 'compare') as { which: string }).which, 'different');
  }));

test('what is said of equal values keeps to what was recorded of them', async (house) => {
  const reader = hostOf(RUNS);
  const cases = [
    [{}, 'Both are equal.', '3 equal parts', 'This call left the state as it was.'],
    [
      { unrecorded: 'Masked: key holds a secret.' },
      'What was recorded of both is equal. Masked: key holds a secret.',
      '3 equal parts',
      'What was recorded of the state is the same before and after this call. Masked: key holds a secret.',
    ],
    [
      { unrecorded: '' },
      'What was recorded of both is equal.',
      '3 equal parts',
      'What was recorded of the state is the same before and after this call.',
    ],
    [
      { reordered: true },
      'Both are equal, in another order.',
      '3 equal parts, in another order',
      'This call left the state as it was.',
    ],
  ] as const;
  for (const [more, said, row, list] of cases) {
    const change = 'reordered' in more ? 'changed' : 'same';
    const answer: Answer = async (method, params) => {
      const told = (await reader(method, params)) as object;
      if (method === 'call' && 'stateBefore' in told) return { ...told, changes: [], ...more };
      if (method !== 'compare') return told;
      const { root } = told as ReaderMethods['compare']['result'];
      return { root: { ...root, change }, rows: [], different: 0, equal: 3, ...more };
    };
    await withPage(
      house,
      async (shown) => {
        await ready(shown);
        await shown.page.mouse.click(600, 139);
        await shown.page.getByRole('tab', { name: 'State' }).click();
        const head = shown.page.locator('.value-head .muted').first();
        await until(async () => assert.equal(await head.innerText(), list));
        await shown.page.getByRole('button', { name: 'Side by Side' }).click();
        await until(async () => assert.equal(await head.innerText(), said));
        await until(async () => assert.deepEqual(await rows(shown, 'Changes'), [row]));
      },
      { answer },
    );
  }
});

test('two long texts are opened where they differ', async (house) => {
  const reader = hostOf(RUNS);
  const answer: Answer = async (method, params) => {
    if (method === 'text') return { text: `…from ${(params as { from?: number }).from}` };
    const told = await reader(method, params);
    if (method !== 'compare') return told;
    const [before, after] = ['one', 'other'].map((text) => ({ name: 'a', text, type: 'str', children: 0, long: true }));
    const { root } = told as ReaderMethods['compare']['result'];
    return { root, rows: [{ change: 'changed', before, after, alike: false, from: 99_000 }], different: 1, equal: 0 };
  };
  await withPage(
    house,
    async (shown) => {
      await ready(shown);
      await shown.page.mouse.click(520, 159);
      await until(async () => assert.deepEqual(await rows(shown, 'Edited while held'), ['a, changed, one → other']));
      await shown.page.locator('[role=tree][aria-label^="Edited"] [role=treeitem]').first().click();
      const sides = shown.page.locator('.whole-text .value-text');
      await until(async () => assert.deepEqual(await sides.allInnerTexts(), ['…from 99000', '…from 99000']));
    },
    { answer },
  );
});
