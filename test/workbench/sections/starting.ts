import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Section } from '../section';
import { insertSnippet } from '../snippet';

/** Without a launch.json, with the one of the snippet, and what is there to find one's way. */
export const starting: Section = {
  name: 'starting',
  options: {
    settings: { 'toolbreak.timeline.openOnSession': 'never', 'toolbreak.timeline.notifyAfterRun': false },
    prepare: (folder) => rmSync(join(folder, '.vscode'), { recursive: true }),
  },
  async run(at) {
    const { page, pane, test } = at;
    await test.step('the run button debugs the open file without a launch.json', async () => {
      await pane.openFile('triage.py');
      await pane.clickGutter('def lookup_order');
      await pane.dots().first().waitFor();
      await page.locator('.editor-actions .codicon-debug-alt').first().click();
      await pane.stopped();
      await pane.waitForFrame('lookup_order(');
      await test.picture('1-run-button');
      await page.keyboard.press('F5');
      await pane.ended();
    });
    await test.step('the snippet makes a launch.json, and F5 starts it', async () => {
      await insertSnippet(at, 'triage.py');
      await test.picture('2-snippet');
      await page.keyboard.press('F5');
      await pane.stopped();
      await pane.waitForFrame('lookup_order(');
      await page.locator('.statusbar-item', { hasText: 'Agent' }).first().waitFor();
      await page.keyboard.press('F5');
      await pane.ended();
    });
    await test.step('Collect Logs copies the logs of the last session', async () => {
      await pane.command('Toolbreak: Collect Logs');
      const toast = await pane.notification(/\d+ log files? collected in/);
      await test.picture('3-logs');
      await toast.getByRole('button', { name: 'Copy Path' }).click();
      await page.waitForFunction(async () => /logs-/.test(await navigator.clipboard.readText()));
    });
    await test.step('the walkthrough opens', async () => {
      await pane.command('Welcome: Open Walkthrough...');
      const box = page.locator('.quick-input-box input');
      await box.fill('Toolbreak');
      await page
        .locator('.quick-input-list .monaco-list-row')
        .filter({ hasText: 'Debug an Agent with Toolbreak' })
        .click();
      await page.getByText('Put a breakpoint on a tool').first().waitFor();
      await test.picture('4-walkthrough');
    });
  },
};

/** What is missing or wrong is told where the person looks, with what to do. */
export const wrongSettings: Section = {
  name: 'wrong',
  options: {
    settings: { 'toolbreak.timeline.openOnSession': 'never' },
    prepare: (folder) => {
      const base = { type: 'toolbreak', request: 'launch', program: '${workspaceFolder}/triage.py' };
      const configurations = [
        { ...base, name: 'No Python', python: '${workspaceFolder}/.venv/bin/python' },
        { ...base, name: 'Wrong attribute', args: 5 },
        { ...base, name: 'No file', program: '${workspaceFolder}/triag.py' },
      ];
      writeFileSync(
        join(folder, '.vscode', 'launch.json'),
        JSON.stringify({ version: '0.2.0', configurations }, null, 2),
      );
    },
  },
  async run({ page, pane, test }) {
    const choose = async (name: string): Promise<void> => {
      await pane.command('Debug: Select and Start Debugging');
      await page.locator('.quick-input-list .monaco-list-row').filter({ hasText: name }).first().click();
    };
    await test.step('a Python that is not there is named, with a button to choose another', async () => {
      await pane.openFile('triage.py');
      await choose('No Python');
      const toast = await pane.notification(/Python not found at .*\.venv\/bin\/python\. Choose an interpreter/);
      await test.picture('1-no-python');
      await toast.getByRole('button', { name: 'Choose Interpreter' }).click();
      await page.locator('.quick-input-title', { hasText: 'Toolbreak: Choose Interpreter' }).waitFor();
      await page.keyboard.press('Escape');
    });
    await test.step('an attribute of the wrong type is named', async () => {
      await choose('Wrong attribute');
      await page
        .locator('.monaco-dialog-box')
        .filter({ hasText: /"args"/ })
        .waitFor();
      await test.picture('2-wrong-attribute');
      await page.keyboard.press('Escape');
    });
    await test.step('a file that is not there is named', async () => {
      await choose('No file');
      await pane.notification(/The file .*triag\.py does not exist/);
    });
  },
};
