import { lineOf } from '../files';
import type { Section } from '../section';

/** Every kind of breakpoint, set where VS Code lets a person set it. */
export const breakpoints: Section = {
  name: 'breakpoints',
  async run({ opened, page, pane, test }) {
    const show = (text: string) => pane.goToLine(lineOf(opened.folder, 'triage.py', text));
    /** The breakpoint widget of VS Code: its kind, and the text in its small editor. */
    const inWidget = async (kind: string, text: string): Promise<void> => {
      const widget = page.locator('.breakpoint-widget');
      await widget.waitFor();
      const select = widget.locator('.breakpoint-select-container select').first();
      await select.selectOption({ label: kind });
      await widget.locator('.monaco-editor').first().click();
      await page.keyboard.press('Control+A');
      await page.keyboard.insertText(text);
      await test.picture(`widget-${kind.toLowerCase().replace(' ', '-')}`);
      await page.keyboard.press('Enter');
      await widget.waitFor({ state: 'hidden' });
    };
    /** Rows of breakpoints that a person set; the filters for errors have no dot. */
    const set = pane.breakpointRows().filter({ has: page.locator('[class*="codicon-debug-breakpoint"]') });
    /** The adapter has taken the breakpoint of this line: until then its dot is hollow. */
    const taken = (text: string) =>
      set
        .filter({ hasText: String(lineOf(opened.folder, 'triage.py', text)) })
        .filter({ hasNot: page.locator('[class*="-unverified"]') })
        .first()
        .waitFor();
    const removeAll = async (): Promise<void> => {
      await pane.command('Remove All Breakpoints');
      await set.first().waitFor({ state: 'hidden' });
    };

    await test.step('"Break After This Call", from the margin, stops when the tool has returned', async () => {
      await pane.openFile('triage.py');
      await pane.widenSideBar(430);
      await pane.gutterMenu('def lookup_order', 'Break After This Call');
      await page.keyboard.press('F5');
      await pane.stopped();
      await pane.paused('Paused after tool');
      await pane.expand('Result');
      await pane.expand('result');
      await pane.variable('item').filter({ hasText: 'lamp' }).waitFor();
      await test.picture('1-after');
    });
    await test.step('"Break When This Call Fails", from the palette, stops with the error', async () => {
      await show('def refund');
      await pane.command('Toolbreak: Break When This Call Fails');
      await taken('def refund');
      await page.keyboard.press('F5');
      await pane.waitForFrame('refund(amount=700)');
      await pane.paused('Paused on error in tool');
      await pane.expand('Error');
      await pane.variableRows().filter({ hasText: 'amount 700 needs approval' }).first().waitFor();
      await test.picture('2-error');
    });
    await test.step('"Break Before This Call" stops before it again', async () => {
      // A dot that is replaced looks the same before and after: only a new one shows that it was taken.
      await removeAll();
      // The cursor went to the line that raised.
      await show('def refund');
      await pane.command('Toolbreak: Break Before This Call');
      await taken('def refund');
      await page.keyboard.press('F5');
      await pane.waitForFrame('refund(amount=500)');
      await pane.paused('Paused before tool');
    });
    await test.step('a state data breakpoint, by "Break on Value Change", stops at the write', async () => {
      await removeAll();
      await pane.expand('State');
      await pane.variableMenu('verdict', 'Break on Value Change');
      await pane.breakpointRows().filter({ hasText: 'verdict' }).first().waitFor();
      await page.keyboard.press('F5');
      await pane.waitForFrame(/^(score|review)/);
      await pane.paused(/Paused/);
      await test.picture('3-data');
    });
    await test.step('the run ends when nothing holds it', async () => {
      await removeAll();
      await page.keyboard.press('F5');
      await pane.ended();
    });
    await test.step('a condition, typed in the widget of VS Code, holds only where it is true', async () => {
      await show('def refund');
      await pane.gutterMenu('def refund', 'Add Conditional Breakpoint...');
      await inWidget('Expression', 'args["amount"] == 500');
      await taken('def refund');
      await page.keyboard.press('F5');
      await pane.stopped();
      await pane.waitForFrame('refund(amount=500)');
      await test.picture('4-condition');
      await page.keyboard.press('F5');
      await pane.ended();
      await removeAll();
    });
    await test.step('a hit count stops at the second call', async () => {
      await show('def agent(state');
      await pane.gutterMenu('def agent(state', 'Add Conditional Breakpoint...');
      await inWidget('Hit Count', '2');
      await taken('def agent(state');
      await page.keyboard.press('F5');
      await pane.stopped();
      await pane.waitForFrame(/^agent/);
      await pane.evaluate('state["visits"]');
      await pane.consoleSays("['agent']");
    });
    await test.step('a logpoint prints and does not stop', async () => {
      await removeAll();
      await show('def refund');
      await pane.gutterMenu('def refund', 'Add Logpoint...');
      await inWidget('Log Message', 'refunding {args["amount"]} of it');
      await taken('def refund');
      await page.keyboard.press('F5');
      await pane.ended();
      await pane.consoleSays('refunding 700 of it');
      await pane.consoleSays('refunding 500 of it');
      await test.picture('5-logpoint');
      await removeAll();
    });
    await test.step('"tool:*" as a function breakpoint stops every tool', async () => {
      const header = page.locator('.pane-header', { hasText: /^Breakpoints/ });
      await header.hover();
      await page.getByRole('button', { name: 'Add Function Breakpoint' }).first().click();
      await page.locator('.debug-breakpoints .monaco-inputbox input').first().fill('tool:*');
      await page.keyboard.press('Enter');
      await pane.breakpointRows().filter({ hasText: 'tool:*' }).first().waitFor();
      await page.locator('.editor-group-container.active .view-lines').first().click();
      await page.keyboard.press('F5');
      await pane.stopped();
      // Both parallel calls: two tasks.
      await pane
        .callStackRows()
        .filter({ hasText: /Paused before tool/i })
        .nth(1)
        .waitFor();
      await test.picture('6-function');
      await removeAll();
      await pane.breakpointRows().filter({ hasText: 'tool:*' }).waitFor({ state: 'hidden' });
      await page.keyboard.press('Shift+F5');
      await pane.ended();
    });
    await test.step('the filter "Tool Errors", ticked, stops where a tool raises', async () => {
      await pane
        .breakpointRows()
        .filter({ hasText: 'Tool Errors' })
        .locator('input[type=checkbox], .monaco-checkbox')
        .first()
        .click();
      await page.keyboard.press('F5');
      await pane.waitForFrame('refund(amount=700)');
      await test.picture('7-filter');
    });
  },
};
