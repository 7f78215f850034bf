import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';

/** The workspace that the launcher opened: a copy of the demo. */
export function workspace(): vscode.WorkspaceFolder {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, 'the suite needs a workspace folder');
  return folder;
}

export function file(name: string): vscode.Uri {
  return vscode.Uri.joinPath(workspace().uri, name);
}

/** 0-based line of a marker `# BP: name`. */
export function marker(uri: vscode.Uri, name: string): number {
  const lines = readFileSync(uri.fsPath, 'utf8').split('\n');
  const line = lines.findIndex((each) => each.endsWith(`# BP: ${name}`));
  assert.notEqual(line, -1, `no marker ${name} in ${uri.fsPath}`);
  return line;
}

export async function open(name: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(file(name));
}

export function sourceBreakpoints(): vscode.SourceBreakpoint[] {
  return vscode.debug.breakpoints.filter(
    (each): each is vscode.SourceBreakpoint => each instanceof vscode.SourceBreakpoint,
  );
}

export function clearBreakpoints(): void {
  vscode.debug.removeBreakpoints([...vscode.debug.breakpoints]);
}

/** Resolves with the first event that passes; the listener is gone afterwards. */
export function next<T>(event: vscode.Event<T>, accept: (value: T) => boolean = () => true): Promise<T> {
  return new Promise((resolve) => {
    const listener = event((value) => {
      if (!accept(value)) return;
      listener.dispose();
      resolve(value);
    });
  });
}

/** Everything the adapters of the suite say to VS Code, in order. */
export class Conversation implements vscode.Disposable {
  readonly messages: {
    type: string;
    event?: string;
    command?: string;
    body?: unknown;
    success?: boolean;
    message?: string;
  }[] = [];
  private readonly said = new vscode.EventEmitter<void>();
  private readonly registration: vscode.Disposable;

  constructor() {
    this.registration = vscode.debug.registerDebugAdapterTrackerFactory('toolbreak', {
      createDebugAdapterTracker: () => ({
        onDidSendMessage: (message: Conversation['messages'][number]) => {
          this.messages.push(message);
          this.said.fire();
        },
      }),
    });
  }

  /** The body of an event, from `from` on in the conversation. */
  async event<T = Record<string, unknown>>(name: string, accept: (body: T) => boolean = () => true): Promise<T> {
    for (;;) {
      const index = this.messages.findIndex(
        (each) => each.type === 'event' && each.event === name && accept(each.body as T),
      );
      if (index >= 0) {
        const [found] = this.messages.splice(index, 1);
        return found?.body as T;
      }
      await next(this.said.event);
    }
  }

  get output(): string {
    return this.messages
      .filter((each) => each.event === 'output')
      .map((each) => (each.body as { output: string }).output)
      .join('');
  }

  dispose(): void {
    this.registration.dispose();
    this.said.dispose();
  }
}

export interface ManifestCommand {
  command: string;
  title: string;
  enablement?: string;
}
interface Manifest {
  contributes: {
    commands: ManifestCommand[];
    menus: Record<string, { command: string; when?: string }[]>;
    debuggers: {
      type: string;
      languages?: string[];
      variables?: Record<string, string>;
      configurationAttributes?: Record<string, unknown>;
    }[];
    walkthroughs: { steps: { media: { svg?: string; markdown?: string } }[] }[];
  };
}

export function extension(): vscode.Extension<unknown> {
  const found = vscode.extensions.getExtension('toolbreak.toolbreak');
  assert.ok(found, 'the extension is not installed');
  return found;
}

export function manifest(): Manifest {
  return JSON.parse(readFileSync(join(extension().extensionPath, 'package.json'), 'utf8')) as Manifest;
}
