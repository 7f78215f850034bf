import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { act, did, QUICK, see } from '../hand';
import { pythonsOf } from '../processes';
import type { Section } from '../section';
import { ROOT } from '../workbench';

/** As if it were installed: the Extensions view does not list what is under development. */
function asInstalled(home: string): void {
  const { publisher, name, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  mkdirSync(join(home, 'extensions'), { recursive: true });
  symlinkSync(ROOT, join(home, 'extensions', `${publisher}.${name}-${version}`), 'junction');
}

/** A workspace nobody has trusted yet: nothing of it runs, and it is said why. */
export const untrusted: Section = {
  name: 'untrusted',
  options: { trust: false, installed: asInstalled },
  async run({ opened, page, pane, test }) {
    await test.step('nothing of an untrusted workspace runs: F5 asks for trust first', async () => {
      await see('the banner of the restricted mode', page.locator('.part.banner', { hasText: 'Restricted Mode' }));
      await pane.openFile('triage.py');
      assert.equal(await page.locator('.editor-actions .codicon-debug-alt').count(), 0, 'no run button of ours');
      const asked = page.locator('.monaco-dialog-box').filter({ hasText: /trust/i });
      await act('F5 asks for trust', () => did(page.keyboard.press('F5')), asked);
      await test.picture('1-asked');
      await page.keyboard.press('Escape');
      assert.deepEqual(pythonsOf(opened.folder), []);
    });
    await test.step('the Extensions view says why Toolbreak is off', async () => {
      const view = page.locator('.extensions-viewlet .monaco-editor').first();
      await act('the Extensions view is open', () => did(page.keyboard.press('Control+Shift+X')), view);
      const item = page.locator('.extension-list-item').filter({ hasText: 'Toolbreak' }).first();
      const find = async (): Promise<boolean> => {
        if (!(await did(view.click(QUICK)))) return false;
        await page.keyboard.press('Control+A');
        await page.keyboard.insertText('@workspaceUnsupported ');
        return true;
      };
      await act('Toolbreak among the extensions that are off here', find, item);
      const why = page.getByText('Toolbreak runs the programs of the workspace').first();
      await act('why Toolbreak is off', () => did(item.click(QUICK)), why);
      await test.picture('2-why');
    });
  },
};
