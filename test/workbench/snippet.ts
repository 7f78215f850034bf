import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { At } from './section';

/** Fills an empty launch.json with the snippet "Toolbreak: Python File", as a person does: by its Add Configuration button. */
export async function insertSnippet({ opened, page, pane }: At, program: string): Promise<void> {
  mkdirSync(join(opened.folder, '.vscode'), { recursive: true });
  const empty = '{\n  "version": "0.2.0",\n  "configurations": []\n}\n';
  writeFileSync(join(opened.folder, '.vscode', 'launch.json'), empty);
  await pane.openFile('launch.json');
  await page.getByRole('button', { name: 'Add Configuration...' }).last().click();
  const list = page.locator('.suggest-widget.visible .monaco-list-row');
  await list.first().waitFor();
  // The list is longer than what is drawn of it.
  await page.keyboard.type('Toolbreak');
  const entry = list.filter({ hasText: 'Toolbreak: Python File' }).first();
  await entry.waitFor();
  await entry.click();
  // From the name to the program, which is then selected.
  await page.locator('.view-line').filter({ hasText: 'app.py' }).first().waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.insertText(program);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+S');
  await page.locator('.tab.active:not(.dirty)').filter({ hasText: 'launch.json' }).waitFor();
}
