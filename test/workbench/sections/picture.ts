import { join } from 'node:path';
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
      await pane.command('Preferences: Color Theme');
      await page.locator('.quick-input-box input').fill('Dark Modern');
      await page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'Dark Modern' }).first().click();
      await page.locator('.monaco-workbench.vs-dark').waitFor();
      await pane.widenSideBar(390);
      await pane.clickGutter('def lookup_order');
      await page.keyboard.press('F5');
      await pane.waitForFrame('lookup_order(');
      await pane.timeline().getByText('support_agent').first().waitFor();
      for (const closed of ['Watch', 'Loaded Scripts']) {
        const header = page.locator('.pane-header[aria-expanded="true"]', { hasText: closed });
        if ((await header.count()) > 0) await header.click();
      }
      await pane.expand('State');
      await pane.expand('messages');
      await pane.expand('Arguments');
      await pane.variable('order_id').waitFor();
      await page.locator('.debug-top-stack-frame-line').first().waitFor();
      await page.screenshot({ path: join(ARTIFACTS, 'held.png') });
    });
  },
};
