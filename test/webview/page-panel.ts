/** The page in the shapes it has in VS Code: low in the panel, tall in an editor, narrow in the side bar; and its signs at every width. */
import assert from 'node:assert/strict';
import type { Shown } from './browser';
import { lastAsked, picture, ready, spoken, test, title, until, windowText, withPage } from './harness';

const PANEL = { width: 1200, height: 260 };
const EDITOR = { width: 1200, height: 700 };
const SIDE_BAR = { width: 420, height: 700 };

const SHAPES = [
  ['panel', PANEL],
  ['editor', EDITOR],
  ['side-bar', SIDE_BAR],
] as const;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

async function box(shown: Shown, selector: string): Promise<Box> {
  const found = await shown.page.locator(selector).boundingBox();
  assert.ok(found, `${selector} is not on the page`);
  return found;
}

async function selectRefund(shown: Shown): Promise<void> {
  await shown.page.keyboard.press(']');
  await until(async () => assert.match(await spoken(shown), /^refund, tool, error/));
  await until(async () => assert.ok((await shown.page.getByRole('tab').count()) > 3));
}

test('lanes and minimap are drawn in the colours of another theme as soon as it is chosen', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.evaluate(
      `document.documentElement.style.setProperty('--vscode-panel-background', 'rgb(10, 200, 30)')`,
    );
    const corners = `[...document.querySelectorAll('canvas')].map((canvas) =>
      [...canvas.getContext('2d').getImageData(canvas.width - 2, canvas.height - 2, 1, 1).data].join())`;
    await until(async () => {
      const colours = await shown.page.evaluate<string[]>(corners);
      assert.ok(colours.length >= 2);
      for (const colour of colours) assert.equal(colour, '10,200,30,255');
    });
  }));

test('in a low panel the detail is beside the lanes, which keep four rows', (house) =>
  withPage(
    house,
    async (shown) => {
      await ready(shown);
      await selectRefund(shown);
      const [lanes, detail] = [await box(shown, '.main'), await box(shown, '.detail')];
      assert.ok(lanes.x + lanes.width <= detail.x + 1, 'beside each other');
      assert.ok(lanes.height >= 22 + 4 * 20 + 8, `lanes are ${lanes.height} pixels high`);
      // The line between them moves by keyboard and pointer, and stays where it was put.
      await shown.page.locator('.sash').focus();
      await shown.page.keyboard.press('ArrowLeft');
      const wider = (await box(shown, '.detail')).width;
      assert.ok(wider > detail.width);
      const sash = await box(shown, '.sash');
      await shown.page.mouse.move(sash.x + 1, sash.y + 40);
      await shown.page.mouse.down();
      await shown.page.mouse.move(800, sash.y + 40, { steps: 3 });
      await shown.page.mouse.up();
      const dragged = (await box(shown, '.detail')).width;
      assert.ok(Math.abs(dragged - 400) < 8, `${dragged}`);
      await shown.page.locator('.scroller').focus();
      await shown.page.keyboard.press('Escape');
      await until(async () => assert.equal(await shown.page.locator('.detail').count(), 0));
      await shown.page.keyboard.press('Enter');
      await until(async () => assert.equal((await box(shown, '.detail')).width, dragged));
      await until(async () => assert.equal(await shown.page.locator('[role=tab]:focus').count(), 1));
      // From inside the detail, too, Escape closes it and the keys are the lanes' again.
      await shown.page.keyboard.press('Escape');
      await until(async () => assert.equal(await shown.page.locator('.scroller:focus').count(), 1));
      assert.equal(await shown.page.locator('.detail').count(), 0);
    },
    { size: PANEL },
  ));

test('in an editor the detail is below the lanes', (house) =>
  withPage(
    house,
    async (shown) => {
      await ready(shown);
      await selectRefund(shown);
      const [lanes, detail] = [await box(shown, '.main'), await box(shown, '.detail')];
      assert.ok(lanes.y + lanes.height <= detail.y + 1, 'below each other');
      await shown.page.locator('.sash').focus();
      for (let times = 0; times < 12; times++) await shown.page.keyboard.press('ArrowUp');
      assert.ok((await box(shown, '.main')).height >= 110, 'the lanes keep four rows');
    },
    { size: EDITOR },
  ));

