import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
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
      await page.locator('.part.banner', { hasText: 'Restricted Mode' }).waitFor();
      await pane.openFile('triage.py');
      assert.equal(await page.locator('.editor-actions .codicon-debug-alt').count(), 0, 'no run button of ours');
      await page.keyboard.press('F5');
      await page.locator('.monaco-dialog-box').filter({ hasText: /trust/i }).waitFor();
      await test.picture('1-asked');
      await page.keyboard.press('Escape');
      assert.deepEqual(pythonsOf(opened.folder), []);
    });
    await test.step('the Extensions view says why Toolbreak is off', async () => {
      await page.keyboard.press('Control+Shift+X');
      await page.locator('.extensions-viewlet .monaco-editor').first().click();
      await page.keyboard.insertText('@workspaceUnsupported ');
      const item = page.locator('.extension-list-item').filter({ hasText: 'Toolbreak' }).first();
      await item.click();
      await page.getByText('Toolbreak runs the programs of the workspace').first().waitFor();
      await test.picture('2-why');
    });
  },
};
