import { stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { HostMethods } from '../../protocol/timeline';
import { addFunctionBreakpoint, functionBreakpointName } from '../breakpoints/functions';
import { breakAt } from '../breakpoints/modes';
import { SECTION, TIMELINE_EDITOR, TIMELINE_VIEW } from '../constants';
import { say } from '../log';
import type { RunStarted, Sessions } from '../sessions';
import { FocusLink } from './focus';
import { Page, type HostAnswers } from './page';
import { pageRoot } from './html';
import { Reader } from './reader';

const SHOWN_KEY = 'timelineShown';
const FOLDER_KEY = 'runsFolder';

/** The timeline's pages, the reader behind them, and what ties them to debug sessions. */
export class Timeline implements vscode.Disposable, vscode.WebviewViewProvider {
  private readonly reader: Reader;
  private readonly pages = new Set<Page>();
  private view: vscode.WebviewView | undefined;
  private readonly editors = new Set<vscode.WebviewPanel>();
  private readonly disposables: vscode.Disposable[] = [];
  private readonly focus: FocusLink;
  private readonly answers: HostAnswers;
  /** The newest run of this window, shown when a page opens. */
  private newest: RunStarted | undefined;

  constructor(
    private readonly extension: vscode.ExtensionContext,
    private readonly sessions: Sessions,
  ) {
    this.reader = new Reader(extension.asAbsolutePath('dist/reader.js'), ({ notify, params }) => {
      for (const page of this.pages) {
        if (notify !== 'changed' || page.follows(params.file)) page.notify(notify, params);
      }
    });
    this.focus = new FocusLink(sessions, (file, call) => this.notifyPages('show', { file, call }));
    this.answers = this.hostAnswers();
    this.disposables.push(
      this.reader,
      this.focus,
      sessions.onRun(({ session, run }) => void this.runStarted(session, run)),
      sessions.onStart((session) => {
        if (sessions.run(session) !== undefined) void this.openWithSession();
      }),
      sessions.onEnd(({ run }) => void this.runEnded(run)),
      vscode.window.registerWebviewViewProvider(TIMELINE_VIEW, this, {
        webviewOptions: { retainContextWhenHidden: true },
      }),
      vscode.window.registerWebviewPanelSerializer(TIMELINE_EDITOR, {
        deserializeWebviewPanel: async (panel, state: unknown) => this.adopt(panel, await openedWith(state)),
      }),
      vscode.commands.registerCommand('toolbreak.openTimeline', () =>
        vscode.commands.executeCommand(`${TIMELINE_VIEW}.focus`),
      ),
      vscode.commands.registerCommand('toolbreak.openTimelineEditor', () => this.openEditor()),
    );
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    const page = this.add(view.webview);
    view.onDidDispose(() => {
      this.view = undefined;
      this.remove(page);
    });
  }

  private openEditor(): void {
    const panel = vscode.window.createWebviewPanel(TIMELINE_EDITOR, 'Toolbreak Timeline', vscode.ViewColumn.Active, {
      enableScripts: true,
      localResourceRoots: [pageRoot(this.extension.extensionUri)],
      retainContextWhenHidden: true,
    });
    this.adopt(panel, { file: this.newest?.runFile });
  }

  private adopt(panel: vscode.WebviewPanel, opened: { file?: string; call?: string }): void {
    panel.iconPath = vscode.Uri.joinPath(this.extension.extensionUri, 'media', 'toolbreak.svg');
    this.editors.add(panel);
    const page = this.add(panel.webview, opened);
    panel.onDidDispose(() => {
      this.editors.delete(panel);
      this.remove(page);
    });
  }

  private add(webview: vscode.Webview, opened: { file?: string; call?: string } = {}): Page {
    const page = new Page(webview, this.extension.extensionUri, this.reader, this.answers, opened);
    this.pages.add(page);
    return page;
  }

  private remove(page: Page): void {
    this.pages.delete(page);
    page.dispose();
  }

  private notifyPages(...args: Parameters<Page['notify']>): void {
    for (const page of this.pages) page.notify(...args);
  }

  private get visible(): boolean {
    return this.view?.visible === true || [...this.editors].some((each) => each.visible);
  }

  private async runStarted(session: vscode.DebugSession, run: RunStarted): Promise<void> {
    this.newest = run;
    await this.extension.workspaceState.update(FOLDER_KEY, run.runsFolder);
    this.notifyPages('runsChanged', { folder: run.runsFolder });
    this.notifyPages('show', { file: run.runFile, recording: true });
    // Before its start is announced, VS Code would cover the timeline with the Debug Console.
    if (this.sessions.byId(session.id) !== undefined) await this.openWithSession();
  }

  private async openWithSession(): Promise<void> {
    const when = settings().get<string>('timeline.openOnSession', 'firstSession');
    const first = !this.extension.workspaceState.get(SHOWN_KEY, false);
    if (this.visible || when === 'never' || (when === 'firstSession' && !first)) return;
    await this.extension.workspaceState.update(SHOWN_KEY, true);
    await vscode.commands.executeCommand(`${TIMELINE_VIEW}.focus`, { preserveFocus: true });
  }

  private async runEnded(run: RunStarted | undefined): Promise<void> {
    if (run === undefined) return;
    this.notifyPages('runsChanged', { folder: run.runsFolder });
    if (this.visible || !settings().get('timeline.notifyAfterRun', true)) return;
    const summary = await this.reader.ask('overview', { file: run.runFile, buckets: 1 }).catch(() => undefined);
    if (summary !== undefined && summary.run.calls === 0) return;
    const counts = summary === undefined ? 'The run ended.' : sentence(summary.run);
    say(
      'information',
      counts,
      { title: 'Open Timeline', run: () => vscode.commands.executeCommand('toolbreak.openTimeline') },
      {
        title: "Don't Show Again",
        run: () => settings().update('timeline.notifyAfterRun', false, vscode.ConfigurationTarget.Global),
      },
    );
  }

  private hostAnswers(): HostAnswers {
    return {
      start: async ({ width }, page) => this.start(page, width),
      openSource: async ({ path, line }) => {
        await openSource(path, line);
        return {};
      },
      breakHere: async (params) => {
        breakHere(params);
        return {};
      },
      copyText: async ({ text }) => {
        await vscode.env.clipboard.writeText(text);
        return {};
      },
      selected: async ({ file, id }) => {
        await this.focus.callChosen(file, id);
        return {};
      },
    };
  }

  private async start(page: Page, width?: number): Promise<HostMethods['start']['result']> {
    const live = this.sessions.active === undefined ? undefined : this.sessions.run(this.sessions.active);
    const run = live ?? this.newest;
    const folder = run?.runsFolder ?? (await this.projectFolder());
    const file = page.opened.file ?? run?.runFile;
    // What is wrong with a file the page hears when it asks itself.
    const overview = file === undefined ? undefined : await page.overview(file).catch(() => undefined);
    const known = file === undefined || overview === undefined ? [] : await page.known(file, overview, width ?? 0);
    return {
      folder,
      file,
      call: page.opened.call ?? this.focus.callIn(file),
      follow: live !== undefined,
      recording: file !== undefined && this.sessions.ofRunFile(file) !== undefined,
      overview,
      known,
    };
  }

  /** Where the runs of this workspace lie. Empty without a workspace and without a session so far. */
  private async projectFolder(): Promise<string> {
    const workspace = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const known = this.extension.workspaceState.get<string>(FOLDER_KEY);
    if (known !== undefined || workspace === undefined) return known ?? '';
    return (await this.reader.ask('project', { workspace })).folder;
  }

  dispose(): void {
    for (const page of this.pages) page.dispose();
    vscode.Disposable.from(...this.disposables).dispose();
  }
}

function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration(SECTION);
}

