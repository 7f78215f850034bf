/** Runs that go on while the page shows them, and runs of a real agent, answered by the real reader. */
import assert from 'node:assert/strict';
import type { Shown } from './browser';
import { hostOf, lastAsked, picture, ready, RUNS, spoken, test, title, until, windowText, withPage } from './harness';
import { RealRun } from './recorded';
import { sampleRun, type SampleRun } from './sample';

test('a live run grows, is followed, and keeps the selection', async (house) => {
  const live = sampleRun(4, { live: true });
  const runs = [live, ...RUNS];
  await withPage(
    house,
    async (shown) => {
      await until(async () => assert.ok((await shown.page.locator('.live-badge').count()) > 0));
      await until(() => assert.deepEqual(lastAsked(shown, 'follow'), { file: '/runs/4.db' }));
      await shown.notify('show', { file: '/runs/4.db', call: '1.4' });
      await until(async () => assert.match(await spoken(shown), /^tools, node/));
      await picture(shown, 'live');
      live.summary.duration = 20e9;
      live.summary.calls += 1;
      await shown.notify('changed', { file: '/runs/4.db' });
      await until(async () => assert.match((await shown.page.locator('.run-title').innerText()) ?? '', /20(\.\d)? s/));
      assert.match(await title(shown), /^tools/);
    },
    { answer: hostOf(runs) },
  );
});

test('a run whose file is not there yet is waited for, then followed', async (house) => {
  const live = sampleRun(4, { live: true });
  const recorded: SampleRun[] = [];
  const host = hostOf(recorded, { file: '/runs/4.db', recording: true });
  await withPage(
    house,
    async (shown) => {
      await until(() => assert.deepEqual(lastAsked(shown, 'follow'), { file: '/runs/4.db' }));
      await until(async () => assert.match(await shown.page.locator('.empty').innerText(), /No calls yet/));
      // It was asked for in vain, and that is no problem yet.
      await until(async () => assert.ok(shown.asked.filter(({ method }) => method === 'overview').length >= 2));
      assert.match(await shown.page.locator('.empty').innerText(), /No calls yet/);
      recorded.push(live);
      await shown.notify('changed', { file: '/runs/4.db' });
      await until(async () => assert.ok((await shown.page.locator('.live-badge').count()) > 0));
      await until(async () => assert.match(await shown.page.locator('.run-title').innerText(), /run 4/));
      await shown.page.locator('.scroller[aria-busy=false]').waitFor();
    },
    { answer: host },
  );
});

test('a run that cannot be read says why, and shows itself once it can be', async (house) => {
  const recorded = [...RUNS];
  await withPage(
    house,
    async (shown) => {
      await ready(shown);
      await shown.notify('show', { file: '/runs/4.db' });
      await until(async () =>
        assert.match(await shown.page.locator('.empty').innerText(), /cannot be shown[\s\S]*4\.db is not a run file/),
      );
      await until(() => assert.deepEqual(lastAsked(shown, 'follow'), { file: '/runs/4.db' }));
      recorded.push(sampleRun(4));
      await shown.notify('changed', { file: '/runs/4.db' });
      await until(async () => assert.match(await shown.page.locator('.run-title').innerText(), /run 4/));
      assert.equal(await shown.page.locator('.empty').count(), 0);
    },
    { answer: hostOf(recorded) },
  );
});

test('a session that could not record says so when it has ended', async (house) => {
  await withPage(
    house,
    async (shown) => {
      await until(async () => assert.match(await shown.page.locator('.empty').innerText(), /No calls yet/));
      await shown.notify('runsChanged', { folder: '/runs' });
      await until(async () => assert.match(await shown.page.locator('.empty').innerText(), /cannot be shown/));
    },
    { answer: hostOf([], { file: '/runs/4.db', recording: true }) },
  );
});

/** What is selected is read again beside this: the last request may be another. */
const timesAsked = (shown: Shown, id: string): number =>
  shown.asked.filter(({ method, params }) => method === 'call' && params.id === id).length;

