import type { Section } from '../section';

/** The timeline: live, tied to the call stack both ways, and after the end. */
export const timeline: Section = {
  name: 'timeline',
  async run({ page, pane, test }) {
    await test.step('it has opened by itself and shows the held run', async () => {
      await pane.openFile('triage.py');
      await pane.widenSideBar(430);
      await pane.clickGutter('def lookup_order');
      await page.keyboard.press('F5');
      await pane.stopped();
      await pane.waitForFrame('lookup_order(');
      await pane.timeline().getByText('support_agent').first().waitFor();
      await pane.timeline().getByText('live').first().waitFor();
      await test.picture('1-live');
    });
    const selected = () => pane.timeline().locator('.detail-title h2').first();
    await test.step('choosing a stack frame selects its call', async () => {
      await pane
        .callStackRows()
        .filter({ hasText: /^tools/ })
        .first()
        .click();
      await selected().filter({ hasText: 'tools' }).waitFor();
      await test.picture('2-frame-selects-call');
    });
    await test.step('choosing a call focuses its frame', async () => {
      // The first bar below the axis is the workflow's.
      const box = await pane.timeline().locator('.stage canvas').first().boundingBox();
      if (box === null) throw new Error('The timeline shows no calls.');
      await page.mouse.click(box.x + box.width / 2, box.y + 36);
      await selected().filter({ hasText: 'support_agent' }).waitFor();
      await page
        .locator('.debug-call-stack .monaco-list-row.selected, .debug-call-stack .monaco-list-row.focused')
        .filter({ hasText: /^support_agent/ })
        .first()
        .waitFor();
      await test.picture('3-call-focuses-frame');
    });
    await test.step('it shows all of the run after the end', async () => {
      await page.keyboard.press('F5');
      await pane.ended();
      await pane.panel('Toolbreak Timeline');
      await pane
        .timeline()
        .getByText(/\d\d calls/)
        .first()
        .waitFor();
      await pane.command('Toolbreak: Open Timeline in an Editor');
      const editor = pane.timeline(1);
      await editor.getByText('support_agent').first().waitFor();
      await editor
        .getByRole('searchbox')
        .or(editor.getByPlaceholder(/Search/))
        .first()
        .fill('review');
      await editor
        .getByText(/^[1-9]\d* found/)
        .first()
        .waitFor();
      await test.picture('4-editor');
    });
  },
};
