import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { until } from '../workbench/processes';
import { extension, manifest } from './support';

describe('the manifest', () => {
  it('declares what the code registers, and nothing else', async () => {
    await extension().activate();
    const { commands, debuggers } = manifest().contributes;
    // What a variable in launch.json runs stands beside its debugger, and in no menu.
    const declared = [...commands.map((each) => each.command), ...Object.values(debuggers[0]?.variables ?? {})];
    const own = (await vscode.commands.getCommands(true)).filter((each) => each.startsWith('toolbreak.'));
    for (const command of declared) assert.ok(own.includes(command), `${command} is declared, not registered`);
    // VS Code makes commands of its own for each view.
    const made = own.filter((each) => !each.startsWith('toolbreak.timeline.') && !declared.includes(each));
    assert.deepEqual(made, []);
  });

  it('keeps the palette clean: every command has a condition', () => {
    const { commands, menus } = manifest().contributes;
    const inPalette = new Map((menus.commandPalette ?? []).map((each) => [each.command, each.when]));
    for (const { command, enablement } of commands) {
      assert.ok(enablement, `${command} has no enablement`);
      assert.ok(inPalette.get(command), `${command} has no condition in the palette`);
    }
    assert.ok((menus['debug/toolBar'] ?? []).length <= 2);
  });

  it('puts no question before the F5 of other debuggers', () => {
    const [own] = manifest().contributes.debuggers;
    assert.equal(own?.type, 'toolbreak');
    assert.equal(own.languages, undefined);
  });

  it('has the pictures of its walkthrough', () => {
    for (const { steps } of manifest().contributes.walkthroughs) {
      for (const { media } of steps) {
        const path = media.svg ?? media.markdown;
        assert.ok(path !== undefined && existsSync(join(extension().extensionPath, path)), `${path} is missing`);
      }
    }
  });

  it('offers the command toolbreak in terminals', async () => {
    await extension().activate();
    const terminal = vscode.window.createTerminal({ name: 'toolbreak' });
    const folder = mkdtempSync(join(tmpdir(), 'toolbreak-terminal-'));
    const said = join(folder, 'said');
    try {
      terminal.sendText(`toolbreak --version > "${said}"`);
      await until('the version', () => existsSync(said) && /^\d+\.\d+\.\d+/.test(readFileSync(said, 'utf8')), 30_000);
    } finally {
      terminal.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
