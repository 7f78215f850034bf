import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { Conversation, clearBreakpoints, file, next, open, workspace } from './support';

describe('starting', () => {
  let conversation: Conversation;
  beforeEach(() => {
    clearBreakpoints();
    conversation = new Conversation();
  });
  afterEach(async () => {
    conversation.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('the open Python file needs no launch.json', async () => {
    await open('calculator.py');
    const started = next(vscode.debug.onDidStartDebugSession);
    const ended = next(vscode.debug.onDidTerminateDebugSession);
    await vscode.commands.executeCommand('toolbreak.debugFile');
    const session = await started;
    assert.equal(session.type, 'toolbreak');
    assert.equal(session.configuration.program, file('calculator.py').fsPath);
    assert.equal(session.configuration.cwd, workspace().uri.fsPath);
    assert.ok(session.configuration.python);
    await ended;
  });

  it('an empty configuration takes the open Python file', async () => {
    await open('calculator.py');
    const started = next(vscode.debug.onDidStartDebugSession);
    const ended = next(vscode.debug.onDidTerminateDebugSession);
    assert.equal(
      await vscode.debug.startDebugging(workspace(), { type: 'toolbreak', request: 'launch', name: 'x' }),
      true,
    );
    assert.equal(dirname(String((await started).configuration.program)), workspace().uri.fsPath);
    await ended;
  });

  for (const [what, configuration] of [
    ['a program that does not exist', { program: '/nowhere/app.py' }],
    ['a program that is a folder', { program: '${workspaceFolder}' }],
    ['a folder that does not exist', { program: '${workspaceFolder}/calculator.py', cwd: '/nowhere' }],
    ['a Python that does not exist', { program: '${workspaceFolder}/calculator.py', python: '/nowhere/python' }],
    ['nothing to run', {}],
  ] as const) {
    it(`${what} starts no session`, async () => {
      const sessions: vscode.DebugSession[] = [];
      const listener = vscode.debug.onDidStartDebugSession((session) => sessions.push(session));
      const started = await vscode.debug.startDebugging(workspace(), {
        type: 'toolbreak',
        request: 'launch',
        name: what,
        ...configuration,
      });
      listener.dispose();
      assert.equal(started, false);
      assert.deepEqual(sessions, []);
    });
  }
});
