import assert from 'node:assert/strict';
import * as vscode from 'vscode';

function timelineTabs(): vscode.Tab[] {
  return vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(
      (tab) => tab.input instanceof vscode.TabInputWebview && tab.input.viewType.endsWith('toolbreak.timelineEditor'),
    );
}

describe('the timeline', () => {
  it('opens in an editor', async () => {
    await vscode.commands.executeCommand('toolbreak.openTimelineEditor');
    for (let tries = 0; timelineTabs().length === 0; tries += 1) {
      assert.ok(tries < 100, 'no editor opened');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await vscode.window.tabGroups.close(timelineTabs());
  });

  it('opens as a view', async () => {
    await vscode.commands.executeCommand('toolbreak.openTimeline');
  });
});
