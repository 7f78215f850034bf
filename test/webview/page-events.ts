/** What happened in a run outside of calls: a native program, which has none, and an agent that printed and crashed. */
import assert from 'node:assert/strict';
import { hostOf, lastAsked, picture, RUNS, spoken, test, title, until, withPage } from './harness';
import type { Shown } from './browser';
import { nativeRun, type SampleRun } from './sample';
import type { ThemeName } from './themes';

const NATIVE = nativeRun(9);

/** Waits for the run to be drawn, with the keyboard in the lanes. */
async function drawn(shown: Shown): Promise<void> {
  await shown.page.locator('.scroller').focus();
  await shown.page.locator('.scroller[aria-busy=false]').waitFor();
}

const laneNames = (shown: Shown): Promise<string[]> => shown.page.locator('.lane-name').allInnerTexts();

for (const theme of ['dark', 'light', 'high-contrast'] as ThemeName[])
  test(`a native program's stops, words and crash are on the timeline: ${theme}`, (house) =>
    withPage(
      house,
      async (shown) => {
        await drawn(shown);
        assert.deepEqual(await laneNames(shown), ['order']);
        assert.equal(await shown.page.locator('.empty, .no-calls').count(), 0);
        const ended = shown.page.locator('.run-title .error-text');
        assert.equal(await ended.innerText(), 'crashed (SIGSEGV)');
        // Its first row has the stops, its second all else; the axis is above. The facts take some of the room.
        const click = async (seconds: number, row: number): Promise<void> => {
          const lanes = await shown.page.locator('.stage canvas').boundingBox();
          await shown.page.mouse.click(lanes!.x + (seconds / 10.2) * lanes!.width + 4, lanes!.y + 35 + row * 20);
        };
        await click(2, 0);
        await until(async () => assert.equal(await title(shown), 'Breakpoint: total @ order.c:31'));
        await until(async () =>
          assert.equal(await spoken(shown), 'Breakpoint: total @ order.c:31, event, at 1.000 s, held 3 s'),
        );
        await picture(shown, `native-stop-${theme}`);
        await until(async () => {
          await click(8, 1);
          assert.match(await title(shown), /^Crash: Segmentation fault/);
        });
        await until(async () => assert.match(await shown.page.locator('.error-message').innerText(), /<script>/));
        assert.equal(await shown.page.locator('.detail script, .detail img').count(), 0);
        assert.equal(await shown.page.getByRole('button', { name: 'Break here' }).count(), 0);
        await shown.page.getByRole('button', { name: 'Go to source' }).click();
        await until(() => assert.deepEqual(lastAsked(shown, 'openSource'), { path: '/desk/order.c', line: 31 }));
        assert.equal(lastAsked(shown, 'selected'), undefined, 'no frame stands for an event');
        await picture(shown, `native-crash-${theme}`);
      },
      { theme, answer: hostOf([NATIVE]) },
    ));

test('the search finds events by what they say', (house) =>
  withPage(
    house,
    async (shown) => {
      await drawn(shown);
      const said = shown.page.locator('.search-count');
      await shown.page.keyboard.press('/');
      await shown.page.keyboard.type('INTO <b>4');
      await until(async () => assert.match(await said.innerText(), /^1 found$/));
      await shown.page.keyboard.press('Enter');
      await until(async () => assert.match(await spoken(shown), /^Log: into <b>42<\/b>, event, at 5\.000 s$/));
      await until(async () => assert.match(await said.innerText(), /^1 of 1$/));
      await picture(shown, 'native-search');
    },
    { answer: hostOf([NATIVE]) },
  ));

test('the keyboard goes through the events of a program, and the table lists them', (house) =>
  withPage(
    house,
    async (shown) => {
      await drawn(shown);
      for (const name of ['stdout: orders', 'Breakpoint', 'Step', 'Log: into <b>42</b>', 'Crash']) {
        await shown.page.keyboard.press('Alt+ArrowRight');
        await until(async () => assert.ok((await spoken(shown)).startsWith(name), `${name}: ${await spoken(shown)}`));
      }
      await shown.page.keyboard.press('Alt+ArrowLeft');
      await until(async () => assert.match(await spoken(shown), /^Log: into <b>42<\/b>, event, at 5\.000 s$/));
      await shown.page.keyboard.press(']');
      await until(async () => assert.match(await spoken(shown), /^Crash: .*, event, at 8\.000 s, crash$/));
      await shown.page.getByRole('region', { name: 'Selected event' }).waitFor();
      await shown.page.keyboard.press('Enter');
      await until(async () => assert.equal(await shown.page.locator('[role=tab]:focus').innerText(), 'Event'));
      await shown.page.keyboard.press('Escape');
      await shown.page.keyboard.press('t');
      const row = shown.page.getByRole('row', { name: /Log: into <b>42<\/b>.*event/ });
      await row.click({ button: 'right' });
      assert.deepEqual(await shown.page.getByRole('menuitem').allInnerTexts(), ['Go to Source', 'Copy Text', 'Fit\nF']);
      await shown.page.getByRole('menuitem', { name: 'Copy Text' }).click();
      await until(() => assert.match(String(lastAsked(shown, 'copyText')?.text), /^Log: into <b>42<\/b>\n<script>/));
      await picture(shown, 'native-table');
    },
    { answer: hostOf([NATIVE]) },
  ));

test('what belongs to no call stands below the lanes of calls; a run of nothing else says why it has no calls', async (house) => {
  const [agent] = RUNS as [SampleRun];
  const mixed: SampleRun = {
    summary: { ...agent.summary, file: '/runs/8.db', number: 8 },
    lanes: [{ ...NATIVE.lanes[0]!, name: 'triage.py', depth: 1 }, ...agent.lanes],
    calls: [...agent.calls, ...NATIVE.calls.filter(({ depth }) => depth === 1).map((call) => ({ ...call, depth: 0 }))],
  };
  const silent: SampleRun = {
    ...NATIVE,
    summary: { ...NATIVE.summary, file: '/runs/7.db', number: 7, languages: ['Python 3.11.2'] },
  };
  await withPage(
    house,
    async (shown) => {
      await drawn(shown);
      assert.deepEqual(await laneNames(shown), ['support_agent', '› check_stock', 'triage.py']);
      assert.equal(await shown.page.locator('.no-calls').count(), 0);
      await picture(shown, 'events-below-calls');
      await shown.notify('show', { file: '/runs/7.db' });
      await until(async () => assert.match(await shown.page.getByRole('note').innerText(), /^No calls in this run\./));
      assert.deepEqual(await laneNames(shown), ['order']);
      const note = await shown.page.getByRole('note').boundingBox();
      const [x, y] = [note!.x + 40, note!.y + note!.height / 2];
      const seen = await shown.page.evaluate<string>(`document.elementFromPoint(${x}, ${y}).textContent`);
      assert.match(seen, /^No calls in this run/, 'nothing covers it');
      await picture(shown, 'no-calls');
    },
    { answer: hostOf([mixed, silent]) },
  );
});
