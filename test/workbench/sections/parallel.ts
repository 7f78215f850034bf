import { lineOf } from '../files';
import type { Section } from '../section';

/** Parallel calls, and what can be done with a held call beside releasing it. */
export const parallel: Section = {
  name: 'parallel',
  async run({ opened, page, pane, test }) {
    const put = async (text: string): Promise<void> => {
      await pane.goToLine(lineOf(opened.folder, 'triage.py', text));
      await pane.clickGutter(text);
    };
    const threads = page.locator('.debug-call-stack .monaco-list-row').filter({ has: page.locator('.thread') });
    await test.step('two parallel calls are two threads, both held', async () => {
      await pane.openFile('triage.py');
      await pane.widenSideBar(430);
      await put('def lookup_order');
      await put('def check_stock');
      await page.keyboard.press('F5');
      await pane.stopped();
      await threads.nth(1).waitFor();
      await threads.filter({ hasText: 'check_stock' }).first().waitFor();
      await test.picture('1-two-threads');
    });
    await test.step('one is continued and finishes while the other stays held', async () => {
      const row = threads.filter({ hasText: 'check_stock' }).first();
      await row.hover();
      await row.locator('.codicon-debug-continue').click();
      await row.waitFor({ state: 'hidden' });
      await pane.waitForFrame('lookup_order(');
      await pane.paused('Paused before tool');
      await test.picture('2-one-held');
    });
    await test.step('skip, from the context menu of the Call Stack, puts a result in place of the call', async () => {
      await pane.frameMenu('lookup_order(', 'Skip This Call...');
      const box = page.locator('.quick-input-box input');
      await box.waitFor();
      await test.picture('3-skip');
      await box.fill('{"order_id": 7, "item": "lamp", "total": 120, "region": "eu"}');
      await page.keyboard.press('Enter');
      await pane.paused('Paused after tool');
      await pane.expand('Result');
      await pane.expand('result');
      await pane.variable('total').filter({ hasText: '120' }).waitFor();
      await test.picture('4-skipped');
    });
    await test.step('the app goes on with that result', async () => {
      const line = lineOf(opened.folder, 'triage.py', 'def refund');
      await pane.goToLine(line);
      await pane.gutterMenu('def refund', 'Break Before and After This Call');
      // The adapter has taken it.
      const row = pane.breakpointRows().filter({ hasText: String(line) });
      await row.locator('.codicon-debug-breakpoint').first().waitFor();
      await page.keyboard.press('F5');
      await pane.waitForFrame('refund(amount=120)');
    });
    await test.step('run again runs the call once more, with the arguments as they are now', async () => {
      await page.keyboard.press('F5');
      await pane.paused('Paused after tool');
      await pane.expand('Arguments');
      await pane.setVariable('amount', '121');
      await pane.waitForFrame('refund(amount=121)');
      await pane.frameMenu('refund(', 'Run This Call Again');
      await pane.expand('Result');
      await pane.variable('result').filter({ hasText: 'refunded 121' }).waitFor();
      await test.picture('5-again');
    });
    await test.step('cancel ends the call, and the run', async () => {
      await pane.frameMenu('refund(', 'Cancel This Call');
      await pane.ended();
      await test.picture('6-cancelled');
    });
  },
};
