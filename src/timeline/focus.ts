import * as vscode from 'vscode';
import { DEBUG_TYPE } from '../constants';
import { logError, messageOf } from '../log';
import { ask, type Sessions } from '../sessions';

/** Frames of a stack that are walked at most; workflow stacks are short. */
const LONGEST_WALK = 100;

/** Keeps the focused stack frame and the selected call on one another. */
export class FocusLink implements vscode.Disposable {
  private readonly listener: vscode.Disposable;
  /** Set while we move the focus ourselves: what passes by is no choice of the person. */
  private walking = false;
  private last: string | undefined;

  constructor(
    private readonly sessions: Sessions,
    private readonly show: (file: string, call: string) => void,
  ) {
    this.listener = vscode.debug.onDidChangeActiveStackItem((item) => {
      if (this.walking) return;
      this.frameChosen(item).catch((error: unknown) =>
        logError('The call of the focused frame was not shown.', messageOf(error)),
      );
    });
  }

  private async frameChosen(item: vscode.DebugThread | vscode.DebugStackFrame | undefined): Promise<void> {
    if (!(item instanceof vscode.DebugStackFrame) || item.session.type !== DEBUG_TYPE) {
      this.last = undefined;
      return;
    }
    const file = this.sessions.run(item.session)?.runFile;
    if (file === undefined) return;
    const { call } = await ask(item.session, 'toolbreak/frameCall', { frameId: item.frameId });
    if (call === undefined || vscode.debug.activeStackItem !== item || call === this.last) return;
    this.last = call;
    this.show(file, call);
  }

  /** The person chose a call in a page: the frame of a held stack that stands for it gets the focus. */
  async callChosen(file: string, call: string): Promise<void> {
    const session = this.sessions.ofRunFile(file);
    const focused = vscode.debug.activeStackItem;
    if (session === undefined || focused === undefined || focused.session.id !== session.id || this.walking) return;
    const place = await ask(session, 'toolbreak/callFrame', { call });
    // VS Code has no way to focus a frame by name, only to walk the focused thread's stack.
    if (place.threadId === undefined || place.threadId !== focused.threadId) return;
    this.walking = true;
    try {
      await this.walk(session, call);
      this.last = call;
    } finally {
      this.walking = false;
    }
  }

  private async walk(session: vscode.DebugSession, call: string): Promise<void> {
    const isThere = async () => {
      const item = vscode.debug.activeStackItem;
      if (!(item instanceof vscode.DebugStackFrame)) return false;
      return (await ask(session, 'toolbreak/frameCall', { frameId: item.frameId })).call === call;
    };
    if (await isThere()) return;
    await vscode.commands.executeCommand('workbench.action.debug.callStackTop');
    const seen = new Set<number>();
    for (let steps = 0; steps < LONGEST_WALK; steps += 1) {
      if (await isThere()) return;
      const item = vscode.debug.activeStackItem;
      if (!(item instanceof vscode.DebugStackFrame) || seen.has(item.frameId)) return;
      seen.add(item.frameId);
      const moved = nextFocus();
      await vscode.commands.executeCommand('workbench.action.debug.callStackDown');
      if (!(await moved)) return;
    }
  }

  dispose(): void {
    this.listener.dispose();
  }
}

/** Whether the focus moved, within a second: the command answers before the extension hears of it. */
function nextFocus(): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (moved: boolean) => {
      clearTimeout(timer);
      listener.dispose();
      resolve(moved);
    };
    const listener = vscode.debug.onDidChangeActiveStackItem(() => done(true));
    const timer = setTimeout(() => done(false), 1000);
  });
}
