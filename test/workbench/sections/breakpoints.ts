import { lineOf } from '../files';
import { act, did, QUICK, see } from '../hand';
import type { Section } from '../section';

/** Every kind of breakpoint, set where VS Code lets a person set it. */
export const breakpoints: Section = {
  name: 'breakpoints',
  async run({ opened, page, pane, test }) {
    const show = (text: string) => pane.goToLine(lineOf(opened.folder, 'triage.py', text));
    /** The breakpoint widget of VS Code, from the margin's menu: its kind, and the text in its small editor. */
    const inWidget = async (line: string, item: string, kind: string, text: string): Promise<void> => {
      const widget = page.locator('.breakpoint-widget');
      await pane.gutterMenu(line, item, widget);
      const select = widget.locator('.breakpoint-select-container select').first();
      await act(
        `the breakpoint's kind is ${kind}`,
        () => did(select.selectOption({ label: kind }, QUICK)),
        async () =>
          (await select
            .locator('option:checked')
            .textContent(QUICK)
            .catch(() => '')) === kind,
      );
      const write = async (): Promise<boolean> => {
        if (!(await did(widget.locator('.monaco-editor').first().click(QUICK)))) return false;
        await page.keyboard.press('Control+A');
        await page.keyboard.insertText(text);
        return true;
      };
      // The editor's spaces do not break.
      const written = async () =>
        (await widget.locator('.view-line').allInnerTexts()).join('').replace(/\s/g, ' ') === text;
      await act(`the breakpoint's text is ${text}`, write, written);
      await test.picture(`widget-${kind.toLowerCase().replace(' ', '-')}`);
      await page.keyboard.press('Enter');
      await see('the breakpoint widget', widget, { state: 'hidden' });
    };
    /** Rows of breakpoints that a person set; the filters for errors have no dot. */
    const set = pane.breakpointRows().filter({ has: page.locator('[class*="codicon-debug-breakpoint"]') });
    /** The adapter has taken the breakpoint of this line: until then its dot is hollow. */
    const taken = (text: string) =>
      see(
        `the breakpoint on "${text}" is taken`,
        set
          .filter({ hasText: String(lineOf(opened.folder, 'triage.py', text)) })
          .filter({ hasNot: page.locator('[class*="-unverified"]') })
          .first(),
      );
    const removeAll = async (): Promise<void> => {
      await pane.command('Remove All Breakpoints');
      await see('breakpoints', set.first(), { state: 'hidden' });
    };

    await test.step('"Break After This Call", from the margin, stops when the tool has returned', async () => {
      await pane.openFile('triage.py');
      await pane.widenSideBar(430);
      await pane.gutterMenu('def lookup_order', 'Break After This Call', () => pane.hasDot('def lookup_order'));
      await pane.start();
      await pane.stopped();
      await pane.paused('Paused after tool');
      await pane.expand(['Result', 'result'], pane.variable('item').filter({ hasText: 'lamp' }));
      await test.picture('1-after');
    });
    await test.step('"Break When This Call Fails", from the palette, stops with the error', async () => {
      await show('def refund');
      await pane.command('Toolbreak: Break When This Call Fails');
      await taken('def refund');
      await pane.go('F5');
      await pane.waitForFrame('refund(amount=700)');
      await pane.paused('Paused on error in tool');
      await pane.expand(['Error'], pane.variableRows().filter({ hasText: 'amount 700 needs approval' }).first());
      await test.picture('2-error');
    });
    await test.step('"Break Before This Call" stops before it again', async () => {
      // A dot that is replaced looks the same before and after: only a new one shows that it was taken.
      await removeAll();
      // The cursor went to the line that raised.
      await show('def refund');
      await pane.command('Toolbreak: Break Before This Call');
      await taken('def refund');
      await pane.go('F5');
      await pane.waitForFrame('refund(amount=500)');
      await pane.paused('Paused before tool');
    });
    await test.step('a state data breakpoint, by "Break on Value Change", stops at the write', async () => {
      await removeAll();
      await pane.expand(['State'], pane.variable('verdict'));
      const watched = pane.breakpointRows().filter({ hasText: 'verdict' }).first();
      await pane.variableMenu('verdict', 'Break on Value Change', watched);
      await pane.go('F5');
      await pane.waitForFrame(/^(score|review)/);
      await pane.paused(/Paused/);
      await test.picture('3-data');
    });
    await test.step('the run ends when nothing holds it', async () => {
      await removeAll();
      await pane.go('F5');
      await pane.ended();
    });
    await test.step('a condition, typed in the widget of VS Code, holds only where it is true', async () => {
      await show('def refund');
      await inWidget('def refund', 'Add Conditional Breakpoint...', 'Expression', 'args["amount"] == 500');
      await taken('def refund');
      await pane.start();
      await pane.stopped();
      await pane.waitForFrame('refund(amount=500)');
      await test.picture('4-condition');
      await pane.go('F5');
      await pane.ended();
      await removeAll();
    });
    await test.step('a hit count stops at the second call', async () => {
      await show('def agent(state');
      await inWidget('def agent(state', 'Add Conditional Breakpoint...', 'Hit Count', '2');
      await taken('def agent(state');
      await pane.start();
      await pane.stopped();
      await pane.waitForFrame(/^agent/);
      await pane.evaluate('state["visits"]');
      await pane.consoleSays("['agent']");
    });
    await test.step('a logpoint prints and does not stop', async () => {
      await removeAll();
      await show('def refund');
      await inWidget('def refund', 'Add Logpoint...', 'Log Message', 'refunding {args["amount"]} of it');
      await taken('def refund');
      await pane.go('F5');
      await pane.ended();
      await pane.consoleSays('refunding 700 of it');
      await pane.consoleSays('refunding 500 of it');
      await test.picture('5-logpoint');
      await removeAll();
    });
    await test.step('"tool:*" as a function breakpoint stops every tool', async () => {
      const every = pane.breakpointRows().filter({ hasText: 'tool:*' });
      await pane.add(/^Breakpoints/, 'Add Function Breakpoint', 'tool:*', every.first());
      await page.locator('.editor-group-container.active .view-lines').first().click();
      await pane.start();
      await pane.stopped();
      const held = pane.callStackRows().filter({ hasText: /Paused before tool/i });
      await see('both parallel calls, as two tasks', held.nth(1));
      await test.picture('6-function');
      await removeAll();
      await see('the breakpoint on every tool', every, { state: 'hidden' });
      await page.keyboard.press('Shift+F5');
      await pane.ended();
    });
    await test.step('the filter "Tool Errors", ticked, stops where a tool raises', async () => {
      const filter = pane.breakpointRows().filter({ hasText: 'Tool Errors' });
      const box = filter.locator('input[type=checkbox], .monaco-checkbox').first();
      const ticked = () => box.isChecked(QUICK).catch(() => false);
      await act('"Tool Errors" is ticked', () => did(box.click(QUICK)), ticked);
      await pane.start();
      await pane.waitForFrame('refund(amount=700)');
      await test.picture('7-filter');
    });
  },
};
