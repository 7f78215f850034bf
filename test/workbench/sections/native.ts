import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '../../support/native';
import { lineOf } from '../files';
import { act, see } from '../hand';
import type { Section } from '../section';
import { ROOT } from '../workbench';

/** A C program in the same debug type: F5, a breakpoint, variables, steps, and a crash that stops. */
export const native: Section = {
  name: 'native',
  get options() {
    return {
      workspace: join(ROOT, 'fixtures', 'native'),
      // No debugger is named, as a person has it: the one on the PATH is found.
      prepare: (folder: string) => {
        compile([join(folder, 'order.c')], join(folder, 'order'));
        mkdirSync(join(folder, '.vscode'));
        const configuration = { type: 'toolbreak', request: 'launch', name: 'Order desk' };
        const launch = { ...configuration, program: '${workspaceFolder}/order', args: ['segv'] };
        writeFileSync(join(folder, '.vscode/launch.json'), JSON.stringify({ configurations: [launch] }));
      },
    };
  },
  async run({ opened, pane, test }) {
    await test.step('F5 on an executable stops at the breakpoint in its C file', async () => {
      await pane.openFile('order.c');
      await pane.widenSideBar(430);
      await pane.goToLine(lineOf(opened.folder, 'order.c', 'BP: sum'));
      await pane.breakpoint('BP: sum');
      await pane.start();
      await pane.stopped();
      await pane.paused('Paused on breakpoint');
      await pane.top(/^total/);
      await pane.expand(['Locals'], pane.variable('sum').filter({ hasText: '0' }));
      await test.picture('1-stopped');
    });
    await test.step('what C++ throws can be stopped at; a line offers no call to skip or to run again', async () => {
      await see('the filter for what is thrown', pane.exceptionFilter('C++: Throw').first());
      await see('no filter for tools', pane.exceptionFilter('Tool Errors').first(), { state: 'hidden' });
      for (const label of ['Skip This Call', 'Run This Call Again'])
        await see(`no button "${label}"`, pane.toolbarButton(label).first(), { state: 'hidden' });
    });
    await test.step('F10 goes on by a line, a variable is changed, an expression answers', async () => {
      await pane.go('F10');
      await pane.paused('Paused on step');
      await pane.setVariable('sum', '10', pane.variable('sum').filter({ hasText: '10' }));
      await pane.evaluate('sum + 0.5');
      await pane.consoleSays('10.5');
      await test.picture('2-changed');
    });
    await test.step('Shift+F11 comes out in the caller', async () => {
      await pane.breakpoint('BP: sum', false);
      await pane.go('Shift+F11');
      await pane.top(/^main/, 'Paused on step');
    });
    await test.step('a crash stops where it happened, with its signal', async () => {
      await pane.go('F5');
      await pane.paused('Paused on SIGSEGV');
      await pane.top(/^fail/);
      await see('the variable that could not be written', pane.variable('nowhere').first());
      await test.picture('3-crash');
      await pane.go('F5');
      await pane.ended();
    });
    await test.step('the timeline has its stops and the crash, with the way there', async () => {
      const panel = pane.timeline();
      const selected = (text: RegExp) => panel.locator('.detail-title h2').filter({ hasText: text }).first();
      await pane.panel('Toolbreak Timeline');
      await see('the lane of the program', panel.locator('.lane-name', { hasText: 'order' }).first());
      const scroller = panel.locator('.scroller');
      await scroller.press(']');
      await see('the crash as the selected event', selected(/^Crash: Segmentation fault.*fail @ order\.c/));
      await see('a register', panel.getByRole('rowheader', { name: /^registers\./ }).first());
      await test.picture('4-timeline-crash');
      const stop = async (): Promise<boolean> => (await scroller.press('Alt+ArrowLeft'), true);
      await act('Alt+Left goes back to the first stop', stop, selected(/^Breakpoint: total @ order\.c/));
      await panel.getByRole('button', { name: 'Go to source' }).click();
      await test.picture('5-timeline-stop');
    });
  },
};
