import assert from 'node:assert/strict';
import { lineOf } from '../files';
import { act, did, QUICK, see } from '../hand';
import { until } from '../processes';
import type { Section } from '../section';

/** The main job: a breakpoint by a click, F5, look, change, and the change reaches the state. */
export const hold: Section = {
  name: 'hold',
  async run({ opened, page, pane, test }) {
    const line = lineOf(opened.folder, 'triage.py', 'def lookup_order');
    await test.step('a click in the margin sets a breakpoint', async () => {
      await pane.openFile('triage.py');
      await pane.breakpoint('def lookup_order');
    });
    await test.step('F5 stops on the line with the breakpoint', async () => {
      await pane.start();
      await pane.stopped();
      await pane.waitForFrame('lookup_order(');
      await see('the line of the held call', page.locator('.debug-top-stack-frame-line').first());
      const number = page.locator('.line-numbers.active-line-number');
      assert.equal((await number.first().innerText()).trim(), String(line));
      await test.picture('1-stopped');
    });
    await test.step('the Call Stack reads tool, node, workflow', async () => {
      await pane.paused('Paused before tool');
      const frames = 'lookup_order,tools,support_agent';
      // The call beside it may still be on its way to its end, on a thread of its own. Which of the two begins first is the app's own threads'
      // matter: the second one stands in a lane, below the thread of the graph, which then runs on.
      const inLane = `support_agent,support_agent,${frames}`;
      await until('the frames of the held call, and of nothing else', async () => {
        const rows = await pane.callStackRows().allInnerTexts();
        return [frames, inLane].includes(rows.map((row) => row.split(/[(\s]/)[0]).join());
      });
    });
    await test.step('the held call is readable without widening the side bar', async () => {
      const label = pane.frameRows().first().locator('.label, .expression').first();
      const box = await label.boundingBox();
      const bar = await page.locator('.part.sidebar').boundingBox();
      assert.ok(box !== null && bar !== null);
      assert.equal(await label.innerText(), "lookup_order(order_id=7, region='eu')");
    });
    await test.step('Arguments and State show the call', async () => {
      await pane.widenSideBar(430);
      await pane.expand(['Arguments'], pane.variable('order_id').filter({ hasText: '7' }));
      await see('the region', pane.variable('region').filter({ hasText: "'eu'" }));
      const message = pane.variableRows().filter({ hasText: 'please refund order 7' }).first();
      await pane.expand(['State', 'messages'], message);
      await test.picture('2-variables');
    });
    await test.step('Copy Value copies the whole value', async () => {
      await pane.variableMenu('region', 'Copy Value', () => pane.clipboard(/eu/));
    });
    await test.step('a held call can be skipped from the toolbar', async () => {
      await see('the button', pane.toolbarButton('Skip This Call').first());
    });
    await test.step('a watch expression answers', async () => {
      const watch = 'state["messages"][0].content';
      await pane.add(/^Watch/, 'Add Expression', watch, pane.watchRows().filter({ hasText: watch }).first());
      await see('its value', pane.watchRows().filter({ hasText: 'please refund order 7' }).first());
    });
    await test.step('the pointer over an argument shows its value', async () => {
      const word = page
        .locator('.editor-group-container.active .view-line')
        .filter({ hasText: 'item, total = ORDERS' })
        .locator('span', { hasText: /^order_id$|ORDERS\[order_id\]|order_id/ })
        .last();
      const point = async (): Promise<boolean> => {
        await page.mouse.move(5, 400);
        return did(word.hover(QUICK));
      };
      await act(
        'the value of order_id at the pointer',
        point,
        page.locator('.debug-hover-widget').filter({ hasText: '7' }),
      );
      await test.picture('3-hover');
      await page.mouse.move(5, 400);
    });
    await test.step('completion in the Debug Console offers the keys of the state', async () => {
      await pane.panel('Debug Console');
      const offered = page
        .locator('.repl-input-wrapper .suggest-widget .monaco-list-row, .suggest-widget.visible .monaco-list-row')
        .filter({ hasText: 'verdict' })
        .first();
      await act('the keys of the state are offered', () => pane.write('state["', true), offered);
      await test.picture('4-completion');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+A');
      await page.keyboard.press('Delete');
    });
    await test.step('the Debug Console answers with the call in scope', async () => {
      await pane.evaluate('args["order_id"] * 2');
      await pane.consoleSays(/^14/);
    });
    await test.step('a value that the tool refuses is refused, and the call is still held', async () => {
      const refused = page
        .locator('.monaco-inputbox.error, .monaco-inputbox-container.error')
        .filter({ hasText: /./ })
        .or(page.getByText(/must be an integer/))
        .filter({ visible: true })
        .first();
      await pane.setVariable('order_id', '"abc"', refused);
      await test.picture('5-refused');
      await page.keyboard.press('Escape');
      await pane.paused('Paused before tool');
    });
    await test.step('an edited argument is shown, in the frame, too, and said once', async () => {
      await pane.setVariable('order_id', '70', pane.variable('order_id').filter({ hasText: '70' }));
      await pane.waitForFrame('order_id=70');
      await pane.consoleSays(/order_id 7 → 70 \(edited\)/);
      await test.picture('6-edited');
    });
    await test.step('the changed result reaches the state', async () => {
      await pane.go('F10');
      await pane.paused('Paused after node');
      await pane.go('F10');
      await pane.paused('Paused before node');
      await pane.waitForFrame(/^agent/);
      await pane.evaluate('[m.content for m in state["messages"] if m.name == "lookup_order"]');
      await pane.consoleSays('chair');
      await test.picture('7-in-state');
    });
    await test.step('F5 runs the rest with it', async () => {
      await pane.go('F5');
      await pane.ended();
      await pane.consoleSays('refunded 90');
    });
  },
};
