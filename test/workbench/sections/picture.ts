import { join } from 'node:path';
import { act, did, QUICK, see } from '../hand';
import type { Section } from '../section';
import { ARTIFACTS } from '../workbench';

/** The picture of the README: a held call. */
export const picture: Section = {
  name: 'picture',
  options: {
    viewport: { width: 1280, height: 820 },
    settings: {
      'window.commandCenter': false,
      'workbench.layoutControl.enabled': false,
      'editor.minimap.enabled': false,
      'debug.toolBarLocation': 'docked',
    },
  },
  async run({ page, pane, test }) {
    await test.step('a held call, for the README', async () => {
      await pane.openFile('triage.py');
      const dark = page.locator('.monaco-workbench.vs-dark');
      await pane.choose('Preferences: Color Theme', 'Dark Modern', 'Dark Modern', dark);
      await pane.widenSideBar(390);
      await pane.breakpoint('def lookup_order');
      // Its toolbar is not the floating one.
      await page.keyboard.press('F5');
      await pane.waitForFrame('lookup_order(');
      await see('the workflow in the timeline', pane.timeline().getByText('support_agent').first());
      for (const closed of ['Watch', 'Loaded Scripts']) {
        const header = page.locator('.pane-header[aria-expanded="true"]', { hasText: closed });
        await act(
          `${closed} is closed`,
          () => did(header.click(QUICK)),
          async () => (await header.count()) === 0,
        );
      }
      await pane.expand(
        ['State', 'messages'],
        pane.variableRows().filter({ hasText: 'please refund order 7' }).first(),
      );
      await pane.expand(['Arguments'], pane.variable('order_id'));
      await see('the line of the held call', page.locator('.debug-top-stack-frame-line').first());
      await page.screenshot({ path: join(ARTIFACTS, 'held.png') });
    });
  },
};
