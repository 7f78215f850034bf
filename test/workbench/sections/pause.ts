import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { see } from '../hand';
import type { Section } from '../section';

const SPIN = `def spin(count):
    while not done:
        count += 1
        count -= 1
    return count


done = []
print("it begins", flush=True)
print("ended with", spin(0))
`;

/** Code that calls nothing is paused where it is. */
export const pause: Section = {
  name: 'pause',
  options: {
    settings: { 'toolbreak.timeline.openOnSession': 'never', 'toolbreak.timeline.notifyAfterRun': false },
    prepare: (folder) => {
      rmSync(join(folder, '.vscode'), { recursive: true });
      writeFileSync(join(folder, 'spin.py'), SPIN);
    },
  },
  async run({ page, pane, test }) {
    await test.step('the pause button stops a loop at its next line', async () => {
      await pane.openFile('spin.py');
      await pane.start(() => page.locator('.editor-actions .codicon-debug-alt').first().click());
      await pane.panel('Debug Console');
      await pane.consoleSays('it begins');
      await pane.press('pause', page.locator('.debug-toolbar .codicon-debug-continue'));
      await see('the line where it stands', page.locator('.debug-top-stack-frame-line').first());
      await test.picture('1-paused');
    });
    await test.step('it is stepped, changed and let go', async () => {
      await pane.evaluate('done.append(1)');
      await pane.go('F5');
      await pane.consoleSays('ended with');
      await pane.ended();
    });
  },
};
