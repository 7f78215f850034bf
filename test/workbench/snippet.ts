import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { act, did, QUICK, seen } from './hand';
import type { At } from './section';

/** Fills an empty launch.json with the snippet "Toolbreak: Python File", as a person does: by its Add Configuration button. */
export async function insertSnippet({ opened, page, pane }: At, program: string): Promise<void> {
  mkdirSync(join(opened.folder, '.vscode'), { recursive: true });
  const empty = '{\n  "version": "0.2.0",\n  "configurations": []\n}\n';
  writeFileSync(join(opened.folder, '.vscode', 'launch.json'), empty);
  await pane.openFile('launch.json');
  const list = page.locator('.suggest-widget.visible .monaco-list-row');
  const entry = list.filter({ hasText: 'Toolbreak: Python File' }).first();
  const written = page.locator('.view-line').filter({ hasText: 'app.py' }).first();
  await page.getByRole('button', { name: 'Add Configuration...' }).last().click();
  let filtered = false;
  const choose = async (): Promise<boolean> => {
    if (!(await seen(list.first()))) {
      // The list went when the editor lost the focus: it is asked for again where the cursor is.
      await page.keyboard.press('Control+Space');
      return false;
    }
    // The list is longer than what is drawn of it.
    if (!filtered) await page.keyboard.type('Toolbreak');
    filtered = true;
    return (await seen(entry)) && did(entry.click(QUICK));
  };
  await act("the snippet's configuration", choose, written);
  // From the name to the program, which is then selected.
  await page.keyboard.press('Tab');
  await page.keyboard.insertText(program);
  await page.keyboard.press('Escape');
  const saved = page.locator('.tab.active:not(.dirty)').filter({ hasText: 'launch.json' });
  await act('launch.json is saved', () => did(page.keyboard.press('Control+S')), saved);
}
