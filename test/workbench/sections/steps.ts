import assert from 'node:assert/strict';
import { lineOf } from '../files';
import type { Section } from '../section';

/** Steps over nodes, into the sub-graph and out of it, on one thread. */
export const steps: Section = {
  name: 'steps',
  async run({ opened, page, pane, test }) {
    const top = async (name: RegExp, header: string): Promise<void> => {
      await pane.top(name, header);
      assert.equal(await page.locator('.debug-call-stack .thread').count(), 0, 'the task is the only thread');
    };
    const put = async (text: string, there: boolean): Promise<void> => {
      await pane.goToLine(lineOf(opened.folder, 'triage.py', text));
      await pane.breakpoint(text, there);
    };
    await test.step('a breakpoint on a node stops before it', async () => {
      await pane.openFile('triage.py');
      await pane.widenSideBar(430);
      await put('def agent(state', true);
      await pane.start();
      await pane.stopped();
      await top(/^agent/, 'Paused before node');
    });
    await test.step('F10 goes to the next node, on the same thread', async () => {
      await pane.go('F10');
      await top(/^tools/, 'Paused before node');
      await test.picture('1-next-node');
    });
    await test.step('and to the one after', async () => {
      await pane.go('F10');
      await top(/^agent/, 'Paused before node');
    });
    await test.step('and on, to the node that is a sub-graph', async () => {
      await put('def agent(state', false);
      for (const next of [/^tools/, /^agent/, /^tools/, /^agent/]) {
        await pane.go('F10');
        await top(next, 'Paused before node');
      }
      await pane.go('F10');
      await top(/^review/, 'Paused before workflow');
      await test.picture('2-before-subgraph');
    });
    await test.step('F11 goes into the sub-graph', async () => {
      await pane.go('F11');
      await top(/^score/, 'Paused before node');
      const names = await pane.frameNames();
      assert.deepEqual(names.slice(0, 3), ['score', 'review', 'support_agent'], names.join(' | '));
      await test.picture('3-in-subgraph');
    });
    await test.step('F10 goes from node to node inside it', async () => {
      await pane.go('F10');
      await top(/^grade/, 'Paused before node');
    });
    await test.step('Shift+F11 goes out of it', async () => {
      await pane.go('Shift+F11');
      await pane.top(/^review/, 'Paused after workflow');
      await test.picture('4-out');
    });
    await test.step('the changes of the step are shown', async () => {
      await pane.expand(['Changes'], pane.variableRows().filter({ hasText: 'verdict' }).first());
    });
    await test.step('and continues to the end', async () => {
      await pane.go('F5');
      await pane.ended();
    });
  },
};
