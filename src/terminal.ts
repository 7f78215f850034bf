import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import * as vscode from 'vscode';
import { logError, messageOf } from './log';
import { nodeCommand } from './node';

/** Puts the command `toolbreak` on the PATH of VS Code's terminals, run by VS Code's own Node: nobody has to install anything for it. */
export function offerCommand(context: vscode.ExtensionContext): void {
  try {
    const folder = join(context.globalStorageUri.fsPath, 'bin');
    mkdirSync(folder, { recursive: true });
    write(folder, context.asAbsolutePath(join('dist', 'toolbreak.js')));
    const { environmentVariableCollection: variables } = context;
    variables.description = 'Puts the command `toolbreak` on the PATH.';
    variables.prepend('PATH', `${folder}${delimiter}`);
  } catch (error) {
    // The debugger works without it.
    logError('The command "toolbreak" is not offered in terminals', messageOf(error));
  }
}

/** Written anew with each start of the extension: VS Code and the extension move with their versions. */
function write(folder: string, program: string): void {
  const { command, env } = nodeCommand();
  if (process.platform === 'win32') {
    const sets = Object.entries(env).map(([name, value]) => `set ${name}=${value}`);
    const lines = ['@echo off', 'setlocal', ...sets, `"${command}" "${program}" %*`];
    writeFileSync(join(folder, 'toolbreak.cmd'), `${lines.join('\r\n')}\r\n`);
    return;
  }
  const sets = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)} `);
  const path = join(folder, 'toolbreak');
  writeFileSync(path, `#!/bin/sh\n${sets.join('')}exec ${quoted(command)} ${quoted(program)} "$@"\n`);
  chmodSync(path, 0o755);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
