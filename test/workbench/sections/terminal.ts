import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { see } from '../hand';
import type { Section } from '../section';
import { ROOT } from '../workbench';

/** A chat loop reads what is typed into the integrated terminal. */
export const terminal: Section = {
  name: 'terminal',
  options: {
    settings: {
      'toolbreak.timeline.openOnSession': 'never',
      'toolbreak.timeline.notifyAfterRun': false,
      // Text of a canvas cannot be read.
      'terminal.integrated.gpuAcceleration': 'off',
    },
    prepare: (folder) => {
      cpSync(join(ROOT, 'fixtures', 'apps', 'chat', 'chat.py'), join(folder, 'chat.py'));
      const chat = {
        type: 'toolbreak',
        request: 'launch',
        name: 'Chat',
        program: '${workspaceFolder}/chat.py',
        console: 'integratedTerminal',
      };
      writeFileSync(
        join(folder, '.vscode', 'launch.json'),
        JSON.stringify({ version: '0.2.0', configurations: [chat] }, null, 2),
      );
    },
  },
  async run({ page, pane, test }) {
    const rows = page.locator('.terminal .xterm-rows');
    const type = async (text: string): Promise<void> => {
      await page.locator('.terminal .xterm-screen').first().click();
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
    };
    await test.step('the app asks in the integrated terminal', async () => {
      await pane.openFile('chat.py');
      await pane.widenSideBar(430);
      await pane.breakpoint('def reply');
      await pane.start();
      await see('the prompt in the terminal', rows.filter({ hasText: '> ' }).first());
    });
    await test.step('what is typed reaches the tool, which is held', async () => {
      await type('hello');
      await pane.waitForFrame("reply(text='hello', turn=1)");
      await test.picture('1-held');
      await pane.go('F5');
      await see('the answer in the terminal', rows.filter({ hasText: '1: olleh' }).first());
    });
    await test.step('and ends by itself', async () => {
      await type('bye');
      await see('the last line in the terminal', rows.filter({ hasText: 'turns: 1' }).first());
      await pane.ended();
      await test.picture('2-ended');
    });
  },
};
