import { stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import * as vscode from 'vscode';
import { DEBUG_TYPE, SECTION } from '../constants';
import { messageOf, say } from '../log';
import { isNative } from './native';
import { findPython, isExecutable } from './python';

const FILE_CONFIGURATION: vscode.DebugConfiguration = {
  type: DEBUG_TYPE,
  request: 'launch',
  name: 'Toolbreak: Current File',
  program: '${file}',
};

/** Copied into a new launch.json. */
export class InitialConfigurations implements vscode.DebugConfigurationProvider {
  provideDebugConfigurations(): vscode.DebugConfiguration[] {
    return [{ ...FILE_CONFIGURATION }];
  }
}

/** Shown under "Toolbreak..." when a configuration is chosen: the open Python file. */
export class DynamicConfigurations implements vscode.DebugConfigurationProvider {
  provideDebugConfigurations(folder: vscode.WorkspaceFolder | undefined): vscode.DebugConfiguration[] {
    const document = openPythonFile();
    return document === undefined ? [] : [fileConfiguration(document.uri, folder)];
  }
}

export function openPythonFile(): vscode.TextDocument | undefined {
  const document = vscode.window.activeTextEditor?.document;
  return document?.languageId === 'python' && document.uri.scheme === 'file' ? document : undefined;
}

/** A configuration for one file, needing no launch.json. */
export function fileConfiguration(
  uri: vscode.Uri,
  folder = vscode.workspace.getWorkspaceFolder(uri),
): vscode.DebugConfiguration {
  return {
    ...FILE_CONFIGURATION,
    name: `Toolbreak: ${basename(uri.fsPath)}`,
    program: uri.fsPath,
    cwd: folder?.uri.fsPath ?? dirname(uri.fsPath),
  };
}

/** Fills in what was left out, and explains what is missing before anything starts. */
export class ConfigurationResolver implements vscode.DebugConfigurationProvider {
  resolveDebugConfiguration(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): vscode.DebugConfiguration | null | undefined {
    // F5 without a launch.json comes with nothing in it.
    if (!configuration.type && !configuration.request && !configuration.name) {
      const document = openPythonFile();
      if (document === undefined) {
        say(
          'error',
          'There is no Python file to debug. Open one and start again, or write a launch.json.',
          openLaunchJson(folder),
        );
        return undefined;
      }
      return { ...configuration, ...fileConfiguration(document.uri, folder) };
    }
    if (configuration.request !== 'launch') return configuration;
    if (configuration.program === undefined && configuration.module === undefined) {
      if (openPythonFile() === undefined) {
        say(
          'error',
          `"${configuration.name}" names no "program" and no "module", and no Python file is open.`,
          openLaunchJson(folder),
        );
        return undefined;
      }
      return { ...configuration, program: '${file}' };
    }
    return configuration;
  }

  async resolveDebugConfigurationWithSubstitutedVariables(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (configuration.debugServer !== undefined) return configuration;
    const launch = { ...configuration };
    const lldbDap = vscode.workspace.getConfiguration(SECTION, folder).get<string>('lldbDap', '');
    if (lldbDap !== '') launch.lldbDap ??= lldbDap;
    if (configuration.request !== 'launch') return launch;
    const program: unknown = launch.program;
    // The app asks in the terminal, which the Debug Console would cover.
    if (launch.console === 'integratedTerminal') launch.internalConsoleOptions ??= 'neverOpen';
    launch.cwd ??=
      folder?.uri.fsPath ?? (typeof program === 'string' && isAbsolute(program) ? dirname(program) : undefined);

    const problem = (await missingProgram(launch, folder)) ?? (await missingFolder(launch));
    if (problem !== undefined) {
      say('error', problem, openLaunchJson(folder));
      return undefined;
    }
    const native =
      launch.target === undefined ? await isNative(programPath(launch, folder)) : launch.target === 'native';
    // Said, since the adapter starts the debugger at once where it knows that one is needed.
    return native ? { ...launch, target: 'native' } : this.withPython(folder, launch);
  }

  private async withPython(
    folder: vscode.WorkspaceFolder | undefined,
    launch: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    const explicit: unknown = launch.python ?? launch.runtimeExecutable;
    const choose = {
      title: 'Choose Interpreter',
      run: () => vscode.commands.executeCommand('toolbreak.chooseInterpreter'),
    };
    if (typeof explicit === 'string' && explicit !== '') {
      // A bare name is looked up on the PATH by the adapter.
      const path =
        /[\\/]/.test(explicit) && !isAbsolute(explicit) ? join(String(launch.cwd ?? '.'), explicit) : explicit;
      if (!isAbsolute(path) || (await isExecutable(path))) return launch;
      say(
        'error',
        `Python not found at ${explicit}. Choose an interpreter or correct "python" in launch.json.`,
        choose,
        openLaunchJson(folder),
      );
      return undefined;
    }
    // A value of the wrong type is the adapter's to explain.
    if (explicit !== undefined && explicit !== null && explicit !== '') return launch;

    const program: unknown = launch.program;
    const scope = typeof program === 'string' && isAbsolute(program) ? vscode.Uri.file(program) : folder?.uri;
    try {
      const found = await findPython(scope);
      if (found === undefined) {
        say(
          'error',
          'No Python was found. Choose an interpreter, or set "python" in launch.json.',
          choose,
          openLaunchJson(folder),
        );
        return undefined;
      }
      if (isAbsolute(found.path) && !(await isExecutable(found.path))) {
        say(
          'error',
          `Python not found at ${found.path} (from ${found.from}). Choose an interpreter, or set "python" in launch.json.`,
          choose,
          openLaunchJson(folder),
        );
        return undefined;
      }
      return { ...launch, python: found.path };
    } catch (error) {
      say(
        'error',
        `The Python interpreter could not be found out: ${messageOf(error)}. Choose one, or set "python" in launch.json.`,
        choose,
        openLaunchJson(folder),
      );
      return undefined;
    }
  }
}

async function missingProgram(
  launch: vscode.DebugConfiguration,
  folder: vscode.WorkspaceFolder | undefined,
): Promise<string | undefined> {
  const program: unknown = launch.program;
  if (typeof program !== 'string' || launch.module !== undefined) return undefined;
  const kind = await kindOf(programPath(launch, folder));
  if (kind === 'file') return undefined;
  if (kind === 'folder') return `"program" is a folder: ${program}. Name the Python file or the executable to run.`;
  return `The file ${program} does not exist. Correct "program" in launch.json.`;
}

/** Empty where the configuration names no program. */
function programPath(launch: vscode.DebugConfiguration, folder: vscode.WorkspaceFolder | undefined): string {
  const program: unknown = launch.program;
  if (typeof program !== 'string' || isAbsolute(program)) return typeof program === 'string' ? program : '';
  return join(typeof launch.cwd === 'string' ? launch.cwd : (folder?.uri.fsPath ?? '.'), program);
}

async function missingFolder(launch: vscode.DebugConfiguration): Promise<string | undefined> {
  const cwd: unknown = launch.cwd;
  if (typeof cwd !== 'string' || !isAbsolute(cwd) || (await kindOf(cwd)) === 'folder') return undefined;
  return `The folder ${cwd} does not exist. Correct "cwd" in launch.json.`;
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'nothing'> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch {
    return 'nothing';
  }
}

function openLaunchJson(folder: vscode.WorkspaceFolder | undefined): { title: string; run: () => unknown } {
  return {
    title: 'Open launch.json',
    run: async () => {
      const file = folder === undefined ? undefined : vscode.Uri.joinPath(folder.uri, '.vscode', 'launch.json');
      if (file !== undefined && (await kindOf(file.fsPath)) === 'file') await vscode.window.showTextDocument(file);
      else await vscode.commands.executeCommand('debug.addConfiguration');
    },
  };
}
