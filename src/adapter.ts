import * as vscode from 'vscode';
import { nodeCommand } from './node';

/** Starts one adapter process a session, on stdio. With "debugServer" in the configuration VS Code connects to that port instead. */
export class AdapterFactory implements vscode.DebugAdapterDescriptorFactory {
  constructor(private readonly extension: vscode.ExtensionContext) {}

  createDebugAdapterDescriptor(): vscode.DebugAdapterDescriptor {
    const { command, env } = nodeCommand();
    const program = this.extension.asAbsolutePath('dist/toolbreak.js');
    return new vscode.DebugAdapterExecutable(command, [program, 'dap'], { env });
  }
}
