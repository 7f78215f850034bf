import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { messageOf, say } from './log';
import { ask, type Sessions } from './sessions';

/**
 * Copies the logs of the session that runs, or of the last one, into a folder the person can look through and send. The logs are masked when they
 * are written; recordings and spool files, which hold the app's values, are not copied.
 */
export async function collectLogs(extension: vscode.ExtensionContext, sessions: Sessions): Promise<void> {
  const logs = await logFolders(sessions);
  if (logs.length === 0) {
    say('warning', 'There are no logs yet. Start a session with "trace": true in launch.json, then collect its logs.');
    return;
  }
  const target = join(extension.globalStorageUri.fsPath, `logs-${new Date().toISOString().replace(/[:.]/g, '-')}`);
  try {
    await mkdir(target, { recursive: true, mode: 0o700 });
    let copied = 0;
    for (const folder of logs) copied += await copyLogs(folder, join(target, basename(folder)));
    await writeFile(join(target, 'about.txt'), about(extension, logs), { mode: 0o600 });
    const choose = await vscode.window.showInformationMessage(
      `${copied} log ${copied === 1 ? 'file' : 'files'} collected in ${target}. Secrets of the usual kinds are masked; look through them before you share them.`,
      'Show Folder',
      'Copy Path',
    );
    if (choose === 'Show Folder') await vscode.commands.executeCommand('revealFileInOS', vscode.Uri.file(target));
    if (choose === 'Copy Path') await vscode.env.clipboard.writeText(target);
  } catch (error) {
    say('error', `The logs could not be collected: ${messageOf(error)}.`);
  }
}

async function logFolders(sessions: Sessions): Promise<string[]> {
  const folders = new Set<string>();
  for (const session of sessions.all()) {
    const status = await ask(session, 'toolbreak/status', {}).catch(() => undefined);
    if (status !== undefined) folders.add(status.logs);
  }
  if (folders.size === 0 && sessions.logs !== undefined) folders.add(sessions.logs);
  return [...folders];
}

async function copyLogs(folder: string, target: string): Promise<number> {
  await mkdir(target, { recursive: true, mode: 0o700 });
  let copied = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isFile() || !/\.(log|txt|jsonl)$/.test(entry.name)) continue;
    await copyFile(join(folder, entry.name), join(target, entry.name));
    copied += 1;
  }
  return copied;
}

function about(extension: vscode.ExtensionContext, logs: string[]): string {
  const { version } = extension.extension.packageJSON as { version: string };
  return [
    `Toolbreak ${version}`,
    `${vscode.env.appName} ${vscode.version}`,
    `${process.platform} ${process.arch}, Node ${process.versions.node}`,
    `remote: ${vscode.env.remoteName ?? 'no'}`,
    ...logs.map((folder) => `logs: ${basename(folder)}`),
    '',
  ].join('\n');
}
