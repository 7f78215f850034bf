import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { clearBreakpoints, file, marker, open, sourceBreakpoints } from './support';

const modeOf = (breakpoint: vscode.SourceBreakpoint | undefined): unknown =>
  (breakpoint as { mode?: unknown } | undefined)?.mode;

describe('breakpoint commands', () => {
  const triage = () => file('triage.py');
  beforeEach(clearBreakpoints);
  afterEach(clearBreakpoints);

  async function cursorOn(name: string): Promise<number> {
    const editor = await open('triage.py');
    const line = marker(triage(), name);
    editor.selection = new vscode.Selection(line, 0, line, 0);
    return line;
  }

  it('break after the call of the cursor line', async () => {
    const line = await cursorOn('lookup_order');
    await vscode.commands.executeCommand('toolbreak.breakAfter');
    const [only, ...others] = sourceBreakpoints();
    assert.deepEqual(others, []);
    assert.equal(only?.location.range.start.line, line);
    assert.equal(modeOf(only), 'after');
  });

  it('change the mode of a breakpoint and keep its condition', async () => {
    const line = await cursorOn('refund');
    const at = new vscode.Location(triage(), new vscode.Position(line, 0));
    vscode.debug.addBreakpoints([new vscode.SourceBreakpoint(at, true, 'args["amount"] > 1', '%2', undefined)]);
    for (const [command, mode] of [
      ['toolbreak.breakOnError', 'error'],
      ['toolbreak.breakBeforeAndAfter', 'before and after'],
      ['toolbreak.breakBefore', 'before'],
    ] as const) {
      await vscode.commands.executeCommand(command);
      const [only, ...others] = sourceBreakpoints();
      assert.deepEqual(others, []);
      assert.equal(modeOf(only), mode);
      assert.equal(only?.condition, 'args["amount"] > 1');
      assert.equal(only.hitCondition, '%2');
    }
  });

  it('take the line of the margin menu', async () => {
    await cursorOn('agent');
    const line = marker(triage(), 'check_stock');
    await vscode.commands.executeCommand('toolbreak.breakAfter', { uri: triage(), lineNumber: line + 1 });
    assert.equal(sourceBreakpoints()[0]?.location.range.start.line, line);
  });
});
