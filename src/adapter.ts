import * as vscode from 'vscode';
import { SECTION } from './constants';
import { nodeCommand } from './node';

/** Starts one adapter process a session, on stdio. With "debugServer" in the configuration VS Code connects to that port instead. */
export class AdapterFactory implements vscode.DebugAdapterDescriptorFactory {
  constructor(private readonly extension: vscode.ExtensionContext) {}

  createDebugAdapterDescriptor({ configuration }: vscode.DebugSession): vscode.DebugAdapterDescriptor {
    const { command, env } = nodeCommand();
    const program = this.extension.asAbsolutePath('dist/toolbreak.js');
    const args = [program, 'dap', ...retention(), ...nativeCode(configuration)];
    return new vscode.DebugAdapterExecutable(command, args, { env });
  }
}

/** What will be debugged, where that is native code: its debugger can start while the adapter does. */
function nativeCode({ request, target, processId, coreFile, noDebug, lldbDap }: vscode.DebugConfiguration): string[] {
  if (noDebug || (target !== 'native' && processId === undefined && coreFile === undefined)) return [];
  const debuggerArgs = typeof lldbDap === 'string' && lldbDap !== '' ? ['--lldb-dap', lldbDap] : [];
  return ['--native', ...debuggerArgs, ...(request === 'attach' ? ['--attach'] : [])];
}

/** How long recordings stay. The adapter notes it, so that commands in a terminal go by it, too. */
function retention(): string[] {
  const settings = vscode.workspace.getConfiguration(SECTION);
  const limit = (name: string, otherwise: number): string => {
    const value: unknown = settings.get(name);
    return String(typeof value === 'number' && value >= 0 ? value : otherwise);
  };
  return ['--keep-days', limit('retention.days', 7), '--keep-gigabytes', limit('retention.gigabytes', 10)];
}
