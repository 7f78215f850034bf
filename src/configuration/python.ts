import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, relative } from 'node:path';
import * as vscode from 'vscode';
import { SECTION } from '../constants';

/** Where a Python came from, for the person. */
export interface FoundPython {
  path: string;
  from: string;
}

/**
 * Python for a file or folder: the setting, then the choice of the Python Environments extension or of the Python extension, then `.venv`
 * next to the file or above it in the workspace, then python3 of the PATH.
 */
export async function findPython(scope: vscode.Uri | undefined): Promise<FoundPython | undefined> {
  const setting = vscode.workspace.getConfiguration(SECTION, scope).get<string>('python', '').trim();
  if (setting !== '') return { path: setting, from: 'the setting toolbreak.python' };
  return (
    (await fromEnvironmentsExtension(scope)) ??
    (await fromPythonExtension(scope)) ??
    (await fromVenv(scope)) ??
    (await fromPath())
  );
}

/** The part of the Python Environments API that is asked. */
interface EnvironmentsApi {
  getEnvironment(scope: vscode.Uri | undefined): Promise<{ execInfo?: { run?: { executable?: string } } } | undefined>;
}

async function fromEnvironmentsExtension(scope: vscode.Uri | undefined): Promise<FoundPython | undefined> {
  const api = await exportsOf<EnvironmentsApi>('ms-python.vscode-python-envs');
  if (typeof api?.getEnvironment !== 'function') return undefined;
  const path = (await api.getEnvironment(scope))?.execInfo?.run?.executable;
  return path === undefined || !(await isExecutable(path))
    ? undefined
    : { path, from: 'the Python Environments extension' };
}

/** The part of the Python extension's API that is asked. */
interface PythonApi {
  environments?: {
    getActiveEnvironmentPath(scope?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

async function fromPythonExtension(scope: vscode.Uri | undefined): Promise<FoundPython | undefined> {
  const api = await exportsOf<PythonApi>('ms-python.python');
  if (api?.environments === undefined) return undefined;
  const chosen = api.environments.getActiveEnvironmentPath(scope);
  const resolved = await api.environments.resolveEnvironment(chosen);
  const path = resolved?.executable.uri?.fsPath ?? chosen.path;
  return (await isExecutable(path)) ? { path, from: 'the Python extension' } : undefined;
}

/** Another extension's API; undefined when it is absent or fails to start, which is its own to report. */
async function exportsOf<T>(id: string): Promise<T | undefined> {
  const extension = vscode.extensions.getExtension<T>(id);
  if (extension === undefined) return undefined;
  try {
    return await extension.activate();
  } catch {
    return undefined;
  }
}

async function fromVenv(scope: vscode.Uri | undefined): Promise<FoundPython | undefined> {
  const folder = workspaceFolder(scope);
  for (const parent of foldersUpTo(scope, folder)) {
    const path = join(
      parent,
      '.venv',
      ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']),
    );
    if (await isExecutable(path)) return { path, from: '.venv' };
  }
  return undefined;
}

function workspaceFolder(scope: vscode.Uri | undefined): string | undefined {
  const folder =
    scope === undefined ? vscode.workspace.workspaceFolders?.[0] : vscode.workspace.getWorkspaceFolder(scope);
  return folder?.uri.fsPath;
}

/** Folders from the file's own up to the workspace's; outside a workspace the file's own alone. */
function* foldersUpTo(scope: vscode.Uri | undefined, folder: string | undefined): Generator<string> {
  let current = scope === undefined ? folder : scope.fsPath === folder ? folder : dirname(scope.fsPath);
  while (current !== undefined) {
    yield current;
    const above = dirname(current);
    if (folder === undefined || current === folder || above === current || outside(above, folder)) return;
    current = above;
  }
}

function outside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way.startsWith('..') || isAbsolute(way);
}

async function fromPath(): Promise<FoundPython | undefined> {
  const names = process.platform === 'win32' ? ['python.exe', 'python3.exe'] : ['python3', 'python'];
  const folders = (process.env.PATH ?? '').split(delimiter).filter((each) => each !== '');
  for (const name of names) {
    for (const folder of folders) {
      const path = join(folder, name);
      if (await isExecutable(path)) return { path, from: 'the PATH' };
    }
  }
  return undefined;
}

/** Every Python a person may want to choose from. */
export async function knownPythons(scope: vscode.Uri | undefined): Promise<FoundPython[]> {
  const found = await Promise.all([
    fromEnvironmentsExtension(scope),
    fromPythonExtension(scope),
    fromVenv(scope),
    fromPath(),
  ]);
  const seen = new Set<string>();
  return found.filter((each): each is FoundPython => {
    if (each === undefined || seen.has(each.path)) return false;
    seen.add(each.path);
    return true;
  });
}

export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
