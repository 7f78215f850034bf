import { lineOf } from '../files';
import { act, see } from '../hand';
import type { Section } from '../section';

/** The timeline: live, tied to the call stack both ways, and after the end. */
export const timeline: Section = {
  name: 'timeline',
  async run({ opened, page, pane, test }) {
    const panel = pane.timeline();
    const selected = (name: string | RegExp) => panel.locator('.detail-title h2').filter({ hasText: name }).first();
    await test.step('it has opened by itself and shows the held run', async () => {
      await pane.openFile('triage.py');
      await pane.widenSideBar(430);
      await pane.breakpoint('def lookup_order');
      await pane.start();
      await pane.stopped();
      await pane.waitForFrame('lookup_order(');
      await see('the panel with the timeline', page.locator('.part.panel .checked', { hasText: 'Toolbreak Timeline' }));
      await see('the workflow in the timeline', panel.getByText('support_agent').first());
      await see('the word "live" in the timeline', panel.getByText('live').first());
    });
    await test.step('the held call is selected', async () => {
      await see('lookup_order as the selected call', selected('lookup_order'));
      await test.picture('1-live');
    });
    await test.step('an edit is beside what the call was given', async () => {
      await pane.expand(['Arguments'], pane.variable('region'));
      const edited = panel.getByRole('treeitem', { name: "region, changed, 'eu' → 'us'" });
      await pane.setVariable('region', "'us'", edited);
      await see('the edited argument in the title', selected("lookup_order(order_id=7, region='us')"));
      await test.picture('2-edited');
    });
    await test.step('choosing a stack frame selects its call', async () => {
      await pane.chooseFrame(/^tools/);
      await see('tools as the selected call', selected('tools'));
      await test.picture('3-frame-selects-call');
    });
    await test.step('choosing a call focuses its frame', async () => {
      // The first bar below the axis is the workflow's.
      const click = async (): Promise<boolean> => {
        const box = await panel.locator('.stage canvas').first().boundingBox();
        if (box === null) return false;
        await page.mouse.click(box.x + box.width / 2, box.y + 36);
        return true;
      };
      await act('a click on the bar of support_agent selects it', click, selected('support_agent'));
      const row = page
        .locator('.debug-call-stack .monaco-list-row.selected, .debug-call-stack .monaco-list-row.focused')
        .filter({ hasText: /^support_agent/ })
        .first();
      await see('the focus on the frame of support_agent', row);
      await test.picture('4-call-focuses-frame');
    });
    await test.step('the call of the next stop is selected', async () => {
      await pane.goToLine(lineOf(opened.folder, 'triage.py', 'def refund'));
      await pane.breakpoint('def refund');
      await pane.go('F5');
      await pane.waitForFrame('refund(amount=700)');
      await see('refund as the selected call', selected('refund'));
      await test.picture('5-next-stop');
    });
    await test.step('two calls are compared', async () => {
      const compare = panel.getByRole('tab', { name: 'Compare' });
      // The editor says what is held at once; the calls before it are there when the recording says so, too.
      await see('the second hold in the title', panel.getByText('2 holds').first());
      await panel.locator('.scroller').press('c');
      await panel.locator('.scroller').press('Alt+ArrowLeft');
      await see('the model as the selected call', selected('scripted'));
      await panel.locator('.scroller').press('Alt+ArrowLeft');
      // Two tools ran side by side; which of them was on this lane is up to the threads.
      await see('a tool as the selected call', selected(/lookup_order|check_stock/));
      await panel.locator('.scroller').press('Shift+C');
      await see('the tab of the comparison', compare);
      await see('an argument of one of them', panel.getByRole('treeitem', { name: 'amount, removed, 700' }));
      await test.picture('6-compared');
    });
    await test.step('a node shows its state side by side', async () => {
      await panel.locator('.scroller').press('Alt+ArrowUp');
      await see('tools as the selected call', selected('tools'));
      await panel.getByRole('tab', { name: 'State' }).click();
      await panel.getByRole('button', { name: 'Side by Side' }).click();
      await see('the messages on both sides', panel.getByRole('treeitem', { name: /^messages, changed, list/ }));
      await test.picture('7-side-by-side');
    });
    await test.step('it shows all of the run after the end', async () => {
      await pane.command('Remove All Breakpoints');
      await pane.go('F5');
      await pane.ended();
      await pane.panel('Toolbreak Timeline');
      await see('the number of calls', panel.getByText(/\d\d calls/).first());
      const editor = pane.timeline('editor');
      const workflow = editor.getByText('support_agent').first();
      await pane.command('Toolbreak: Open Timeline in an Editor');
      await see('the workflow in the editor', workflow);
      const field = editor
        .getByRole('searchbox')
        .or(editor.getByPlaceholder(/Search/))
        .first();
      await field.fill('review');
      await see('how many were found', editor.getByText(/^[1-9]\d* found/).first());
      await test.picture('8-editor');
    });
  },
};
