import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { see, type Done } from '../hand';
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
      await pane.breakpoint('def lookup_order');
      await pane.start(() => page.locator('.editor-actions .codicon-debug-alt').first().click());
      await pane.stopped();
      await pane.waitForFrame('lookup_order(');
      await test.picture('1-run-button');
      await pane.go('F5');
      await pane.ended();
    });
    await test.step('the snippet makes a launch.json, and F5 starts it', async () => {
      await insertSnippet(at, 'triage.py');
      await test.picture('2-snippet');
      await pane.start();
      await pane.stopped();
      await pane.waitForFrame('lookup_order(');
      await see('the name of the configuration', page.locator('.statusbar-item', { hasText: 'Agent' }).first());
      await pane.go('F5');
      await pane.ended();
    });
    await test.step('Collect Logs copies the logs of the last session', async () => {
      await pane.command('Toolbreak: Collect Logs');
      await pane.notification(/\d+ log files? collected in/);
      await test.picture('3-logs');
      await pane.answer(/\d+ log files? collected in/, 'Copy Path', () => pane.clipboard(/logs-/));
    });
    await test.step('the walkthrough opens', async () => {
      const first = page.getByText('Put a breakpoint on a tool').first();
      await pane.choose('Welcome: Open Walkthrough...', 'Toolbreak', 'Debug an Agent with Toolbreak', first);
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
    const choose = (name: string, told: Done) => pane.choose('Debug: Select and Start Debugging', '', name, told);
    await test.step('a Python that is not there is named, with a button to choose another', async () => {
      await pane.openFile('triage.py');
      const missing = /Python not found at .*\.venv\/bin\/python\. Choose an interpreter/;
      await choose('No Python', () => pane.told(missing));
      await pane.notification(missing);
      await test.picture('1-no-python');
      const title = page.locator('.quick-input-title', { hasText: 'Toolbreak: Choose Interpreter' });
      await pane.answer(missing, 'Choose Interpreter', title);
      await page.keyboard.press('Escape');
    });
    await test.step('an attribute of the wrong type is named', async () => {
      await choose('Wrong attribute', page.locator('.monaco-dialog-box').filter({ hasText: /"args"/ }));
      await test.picture('2-wrong-attribute');
      await page.keyboard.press('Escape');
    });
    await test.step('a file that is not there is named', async () => {
      const missing = /The file .*triag\.py does not exist/;
      await choose('No file', () => pane.told(missing));
      await pane.notification(missing);
    });
  },
};
