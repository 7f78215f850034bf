import * as vscode from 'vscode';
import type { SessionStatus, ToolbreakEvents, ToolbreakRequests } from '../protocol/dap';
import { DEBUG_TYPE } from './constants';

export type RunStarted = ToolbreakEvents['toolbreak/run'];

/** Our own DAP request, typed. */
export async function ask<K extends keyof ToolbreakRequests>(
  session: vscode.DebugSession,
  request: K,
  args: ToolbreakRequests[K]['arguments'],
): Promise<ToolbreakRequests[K]['body']> {
  return (await session.customRequest(request, args)) as ToolbreakRequests[K]['body'];
}

/** The Toolbreak sessions of this window, their runs, and the context keys that menus ask for. */
export class Sessions implements vscode.Disposable {
  private readonly live = new Map<string, vscode.DebugSession>();
  private readonly runs = new Map<string, RunStarted>();
  private readonly disposables: vscode.Disposable[] = [];
  private readonly runEmitter = new vscode.EventEmitter<{ session: vscode.DebugSession; run: RunStarted }>();
  private readonly endEmitter = new vscode.EventEmitter<{
    session: vscode.DebugSession;
    run: RunStarted | undefined;
  }>();
  private readonly startEmitter = new vscode.EventEmitter<vscode.DebugSession>();
  readonly onRun = this.runEmitter.event;
  /** A session is under way: VS Code has opened its own views for it. */
  readonly onStart = this.startEmitter.event;
  readonly onEnd = this.endEmitter.event;
  /** Folder with the log files of the newest session that told us. */
  private lastLogs: string | undefined;

  /** Looks of the person at frames and threads, counted: an answer about an earlier one comes too late. */
  private looks = 0;

  constructor() {
    this.disposables.push(
      this.runEmitter,
      this.startEmitter,
      this.endEmitter,
      vscode.debug.onDidStartDebugSession((session) => this.started(session)),
      vscode.debug.onDidTerminateDebugSession((session) => this.ended(session)),
      vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event, body }) => {
        if (session.type === DEBUG_TYPE && event === 'toolbreak/run') this.ran(session, body as RunStarted);
      }),
    );
    void setContext('toolbreak.sessionActive', false);
    this.disposables.push(vscode.debug.onDidChangeActiveStackItem((item) => void this.looksAt(item)));
  }

  /** Commands for a held call are offered where one is: not at a line, be it of Python or of C. */
  private async looksAt(item: vscode.DebugThread | vscode.DebugStackFrame | undefined): Promise<void> {
    const look = ++this.looks;
    let atLine = false;
    if (item?.session.type === DEBUG_TYPE) {
      try {
        const { holds } = await ask(item.session, 'toolbreak/status', {});
        atLine = holds.some(({ threadId, line }) => threadId === item.threadId && line);
      } catch {
        // A session that just ended offers nothing at all.
      }
    }
    if (look === this.looks) await setContext('toolbreak.atLine', atLine);
  }

  /** The session the person looks at, else the only one. */
  get active(): vscode.DebugSession | undefined {
    const focused = vscode.debug.activeDebugSession;
    if (focused?.type === DEBUG_TYPE) return focused;
    return this.live.size === 1 ? [...this.live.values()][0] : undefined;
  }

  all(): vscode.DebugSession[] {
    return [...this.live.values()];
  }

  byId(id: string): vscode.DebugSession | undefined {
    return this.live.get(id);
  }

  run(session: vscode.DebugSession): RunStarted | undefined {
    return this.runs.get(session.id);
  }

  /** The live session that records into this file. */
  ofRunFile(file: string): vscode.DebugSession | undefined {
    for (const [id, run] of this.runs) if (run.runFile === file) return this.live.get(id);
    return undefined;
  }

  get logs(): string | undefined {
    return this.lastLogs;
  }

  private started(session: vscode.DebugSession): void {
    if (session.type !== DEBUG_TYPE) return;
    this.live.set(session.id, session);
    void setContext('toolbreak.sessionActive', true);
    this.startEmitter.fire(session);
    // An adapter that ended meanwhile has no status to give; its log folder is then unknown, which is no error.
    ask(session, 'toolbreak/status', {}).then(
      (status: SessionStatus) => (this.lastLogs = status.logs),
      () => undefined,
    );
  }

  private ran(session: vscode.DebugSession, run: RunStarted): void {
    this.runs.set(session.id, run);
    this.runEmitter.fire({ session, run });
  }

  private ended(session: vscode.DebugSession): void {
    if (session.type !== DEBUG_TYPE) return;
    const run = this.runs.get(session.id);
    this.live.delete(session.id);
    this.runs.delete(session.id);
    void setContext('toolbreak.sessionActive', this.live.size > 0);
    this.endEmitter.fire({ session, run });
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }
}

function setContext(key: string, value: boolean): Thenable<unknown> {
  return vscode.commands.executeCommand('setContext', key, value);
}
