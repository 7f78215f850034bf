import { createServer, type Server } from 'node:http';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { THEMES, themeCss, type ThemeName } from './themes';

const ROOT = join(__dirname, '../..');
const TYPES: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css', '.ttf': 'font/ttf' };
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export type Answer = (method: string, params: never) => unknown;

/** A page in a real browser, under the same policy as in VS Code, with a host that this process answers for. */
export interface Shown {
  page: Page;
  /** Requests so far, in order. */
  asked: { method: string; params: Record<string, unknown> }[];
  /** What the browser complained about: errors of scripts and breaches of the policy. */
  complaints: string[];
  notify: (name: string, params: unknown) => Promise<void>;
  close: () => Promise<void>;
}

export class BrowserHouse {
  private constructor(
    private readonly browser: Browser,
    private readonly server: Server,
  ) {}

  static async open(): Promise<BrowserHouse> {
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      serve(url).then(
        ({ type, body, policy }) => {
          response.writeHead(200, { 'content-type': type, ...(policy ? { 'content-security-policy': policy } : {}) });
          response.end(body);
        },
        () => {
          response.writeHead(404);
          response.end();
        },
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });
    return new BrowserHouse(browser, server);
  }

  /** `before`: a script that runs before the page's own. */
  async show(theme: ThemeName, answer: Answer, size = { width: 1280, height: 720 }, before?: string): Promise<Shown> {
    const context = await this.browser.newContext({ viewport: size, deviceScaleFactor: 1, timezoneId: 'UTC' });
    const page = await context.newPage();
    page.setDefaultTimeout(5000);
    if (before !== undefined) await page.addInitScript(before);
    const complaints: string[] = [];
    const asked: Shown['asked'] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    const send = (message: unknown): Promise<void> =>
      // As text: what is given to a page as a program is slow to read.
      page
        .evaluate(`window.postMessage(JSON.parse(${JSON.stringify(JSON.stringify(message))}), '*')`)
        .then(() => undefined);
    await page.exposeFunction(
      'toolbreakHost',
      (message: { id: number; method: string; params: Record<string, unknown> }) => {
        asked.push({ method: message.method, params: message.params });
        const { id } = message;
        const reply = Promise.resolve()
          .then(() => answer(message.method, message.params as never))
          .then(
            (result) => ({ id, result: result ?? {} }),
            (error: Error) => ({ id, error: { message: error.message } }),
          );
        // A page that was closed needs no answer.
        void reply.then(send).catch(() => undefined);
      },
    );
    const { port } = this.server.address() as AddressInfo;
    await page.goto(`http://127.0.0.1:${port}/?theme=${theme}`);
    return {
      page,
      asked,
      complaints,
      notify: (notify, params) => send({ notify, params }),
      close: () => context.close(),
    };
  }

  /** Milliseconds from opening a page with nothing of ours on it until its host has answered once: no page is quicker here. */
  async empty(): Promise<number> {
    const context = await this.browser.newContext();
    const page = await context.newPage();
    await page.exposeFunction('toolbreakHost', () => undefined);
    const { port } = this.server.address() as AddressInfo;
    await page.goto(`http://127.0.0.1:${port}/theme-dark.css`);
    const took = await page.evaluate<number>('toolbreakHost().then(() => performance.now())');
    await context.close();
    return took;
  }

  /** For a page of somebody else's. */
  context(): Promise<BrowserContext> {
    return this.browser.newContext({ acceptDownloads: true });
  }

  async close(): Promise<void> {
    await this.browser.close();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

async function serve(url: URL): Promise<{ type: string; body: string | Buffer; policy?: string }> {
  if (url.pathname === '/') {
    const theme = (url.searchParams.get('theme') ?? 'dark') as ThemeName;
    return {
      type: 'text/html',
      policy: "default-src 'none'; script-src 'nonce-test'; style-src 'self'; font-src 'self'",
      body: `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<link rel="stylesheet" href="/theme-${theme}.css"><link rel="stylesheet" href="/codicon.css"><link rel="stylesheet" href="/timeline.css">
<title>Toolbreak Timeline</title></head>
<body class="${THEMES[theme].body}"><div id="root"></div><script nonce="test" src="/timeline.js"></script></body></html>`,
    };
  }
  const theme = /^\/theme-([a-z-]+)\.css$/.exec(url.pathname)?.[1];
  if (theme) return { type: 'text/css', body: themeCss(theme as ThemeName) };
  if (!/^\/[\w-]+\.(js|css|ttf)$/.test(url.pathname)) throw new Error('There is no such file.');
  return {
    type: TYPES[extname(url.pathname)] ?? 'text/plain',
    body: await readFile(join(ROOT, 'dist/webview', url.pathname)),
  };
}
