import * as vscode from 'vscode';
import { firstAnswers } from '../../protocol/tiles';
import {
  MINIMAP_BUCKETS,
  type HostMethods,
  type Known,
  type Overview,
  type PageNotifications,
  type ReaderMethods,
} from '../../protocol/timeline';
import { logError, messageOf } from '../log';
import { pageHtml, pageRoot } from './html';
import type { Reader } from './reader';

/** Answers of the host; the page that asks is handed over. */
export type HostAnswers = {
  [K in keyof HostMethods]: (params: HostMethods[K]['params'], page: Page) => Promise<HostMethods[K]['result']>;
};

/** Milliseconds for which the page's first answer waits for what the page would ask next. */
const PATIENCE = 250;

/** What is asked of the reader as it comes; that none is missing, the compiler sees. */
const READER_METHODS: Record<Exclude<keyof ReaderMethods, 'follow' | 'unfollow'>, true> = {
  project: true,
  runs: true,
  overview: true,
  calls: true,
  bars: true,
  density: true,
  call: true,
  lines: true,
  value: true,
  text: true,
  copy: true,
  search: true,
  errorNear: true,
  compare: true,
  statistics: true,
};

/** One timeline page, in the view or in an editor. */
export class Page implements vscode.Disposable {
  private readonly followed = new Set<string>();
  private readonly listener: vscode.Disposable;
  private disposed = false;
  /** The run that the page asks for first is read while it loads. */
  private early: { file: string; overview: Promise<Overview> } | undefined;

  constructor(
    private readonly webview: vscode.Webview,
    extension: vscode.Uri,
    private readonly reader: Reader,
    private readonly answers: HostAnswers,
    /** What an editor of one run was opened with. */
    readonly opened: { file?: string; call?: string } = {},
  ) {
    webview.options = { enableScripts: true, localResourceRoots: [pageRoot(extension)] };
    this.listener = webview.onDidReceiveMessage((message: unknown) => void this.receive(message));
    webview.html = pageHtml(webview, extension);
    // What is wrong is told when the page asks.
    answers.start({}, this).catch(() => undefined);
  }

  notify<N extends keyof PageNotifications>(notify: N, params: PageNotifications[N]): void {
    if (!this.disposed) void this.webview.postMessage({ notify, params });
  }

  /** The run as a whole. Only this is kept until the page has begun: which run and call it is to show is what they are when it asks. */
  overview(file: string): Promise<Overview> {
    if (this.early?.file !== file)
      this.early = { file, overview: this.reader.ask('overview', { file, buckets: MINIMAP_BUCKETS }) };
    return this.early.overview;
  }

  /** What the page asks next of this run, with the answers. None where they take long: what is there already is not to wait for them. */
  async known(file: string, overview: Overview, width: number): Promise<Known[]> {
    let late: NodeJS.Timeout | undefined;
    const patience = new Promise<Known[]>((resolve) => (late = setTimeout(() => resolve([]), PATIENCE)));
    const answers = firstAnswers(file, overview, width, (method, params) => this.reader.ask(method, params));
    return Promise.race([answers, patience]).finally(() => clearTimeout(late));
  }

  follows(file: string): boolean {
    return this.followed.has(file);
  }

  private async receive(message: unknown): Promise<void> {
    if (typeof message !== 'object' || message === null) return;
    const { id, method, params } = message as { id?: unknown; method?: unknown; params?: unknown };
    if (typeof id !== 'number' || typeof method !== 'string') return;
    let answer: unknown;
    try {
      answer = { id, result: await this.answer(method, params) };
    } catch (error) {
      answer = { id, error: { message: messageOf(error) } };
    }
    if (!this.disposed) void this.webview.postMessage(answer);
  }

  private async answer(method: string, params: unknown): Promise<unknown> {
    if (Object.hasOwn(READER_METHODS, method)) return this.reader.forward(method, params);
    if (method === 'follow' || method === 'unfollow') {
      const file = fileOf(method, params);
      if (method === 'follow') {
        if (!this.followed.has(file)) {
          this.followed.add(file);
          try {
            await this.reader.follow(file);
          } catch (error) {
            this.followed.delete(file);
            throw error;
          }
        }
      } else if (this.followed.delete(file)) {
        await this.reader.unfollow(file);
      }
      return {};
    }
    if (Object.hasOwn(this.answers, method)) {
      const answer = await this.answers[method as keyof HostMethods](params as never, this);
      if (method === 'start') this.early = undefined;
      return answer;
    }
    throw new Error(`The timeline asked for "${method}", which this version does not know. Reload the window.`);
  }

  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    this.listener.dispose();
    for (const file of this.followed) {
      this.reader.unfollow(file).catch((error: unknown) => logError(`${file} is still followed.`, messageOf(error)));
    }
    this.followed.clear();
  }
}

function fileOf(method: string, params: unknown): string {
  const file = typeof params === 'object' && params !== null ? (params as { file?: unknown }).file : undefined;
  if (typeof file !== 'string' || file === '') throw new Error(`"${method}" needs "file", the path of a run file.`);
  return file;
}