test('f makes a short call fill most of the window', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await selectRefund(shown);
    await shown.page.keyboard.press('0');
    await until(async () => assert.match(await windowText(shown), /^0 ns to 12.4 s/));
    await shown.page.keyboard.press('f');
    // The call lasts 3 ms: three fifths of a window of 5 ms around it.
    await until(async () => assert.doesNotMatch(await windowText(shown), /^0 ns/));
    await until(async () => {
      const shot = await shown.page
        .evaluate<number>(`(() => { const c = document.querySelector('.canvas-column canvas'); const p = c.getContext('2d').getImageData(0, 22 + 4 + 40 + 3, c.width, 1).data;
          let red = 0; for (let i = 0; i < p.length; i += 4) if (p[i] > 70 && p[i + 1] < 60) red++; return red / c.width; })()`);
      assert.ok(shot > 0.5 && shot < 0.7, `${shot}`);
    });
  }));

test('a failed call shows its error first; the lines of its stack open the source', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await selectRefund(shown);
    assert.equal(await shown.page.locator('[role=tab][aria-selected=true]').innerText(), 'Error');
    assert.match(
      await shown.page.locator('.tab-panel').innerText(),
      /ValueError\s+amount 700 needs approval\s+refund\s+triage\.py:31\s+check_amount\s+rules\.py:8\s+While handling\s+KeyError\s+'limit'\s+limit\s+rules\.py:6\s+Caused by\s+OSError\s+no file/,
    );
    await shown.page.getByRole('button', { name: 'rules.py:8' }).click();
    await until(() => assert.deepEqual(lastAsked(shown, 'openSource'), { path: '/app/rules.py', line: 8 }));
  }));

test('a bar says what it is when the pointer rests on it', (house) =>
  withPage(house, async (shown) => {
    await ready(shown);
    await shown.page.mouse.move(520, 157);
    await until(async () => {
      const text = (await shown.page.locator('.tooltip').innerText()).replace(/\s+/g, ' ');
      assert.match(
        text,
        /^lookup_order \(order_id=7, region='eu'\) → \{'id': 7, 'total': 700\} tool · returned · 3.3 s · held 2.9 s · edited starts at 2.250 s \(14:03:12.250\)/,
      );
      assert.match(text, /Paused before tool for 2.9 s \(hatched\) A value was changed .*\(pencil\)/);
    });
    // In a window of few milliseconds thousandths of a second tell nothing apart.
    await selectRefund(shown);
    await shown.page.locator('.scroller').focus();
    await shown.page.keyboard.press('f');
    await until(async () => {
      await shown.page.mouse.move(650, 157);
      await shown.page.mouse.move(700, 157);
      assert.match(await shown.page.locator('.tooltip').innerText(), /refund[^]*starts at 7\.50{4,} s/);
    });
  }));

test('Enter right after typing goes to the first match; one too short to be seen is zoomed to', (house) =>
  withPage(
    house,
    async (shown) => {
      await ready(shown);
      await shown.notify('show', { file: '/runs/2.db' });
      await until(async () => assert.match(await shown.page.locator('.run-title').innerText(), /run 2/));
      await shown.page.keyboard.press('/');
      await shown.page.keyboard.type('parse_line');
      await shown.page.keyboard.press('Enter');
      await until(async () => assert.equal(await shown.page.locator('.search-count').innerText(), '1 of 20,000'));
      await until(async () => assert.match(await title(shown), /^parse_line/));
      assert.doesNotMatch(await windowText(shown), /^0 ns/);
      await picture(shown, 'search-zoomed');
    },
    { size: PANEL },
  ));

for (const theme of ['dark', 'light', 'high-contrast'] as const) {
  test(`pictures of panel, editor and side bar in the ${theme} theme`, (house) =>
    withPage(
      house,
      async (shown) => {
        await ready(shown);
        await selectRefund(shown);
        await shown.page.keyboard.press('0');
        for (const [name, size] of SHAPES) {
          await shown.page.setViewportSize(size);
          await picture(shown, `${name}-${theme}`);
        }
        await shown.page.keyboard.press('Alt+ArrowUp');
        await until(async () => assert.match(await spoken(shown), /^tools, node/));
        await shown.page.getByRole('tab', { name: 'State' }).click();
        await shown.page.keyboard.press('/');
        await shown.page.keyboard.type('refund');
        await until(async () => assert.match(await shown.page.locator('.search-count').innerText(), /^3 found$/));
        for (const [name, size] of SHAPES) {
          await shown.page.setViewportSize(size);
          await picture(shown, `${name}-${theme}-search`);
        }
      },
      { theme },
    ));
}
