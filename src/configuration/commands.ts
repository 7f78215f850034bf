import * as vscode from 'vscode';
import { say } from '../log';
import { chooseInterpreter } from './interpreter';
import { pickProcess } from './native';
import { fileConfiguration, openPythonFile } from './provider';

export function configurationCommands(): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand('toolbreak.debugFile', (resource?: unknown) => startFile(resource, false)),
    vscode.commands.registerCommand('toolbreak.runFile', (resource?: unknown) => startFile(resource, true)),
    vscode.commands.registerCommand('toolbreak.chooseInterpreter', chooseInterpreter),
    vscode.commands.registerCommand('toolbreak.pickProcess', pickProcess),
  );
}

async function startFile(resource: unknown, noDebug: boolean): Promise<void> {
  const uri = resource instanceof vscode.Uri ? resource : openPythonFile()?.uri;
  if (uri === undefined) {
    say('error', 'There is no Python file to debug. Open one and start again.');
    return;
  }
  if (uri.scheme === 'untitled') {
    say('error', 'The file is not saved yet. Save it and start again.');
    return;
  }
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(uri), fileConfiguration(uri), { noDebug });
}
