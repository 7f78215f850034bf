import assert from 'node:assert/strict';
import { lineOf } from '../files';
import type { Section } from '../section';

/** Steps over nodes, into the sub-graph and out of it, on one thread. */
export const steps: Section = {
  name: 'steps',
  async run({ opened, page, pane, test }) {
    const top = async (name: RegExp, header: string): Promise<void> => {
      await pane.paused(header);
      await pane.callStackRows().first().filter({ hasText: name }).waitFor();
      assert.equal(await page.locator('.debug-call-stack .thread').count(), 0, 'the task is the only thread');
    };
    const put = async (text: string): Promise<void> => {
      await pane.goToLine(lineOf(opened.folder, 'triage.py', text));
      await pane.clickGutter(text);
    };
    await test.step('a breakpoint on a node stops before it', async () => {
      await pane.openFile('triage.py');
      await pane.widenSideBar(430);
      await put('def agent(state');
      await page.keyboard.press('F5');
      await pane.stopped();
      await top(/^agent/, 'Paused before node');
    });
    await test.step('F10 goes to the next node, on the same thread', async () => {
      await page.keyboard.press('F10');
      await top(/^tools/, 'Paused before node');
      await test.picture('1-next-node');
    });
    await test.step('and to the one after', async () => {
      await page.keyboard.press('F10');
      await top(/^agent/, 'Paused before node');
    });
    await test.step('and on, to the node that is a sub-graph', async () => {
      await put('def agent(state');
      for (const next of [/^tools/, /^agent/, /^tools/, /^agent/, /^review/]) {
        await page.keyboard.press('F10');
        await top(next, 'Paused before node');
      }
      await test.picture('2-before-subgraph');
    });
    await test.step('F11 goes into the sub-graph', async () => {
      await page.keyboard.press('F11');
      await top(/^score/, 'Paused before node');
      const names = (await pane.callStackRows().allInnerTexts()).map((row) => row.split(/[(\s]/)[0]);
      assert.deepEqual(names.slice(0, 3), ['score', 'review', 'support_agent'], names.join(' | '));
      await test.picture('3-in-subgraph');
    });
    await test.step('F10 goes from node to node inside it', async () => {
      await page.keyboard.press('F10');
      await top(/^grade/, 'Paused before node');
    });
    await test.step('Shift+F11 goes out of it', async () => {
      await page.keyboard.press('Shift+F11');
      await pane.paused(/Paused after/);
      await pane
        .callStackRows()
        .first()
        .filter({ hasText: /^(review|grade)/ })
        .waitFor();
      await test.picture('4-out');
    });
    await test.step('the changes of the step are shown', async () => {
      await pane.expand('Changes');
      await pane.variableRows().filter({ hasText: 'verdict' }).first().waitFor();
    });
    await test.step('and continues to the end', async () => {
      await page.keyboard.press('F5');
      await pane.ended();
    });
  },
};
