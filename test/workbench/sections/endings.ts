import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { lineOf } from '../files';
import { see } from '../hand';
import { isAlive, pythonsOf, until } from '../processes';
import type { Section } from '../section';
import { ROOT } from '../workbench';

/** How runs end: with an error nobody catches, and by the buttons of the toolbar while a call is held. */
export const endings: Section = {
  name: 'endings',
  options: {
    settings: { 'toolbreak.timeline.openOnSession': 'never' },
    prepare: (folder) => cpSync(join(ROOT, 'fixtures', 'apps', 'uncaught', 'uncaught.py'), join(folder, 'uncaught.py')),
  },
  async run({ opened, page, pane, test }) {
    const debugFile = async (name: string): Promise<void> => {
      await pane.openFile(name);
      await pane.start(() => pane.command('Toolbreak: Debug Python File'));
    };
    await test.step('an error nobody catches stops with its state readable', async () => {
      await pane.openFile('uncaught.py');
      await pane.widenSideBar(430);
      await debugFile('uncaught.py');
      await pane.stopped();
      const told = page.locator('.exception-widget').filter({ hasText: 'amount 250 is over the limit of 100' });
      await see('the error beside its line', told);
      await pane.evaluate('state["charged"]');
      await pane.consoleSays('[40, 60]');
      await test.picture('1-uncaught');
    });
    await test.step('then the app ends as it would have', async () => {
      await pane.go('F5');
      await pane.ended();
      await pane.consoleSays('ValueError: amount 250');
    });
    let first: number[] = [];
    await test.step('Restart while held ends the old process and holds the new one', async () => {
      await pane.openFile('triage.py');
      await pane.goToLine(lineOf(opened.folder, 'triage.py', 'def lookup_order'));
      await pane.breakpoint('def lookup_order');
      await debugFile('triage.py');
      await pane.stopped();
      await pane.waitForFrame('lookup_order(');
      first = pythonsOf(opened.folder);
      assert.ok(first.length > 0, 'the app runs');
      await pane.press('restart', () => Promise.resolve(!first.some(isAlive)));
      await until('a new one runs', () => pythonsOf(opened.folder).length > 0);
      await pane.waitForFrame('lookup_order(');
      await pane.stopped();
      await test.picture('2-restarted');
    });
    await test.step('Stop while held ends the process', async () => {
      const second = pythonsOf(opened.folder);
      await pane.press('stop', async () => !(await page.locator('.debug-toolbar').isVisible()));
      await pane.ended();
      await until('the process has ended', () => !second.some(isAlive) && pythonsOf(opened.folder).length === 0);
    });
    await test.step('the end of a run is told, with a button for the timeline', async () => {
      await pane.notification(/ended: \d+ calls/);
      await test.picture('3-ended');
      const workflow = pane.timeline().getByText('support_agent').first();
      await pane.answer(
        /ended: \d+ calls/,
        'Open Timeline',
        page.locator('.part.panel .checked', { hasText: 'Toolbreak' }),
      );
      await see('the workflow in the timeline', workflow);
    });
  },
};