test('a call that is told of before it is recorded is selected as soon as it is there', async (house) => {
  const live = sampleRun(4, { live: true });
  const late = live.calls.findIndex((call) => call.name === 'approve');
  const [approve] = live.calls.splice(late, 1);
  assert.ok(approve);
  await withPage(
    house,
    async (shown) => {
      await until(async () => assert.ok((await shown.page.locator('.live-badge').count()) > 0));
      await shown.notify('show', { file: '/runs/4.db', call: '1.4' });
      await until(async () => assert.match(await spoken(shown), /^tools, node/));
      await shown.notify('show', { file: '/runs/4.db', call: approve.id });
      await until(() => assert.ok(timesAsked(shown, approve.id) > 0));
      live.calls.push(approve);
      await shown.notify('changed', { file: '/runs/4.db' });
      await until(async () => assert.match(await title(shown), /^approve/));
      // The call stack is where this came from: it is not asked to follow.
      assert.equal(lastAsked(shown, 'selected'), undefined);
      // Whoever looks elsewhere before it is there is left alone.
      await shown.notify('show', { file: '/runs/4.db', call: '1.999' });
      await until(() => assert.ok(timesAsked(shown, '1.999') > 0));
      await shown.page.keyboard.press(']');
      await until(async () => assert.match(await title(shown), /^refund/));
      const before = timesAsked(shown, '1.999');
      live.summary.duration = 25e9;
      await shown.notify('changed', { file: '/runs/4.db' });
      await until(async () => assert.match((await shown.page.locator('.run-title').innerText()) ?? '', /25(\.\d)? s/));
      const after = timesAsked(shown, '1.999');
      assert.equal(after, before);
    },
    { answer: hostOf([live]) },
  );
});

test('a stop that comes while the page opens its run is what it shows, not the one before', async (house) => {
  let followed = (): void => undefined;
  const isFollowed = new Promise<void>((resolve) => (followed = resolve));
  const host = hostOf([sampleRun(4, { live: true })], { file: '/runs/4.db', call: '1.4' });
  await withPage(
    house,
    async (shown) => {
      await until(() => assert.deepEqual(lastAsked(shown, 'follow'), { file: '/runs/4.db' }));
      await shown.notify('show', { file: '/runs/4.db', call: '1.1' });
      await until(async () => assert.match(await title(shown), /^support_agent/));
      followed();
      // It is asked for behind what opening had left to do.
      await until(() => assert.ok(shown.asked.filter(({ method }) => method === 'overview').length > 1));
      assert.match(await title(shown), /^support_agent/);
    },
    { answer: async (method, params) => (method === 'follow' ? isFollowed : host(method, params)) },
  );
});

/** Seconds in the page's clock that the title, the minimap and the axis tell. */
async function clocks(shown: Shown): Promise<{ title: number; minimap: number; shown: number }> {
  const [title, range] = await shown.page.evaluate<[string, string]>(
    `[document.querySelector('.run-title').innerText, document.querySelector('.minimap').getAttribute('aria-valuetext')]`,
  );
  const [, to = '', of = ''] = /to (.*) of (.*)/.exec(range) ?? [];
  return { title: seconds(title.split('·')[1] ?? title), minimap: seconds(of), shown: seconds(to) };
}

function seconds(text: string): number {
  const [, number = '', unit = ''] = /([\d.]+) (ms|s)/.exec(text) ?? [];
  return Number(number) / (unit === 'ms' ? 1000 : 1);
}

test('a real agent, live: held as held, growing by one clock, then returned', async (house) => {
  const run = await RealRun.held('langgraph/triage.py', '# BP: lookup_order');
  try {
    await withPage(
      house,
      async (shown) => {
        // The reader may still say something while the page closes, which nobody is there to hear.
        run.notified = (name, params) => void shown.notify(name, params).catch(() => undefined);
        await until(async () => assert.ok((await shown.page.locator('.live-badge').count()) > 0));
        await shown.page.locator('.scroller').focus();
        await shown.page.keyboard.press('/');
        await shown.page.keyboard.type('lookup_order');
        await until(async () => assert.match(await shown.page.locator('.search-count').innerText(), /^1 found$/));
        const id = ((await run.answer('search', { file: run.file, text: 'lookup_order', limit: 9 } as never)) as Found)
          .calls[0]?.id;
        await shown.page.keyboard.press('Escape');
        // As the host does at a stop.
        await shown.notify('show', { file: run.file, call: id });
        await until(async () => assert.match(await spoken(shown), /^lookup_order, tool, held, .*held/));
        // Title, minimap and window go by one clock, the window shows all of the short run, and the time goes on.
        const before = await clocks(shown);
        await until(async () => {
          const now = await clocks(shown);
          assert.ok(now.title > before.title && now.minimap > before.minimap && now.title > 1.5, JSON.stringify(now));
          assert.ok(Math.abs(now.title - now.minimap) < 0.25 && now.shown === now.minimap, JSON.stringify(now));
        });
        assert.match(await windowText(shown), /^0 ns to/);
        await until(async () => assert.match(await shown.page.locator('.detail-facts').innerText(), /held\s*[\d.]+ s/));
        await picture(shown, 'live-held');
        await run.finish();
        await until(async () => assert.equal(await shown.page.locator('.live-badge').count(), 0));
        await until(async () => assert.match(await shown.page.locator('.detail-facts').innerText(), /returned/));
        await until(async () => assert.match(await spoken(shown), /^lookup_order, tool, returned, .*held/));
        assert.equal(await shown.page.getByRole('tab', { name: 'Output' }).count(), 1);
        assert.match(await windowText(shown), /^0 ns to/);
        await picture(shown, 'live-returned');
      },
      { answer: run.answer, size: { width: 1000, height: 270 } },
    );
  } finally {
    await run.close();
  }
});

