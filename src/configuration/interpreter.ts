import * as vscode from 'vscode';
import { SECTION } from '../constants';
import { say } from '../log';
import { isExecutable, knownPythons } from './python';

/** Asks for a Python and keeps the answer in the setting `toolbreak.python`; a Python extension's own choice is changed through itself. */
export async function chooseInterpreter(): Promise<void> {
  const scope = vscode.window.activeTextEditor?.document.uri ?? vscode.workspace.workspaceFolders?.[0]?.uri;
  const found = await knownPythons(scope);
  type Item = vscode.QuickPickItem & { path?: string; run?: 'browse' | 'python' | 'clear' };
  const items: Item[] = found.map(({ path, from }) => ({ label: path, description: from, path }));
  if (vscode.extensions.getExtension('ms-python.python') !== undefined) {
    items.push({ label: '$(python) Choose with the Python Extension...', run: 'python' });
  }
  items.push({ label: '$(folder-opened) Browse...', run: 'browse' });
  const configuration = vscode.workspace.getConfiguration(SECTION, scope);
  if (configuration.get<string>('python', '') !== '') {
    items.push({
      label: '$(discard) Find It Automatically',
      description: 'empties the setting toolbreak.python',
      run: 'clear',
    });
  }
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Toolbreak: Choose Interpreter',
    placeHolder: 'Python 3.10 or later',
  });
  if (chosen === undefined) return;
  if (chosen.run === 'python') {
    await vscode.commands.executeCommand('python.setInterpreter');
    return;
  }
  const target =
    vscode.workspace.workspaceFolders === undefined
      ? vscode.ConfigurationTarget.Global
      : vscode.ConfigurationTarget.Workspace;
  if (chosen.run === 'clear') {
    await configuration.update('python', undefined, target);
    return;
  }
  const path = chosen.path ?? (await browse());
  if (path === undefined) return;
  if (!(await isExecutable(path))) {
    say('error', `${path} cannot be run. Choose the python executable itself.`, {
      title: 'Choose Again',
      run: chooseInterpreter,
    });
    return;
  }
  await configuration.update('python', path, target);
}

async function browse(): Promise<string | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    title: 'Python executable',
    openLabel: 'Choose',
    canSelectMany: false,
  });
  return chosen?.[0]?.fsPath;
}
