import * as vscode from 'vscode';
import { DEBUG_TYPE } from '../constants';
import { logError, messageOf } from '../log';
import { ask, type Sessions } from '../sessions';

/** Frames of a stack that are walked at most; workflow stacks are short. */
const LONGEST_WALK = 100;
/** Milliseconds until a step of the walk is given up. Each has somewhere to go: only a stack that is gone meanwhile takes so long. */
const LONGEST_STEP = 10_000;

/** Keeps the focused stack frame and the selected call on one another. */
export class FocusLink implements vscode.Disposable {
  private readonly listener: vscode.Disposable;
  /** Set while we move the focus ourselves: what passes by is no choice of the person. */
  private walking = false;
  /** What the person chose while we walked. */
  private next: { file: string; call: string } | undefined;
  /** The frame that was shown last. Its id is another one at the next stop, even where the call is the same. */
  private last: string | undefined;
  /** The call of the focused frame, for pages that open later. */
  private shown: { file: string; call: string } | undefined;

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

  /** The call of this run whose frame has the focus. */
  callIn(file: string | undefined): string | undefined {
    return this.shown?.file === file ? this.shown?.call : undefined;
  }

  private async frameChosen(item: vscode.DebugThread | vscode.DebugStackFrame | undefined): Promise<void> {
    if (!(item instanceof vscode.DebugStackFrame) || item.session.type !== DEBUG_TYPE) {
      this.last = undefined;
      this.shown = undefined;
      return;
    }
    const file = this.sessions.run(item.session)?.runFile;
    if (file === undefined || nameOf(item) === this.last) return;
    const { call } = await ask(item.session, 'toolbreak/frameCall', { frameId: item.frameId });
    // The focus may have gone on, and the same frame may be told again after an edit.
    const now = vscode.debug.activeStackItem;
    if (call === undefined || !(now instanceof vscode.DebugStackFrame)) return;
    if (nameOf(now) !== nameOf(item) || nameOf(item) === this.last) return;
    this.last = nameOf(item);
    this.shown = { file, call };
    this.show(file, call);
  }

  /** The person chose a call in a page: the frame of a held stack that stands for it gets the focus. */
  async callChosen(file: string, call: string): Promise<void> {
    if (this.walking) {
      this.next = { file, call };
      return;
    }
    const session = this.sessions.ofRunFile(file);
    const focused = vscode.debug.activeStackItem;
    if (session === undefined || focused === undefined || focused.session.id !== session.id) return;
    this.walking = true;
    try {
      const place = await ask(session, 'toolbreak/callFrame', { call });
      // VS Code has no way to focus a frame by name, only to walk the focused thread's stack.
      const there = place.threadId === focused.threadId ? await this.walk(session, call) : undefined;
      if (there !== undefined) {
        this.last = nameOf(there);
        this.shown = { file, call };
      }
    } finally {
      this.walking = false;
    }
    const { next } = this;
    this.next = undefined;
    if (next !== undefined) return this.callChosen(next.file, next.call);
    // What else got the focus meanwhile, as the frame of a new stop does, was not listened to.
    await this.frameChosen(vscode.debug.activeStackItem);
  }

  /** Answers the frame of the call, if it is reached. */
  private async walk(session: vscode.DebugSession, call: string): Promise<vscode.DebugStackFrame | undefined> {
    const there = async () => {
      const item = vscode.debug.activeStackItem;
      if (!(item instanceof vscode.DebugStackFrame) || item.session.id !== session.id) return undefined;
      return (await ask(session, 'toolbreak/frameCall', { frameId: item.frameId })).call === call ? item : undefined;
    };
    const here = await there();
    if (here !== undefined) return here;
    await vscode.commands.executeCommand('workbench.action.debug.callStackTop');
    const seen = new Set<number>();
    for (let steps = 0; steps < LONGEST_WALK; steps += 1) {
      const found = await there();
      if (found !== undefined) return found;
      const item = vscode.debug.activeStackItem;
      if (!(item instanceof vscode.DebugStackFrame) || seen.has(item.frameId)) return undefined;
      seen.add(item.frameId);
      const moved = nextFocus();
      await vscode.commands.executeCommand('workbench.action.debug.callStackDown');
      if (!(await moved)) return undefined;
    }
    return undefined;
  }

  dispose(): void {
    this.listener.dispose();
  }
}

function nameOf(item: vscode.DebugStackFrame): string {
  return `${item.session.id} ${item.frameId}`;
}

/** Whether the focus moved: the command answers before the extension hears of it. */
function nextFocus(): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (moved: boolean) => {
      clearTimeout(timer);
      listener.dispose();
      resolve(moved);
    };
    const listener = vscode.debug.onDidChangeActiveStackItem(() => done(true));
    const timer = setTimeout(() => done(false), LONGEST_STEP);
  });
}