interface Found {
  calls: { id: string }[];
}

test('a real agent: recorded by the adapter, answered by the reader', async (house) => {
  const run = await RealRun.held('langgraph/triage.py', '# BP: lookup_order');
  try {
    await run.finish();
    await withPage(
      house,
      async (shown) => {
        await shown.page.locator('.scroller[aria-busy=false]').waitFor();
        await shown.page.locator('.scroller').focus();
        await shown.page.keyboard.press('/');
        await shown.page.keyboard.type('lookup_order');
        await shown.page.keyboard.press('Enter');
        await until(async () => assert.match(await shown.page.locator('.search-count').innerText(), /^1 of 1$/));
        await until(async () => assert.match(await spoken(shown), /^lookup_order, tool, returned, .*held/));
        await until(async () => assert.match(await title(shown), /^lookup_order\(order_id=7/));
        await shown.page.getByRole('tab', { name: 'Stack' }).click();
        assert.match(await shown.page.locator('.stack').innerText(), /support_agent[\s\S]*tools[\s\S]*lookup_order/);
        await shown.page.locator('.stack').getByRole('button', { name: 'tools' }).click();
        await until(async () => assert.match(await spoken(shown), /^tools, node/));
        await shown.page.locator('.scroller').focus();
        // Between the two nodes is the function that chose the way.
        await shown.page.keyboard.press('Alt+ArrowLeft');
        await until(async () => assert.match(await spoken(shown), /^route, function/));
        await shown.page.keyboard.press('Alt+ArrowLeft');
        await until(async () => assert.match(await spoken(shown), /^agent, node/));
        await shown.page.getByRole('tab', { name: 'Messages' }).click();
        await until(async () =>
          assert.match(
            (await shown.page.locator('.messages').innerText()).replace(/\s+/g, ' '),
            /ai: → lookup_order\(order_id=7\), check_stock\(item='lamp'\)/,
          ),
        );
        await picture(shown, 'real-call');
        await shown.page.keyboard.press('Escape');
        await until(async () => assert.equal(await shown.page.locator('.detail').count(), 0));
        await shown.page.keyboard.press('Escape');
        await shown.page.keyboard.press('0');
        await shown.page.keyboard.press(']');
        await until(async () => assert.match(await spoken(shown), /error/));
        await shown.page.getByRole('tab', { name: 'Error' }).click();
        await until(async () => assert.ok((await shown.page.locator('.stack .link').count()) > 0));
        await picture(shown, 'real');
        // From an argument to the calls that have it, too.
        await shown.page.locator('.search input').fill('name:lookup_order');
        await shown.page.locator('.search input').press('Enter');
        await until(async () => assert.match(await title(shown), /^lookup_order\(/));
        await shown.page.getByRole('treeitem').filter({ hasText: 'order_id' }).click({ button: 'right' });
        await shown.page.getByRole('menuitem', { name: 'Find This Value at This Place' }).click();
        await until(async () =>
          assert.equal(await shown.page.locator('.search input').inputValue(), 'argument.order_id=7'),
        );
        await until(async () => assert.match(await shown.page.locator('.search-count').innerText(), /^1 of 1$/));
        // The search asks all that a query can ask.
        for (const [typed, found] of [
          ['kind:tool argument.order_id=7', /^1 (found|of 1)$/],
          ['kind:node,workflow', /^\d+ found$/],
          ['argument.item:lam name:/^check/', /^1 found$/],
          ['result.total=700 file:triage.py from:+0s', /^1 found$/],
        ] as const) {
          await shown.page.locator('.search input').fill(typed);
          await until(async () => assert.match(await shown.page.locator('.search-count').innerText(), found, typed));
        }
        await shown.page.locator('.search input').fill('argument.order_id~(');
        await until(async () =>
          assert.match(await shown.page.locator('.no-match').innerText(), /is no regular expression/),
        );
        // In the table each call has what it was given, and what came of it.
        for (const key of ['Escape', 'Escape', 'Escape', '0', 't']) await shown.page.keyboard.press(key);
        const calls = shown.page.locator('.table-space .col-Call');
        await until(async () => {
          const texts = (await calls.allTextContents()).join('\n');
          assert.match(texts, /^lookup_order\(order_id=7, region='eu'\) → \{'order_id': 7, 'item': 'lamp', /m);
          assert.match(texts, /^refund\(amount=700\): ValueError: amount 700 needs approval$/m);
          assert.match(texts, /^score → \{'visits': \['score'\], /m);
        });
        await picture(shown, 'real-table');
      },
      { answer: run.answer },
    );
  } finally {
    await run.close();
  }
});
