import { lineOf } from '../files';
import { see } from '../hand';
import { until } from '../processes';
import type { Section } from '../section';

/** From a held tool call into its lines and out again, with a breakpoint on a line, too. */
export const lines: Section = {
  name: 'lines',
  async run({ opened, page, pane, test }) {
    const at = async (text: string): Promise<void> => {
      const line = String(lineOf(opened.folder, 'triage.py', text));
      await until(`the line ${line} is the one that is held`, async () => {
        const numbers = await page.locator('.line-numbers.active-line-number').allInnerTexts();
        return numbers[0]?.trim() === line && (await page.locator('.debug-top-stack-frame-line').count()) > 0;
      });
    };
    const frames = async (): Promise<string> => (await pane.frameNames()).join();
    await test.step('a held tool call', async () => {
      await pane.openFile('triage.py');
      await pane.widenSideBar(430);
      await pane.breakpoint('def lookup_order');
      await pane.start();
      await pane.stopped();
      await pane.paused('Paused before tool');
    });
    await test.step('F11 goes to the first line of its function', async () => {
      await pane.go('F11');
      await pane.paused('Paused on step');
      await at('item, total = ORDERS[order_id]');
      await until('one call stack: line, tool, node, workflow', async () =>
        /^lookup_order,lookup_order,tools,support_agent/.test(await frames()),
      );
      await pane.expand(['Locals'], pane.variable('order_id').filter({ hasText: '7' }));
      await test.picture('1-first-line');
    });
    await test.step('F10 goes to the next line, where the locals are new', async () => {
      await pane.go('F10');
      await at('return {"order_id": order_id');
      await see('a local', pane.variable('total').filter({ hasText: '700' }));
      await test.picture('2-next-line');
    });
    await test.step('a local is changed', async () => {
      await pane.setVariable('total', '40', pane.variable('total').filter({ hasText: '40' }));
      await pane.evaluate('total + 1');
      await pane.consoleSays(/^41/);
    });
    await test.step('Shift+F11 comes out at the end of the call', async () => {
      await pane.go('Shift+F11');
      await pane.paused('Paused after tool');
      await pane.evaluate('result["total"]');
      await pane.consoleSays(/^40/);
      await test.picture('3-out');
    });
    await test.step('a breakpoint on a line of the body stops there', async () => {
      await pane.breakpoint('def lookup_order', false);
      await pane.goToLine(lineOf(opened.folder, 'triage.py', 'return f"refunded {amount}"'));
      await pane.breakpoint('return f"refunded {amount}"');
      await pane.go('F5');
      await pane.paused('Paused on breakpoint');
      await at('return f"refunded {amount}"');
      await see('the local that was changed on the way', pane.variable('amount').filter({ hasText: '40' }));
      await test.picture('4-breakpoint');
    });
    await test.step('F10 from the last line comes to the end of the call, and on to the workflow', async () => {
      await pane.go('F10');
      await pane.paused('Paused after tool');
      await pane.go('Shift+F11');
      await pane.paused('Paused after node');
      await until('the node under its workflow', async () => /^tools,support_agent/.test(await frames()));
      await pane.go('Shift+F11');
      await pane.paused('Paused after workflow');
      await test.picture('5-workflow');
      await pane.go('F5');
      await pane.ended();
    });
  },
};
