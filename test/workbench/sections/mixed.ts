import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile, delegates } from '../../support/native';
import { lineOf } from '../files';
import { see } from '../hand';
import type { Pane } from '../pane';
import { until } from '../processes';
import type { Section } from '../section';
import { ROOT, type Options } from '../workbench';

/** A workspace whose agent has a tool that works in native code, in one of the agent's ways. */
function shop(way: string, native: string, flags: string[]): Partial<Options> {
  return {
    workspace: join(ROOT, 'fixtures', 'apps', 'mixed'),
    settings: { 'toolbreak.lldbDap': delegates()[0]!.path },
    prepare: (folder: string) => {
      compile([join(folder, 'prices.c')], join(folder, native), flags);
      mkdirSync(join(folder, '.vscode'));
      const configuration = { type: 'toolbreak', request: 'launch', name: 'Shop' };
      const program = '${workspaceFolder}/agent.py';
      const launch = { ...configuration, program, args: [way, `\${workspaceFolder}/${native}`] };
      writeFileSync(join(folder, '.vscode/launch.json'), JSON.stringify({ configurations: [launch] }));
    },
  };
}

/** A breakpoint in C. */
async function dotInC(folder: string, pane: Pane): Promise<void> {
  await pane.openFile('prices.c');
  await pane.goToLine(lineOf(folder, 'prices.c', 'BP: call take'));
  await pane.breakpoint('BP: call take');
}

/** Stops before the tool. */
async function held(folder: string, pane: Pane): Promise<void> {
  await pane.openFile('agent.py');
  await pane.widenSideBar(430);
  await pane.goToLine(lineOf(folder, 'agent.py', 'BP: price'));
  await pane.breakpoint('BP: price');
  await pane.start();
  await pane.stopped();
  await pane.paused('Paused before tool');
}

/** From a held tool call into the lines of its function, into a C library, and out again. */
export const mixed: Section = {
  name: 'mixed',
  get options() {
    return shop('library', 'libprices.so', ['-shared', '-fPIC']);
  },
  async run({ opened, pane, test }) {
    const names = async (): Promise<string> => (await pane.frameNames()).join();
    await test.step('a held tool call, with no breakpoint but its own', async () => {
      await held(opened.folder, pane);
    });
    await test.step('F11 goes to the first line of its function, and into the function that is called there', async () => {
      await pane.go('F11');
      await pane.top(/^price(?!\()/, 'Paused on step');
      await pane.go('F11');
      await pane.top(/^call_library/, 'Paused on step');
      await test.picture('1-python');
    });
    await test.step('F11 on the line that calls C goes into it: one call stack from the C function to the workflow', async () => {
      for (const line of ['numbers', 'call']) {
        await pane.go('F10');
        const number = lineOf(opened.folder, 'agent.py', `BP: ${line}`);
        await see(
          `line ${number} on top`,
          pane
            .frameRows()
            .first()
            .filter({ hasText: `agent.py${number}:` }),
        );
      }
      await pane.go('F11');
      await pane.top(/^owed/, 'Paused on step');
      await until('C, Python, tool, node, workflow', async () =>
        /^owed,.*call_library,.*price,.*tools,shop/.test(await names()),
      );
      // Python's line has no such local: these are C's.
      await pane.expand(['Locals'], pane.variable('count').filter({ hasText: '3' }));
      await test.picture('2-c');
    });
    await test.step('a C variable is changed', async () => {
      await pane.setVariable('percent', '100', pane.variable('percent').filter({ hasText: '100' }));
      await pane.evaluate('percent + 1');
      await pane.consoleSays(/101/);
    });
    await test.step('Shift+F11 comes out on the Python line, then at the end of the call, the node and the workflow', async () => {
      await pane.go('Shift+F11');
      await pane.top(/^call_library/, 'Paused on step');
      await test.picture('3-python-again');
      await pane.go('Shift+F11');
      await pane.top(/^price(?!\()/, 'Paused on step');
      await pane.go('Shift+F11');
      await pane.top(/^price\(/, 'Paused after tool');
      await pane.go('Shift+F11');
      await pane.top(/^tools/, 'Paused after node');
      await pane.go('Shift+F11');
      await pane.paused('Paused after workflow');
      await test.picture('4-workflow');
      await pane.go('F5');
      await pane.ended();
    });
  },
};

/** The same with a program that the tool starts. */
export const mixedProgram: Section = {
  name: 'mixed-program',
  get options() {
    return shop('program', 'prices', []);
  },
  async run({ opened, pane, test }) {
    const frame = (name: RegExp) => pane.frameRows().filter({ hasText: name }).first();
    await test.step('a held tool call, its first line, and a step over the line that starts a program', async () => {
      await dotInC(opened.folder, pane);
      await held(opened.folder, pane);
      await pane.go('F11');
      await pane.top(/^price(?!\()/);
    });
    await test.step('the breakpoint in C stops in the program, under the call that started it', async () => {
      await pane.go('F10');
      await pane.top(/^owed/);
      await see('its caller', frame(/^main/));
      await see('the call that started it', frame(/^price\(/));
      await pane.expand(['Locals'], pane.variable('percent').filter({ hasText: '50' }));
      await test.picture('1-c');
      await pane.setVariable('percent', '100', pane.variable('percent').filter({ hasText: '100' }));
    });
    await test.step('Shift+F11 comes out in its main function, F5 lets it end, and the step ends behind the call', async () => {
      await pane.go('Shift+F11');
      await pane.top(/^main/);
      await pane.go('F5');
      // The pane's header may still speak of the program's last stop: the editor keeps it where a thread ends right after it was continued.
      await pane.top(/^price\(/);
      await see(
        'what it gave',
        pane
          .variableRows()
          .filter({ hasText: /^Result/ })
          .first(),
      );
      await pane.evaluate('result');
      await pane.consoleSays(/^0/);
      await test.picture('2-after');
      await pane.go('Shift+F11');
      await pane.top(/^tools/);
      await pane.go('Shift+F11');
      await pane.top(/^shop/);
      await see(
        'what the workflow gave',
        pane
          .variableRows()
          .filter({ hasText: /^Result/ })
          .first(),
      );
      await pane.go('F5');
      await pane.ended();
    });
  },
};
