import assert from 'node:assert/strict';
import { lineOf } from '../files';
import { act, did, QUICK, see } from '../hand';
import type { Section } from '../section';

/** Parallel calls, and what can be done with a held call beside releasing it. */
export const parallel: Section = {
  name: 'parallel',
  async run({ opened, page, pane, test }) {
    const put = async (text: string): Promise<void> => {
      await pane.goToLine(lineOf(opened.folder, 'triage.py', text));
      await pane.breakpoint(text);
    };
    const threads = page.locator('.debug-call-stack .monaco-list-row').filter({ has: page.locator('.thread') });
    // The call that begins first is in the workflow's own thread, and the other one in a branch: which is which is up to the app.
    const branch = threads.filter({ hasText: '›' }).first();
    let first = '';
    const threadOf = (tool: string) => (tool === first ? threads.filter({ hasNotText: '›' }).first() : branch);
    await test.step('two parallel calls are two threads, both held', async () => {
      await pane.openFile('triage.py');
      await pane.widenSideBar(430);
      await put('def lookup_order');
      await put('def check_stock');
      await pane.start();
      await pane.stopped();
      await see('two threads', threads.nth(1));
      await see('the thread of a tool', branch.filter({ hasText: /lookup_order|check_stock/ }));
      first = (await branch.innerText()).includes('check_stock') ? 'lookup_order' : 'check_stock';
      await test.picture('1-two-threads');
    });
    await test.step('one is continued and finishes while the other stays held', async () => {
      const row = threadOf('check_stock');
      const click = async () =>
        (await did(row.hover(QUICK))) && did(row.locator('.codicon-debug-continue').click(QUICK));
      const held = row.filter({ hasText: /paused/i });
      await see('check_stock, held', held);
      await act('check_stock is continued', click, async () => !(await held.isVisible()));
      await pane.waitForFrame('lookup_order(');
      await pane.paused('Paused before tool');
      await test.picture('2-one-held');
    });
    await test.step('skip, from the context menu of the Call Stack, puts a result in place of the call', async () => {
      const box = page.locator('.quick-input-box input');
      await pane.frameMenu('lookup_order(', 'Skip This Call...', box);
      await test.picture('3-skip');
      await box.fill('{"order_id": 7,');
      await page.keyboard.press('Enter');
      await see(
        'the mistake, in the box',
        page.locator('.quick-input-message').filter({ hasText: /never closed|SyntaxError|unexpected EOF/ }),
      );
      assert.equal(await box.inputValue(), '{"order_id": 7,');
      await box.fill('{"order_id": 7, "item": "lamp", "total": 120, "region": "eu"}');
      await page.keyboard.press('Enter');
      await pane.paused('Paused after tool');
      await pane.expand(['Result', 'result'], pane.variable('total').filter({ hasText: '120' }));
      await test.picture('4-skipped');
    });
    await test.step('the app goes on with that result', async () => {
      const line = lineOf(opened.folder, 'triage.py', 'def refund');
      await pane.goToLine(line);
      // The adapter has taken it.
      const dot = pane
        .breakpointRows()
        .filter({ hasText: String(line) })
        .locator('.codicon-debug-breakpoint')
        .first();
      await pane.gutterMenu('def refund', 'Break Before and After This Call', dot);
      await pane.go('F5');
      await pane.waitForFrame('refund(amount=120)');
    });
    await test.step('run again runs the call once more, with the arguments as they are now', async () => {
      await pane.go('F5');
      await pane.paused('Paused after tool');
      await pane.expand(['Arguments'], pane.variable('amount'));
      await pane.setVariable('amount', '121', pane.callStackRows().filter({ hasText: 'refund(amount=121)' }).first());
      const result = pane.variable('result').filter({ hasText: 'refunded 121' });
      await pane.frameMenu('refund(', 'Run This Call Again', () => pane.shows(['Result'], result));
      await test.picture('5-again');
    });
    await test.step('cancel ends the call, and the run', async () => {
      await pane.frameMenu(
        'refund(',
        'Cancel This Call',
        async () => !(await page.locator('.debug-toolbar').isVisible()),
      );
      await pane.ended();
      await test.picture('6-cancelled');
    });
  },
};