function sentence(run: { name: string; calls: number; errors: number; live: boolean }): string {
  const count = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`;
  const errors = run.errors === 0 ? '' : `, ${count(run.errors, 'error')}`;
  return `${run.name} ended: ${count(run.calls, 'call')}${errors}.`;
}

/** What an editor had shown before the window was reloaded; a run file that is gone is forgotten. */
async function openedWith(state: unknown): Promise<{ file?: string; call?: string }> {
  if (typeof state !== 'object' || state === null) return {};
  const { file, call } = state as { file?: unknown; call?: unknown };
  if (typeof file !== 'string') return {};
  try {
    await stat(file);
  } catch {
    return {};
  }
  return { file, call: typeof call === 'string' ? call : undefined };
}

async function openSource(path: string, line: number): Promise<void> {
  const uri = vscode.Uri.file(path);
  try {
    await vscode.workspace.fs.stat(uri);
  } catch {
    throw new Error(`The file ${path} is not there any more.`);
  }
  const at = new vscode.Position(Math.max(0, line - 1), 0);
  await vscode.window.showTextDocument(uri, { selection: new vscode.Range(at, at), preview: true });
}

function breakHere({ path, line, kind, name, boundary }: HostMethods['breakHere']['params']): void {
  if (path === undefined || line === undefined || line < 1) {
    addFunctionBreakpoint(functionBreakpointName(kind, name, boundary));
    return;
  }
  const problem = breakAt(vscode.Uri.file(path), line - 1, boundary);
  if (problem !== undefined) throw new Error(problem);
}
