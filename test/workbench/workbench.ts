/** A workbench for tests: server, browser and page, with everything in temporary folders. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import { visibleWords } from './words';
import { install, pageAddress, start, type Server } from '../../build/workbench.mjs';

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const ARTIFACTS = join(ROOT, 'artifacts');
export const DEMO = join(ROOT, 'fixtures', 'workspaces', 'demo');
/** Where the extension under development lies. */
export const EXTENSION = process.env.TOOLBREAK_EXTENSION ?? ROOT;

const CHROMIUM = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const CHROMIUM_ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

function chromiumPath(): string {
  const found = process.env.CHROMIUM ?? CHROMIUM.find((path) => existsSync(path));
  if (found === undefined) throw new Error('No Chromium was found. Install it, or set CHROMIUM to its path.');
  return found;
}

/** Python with LangGraph for the fixtures. */
export function fixturePython(): string {
  const candidates = ['3.11', '3.12', '3.13', '3.10'].map((version) =>
    join(ROOT, '.cache', 'python', version, 'bin', 'python'),
  );
  const found = process.env.TOOLBREAK_TEST_PYTHON ?? candidates.find((path) => existsSync(path));
  if (found === undefined)
    throw new Error("No Python with the fixtures' packages was found. Set TOOLBREAK_TEST_PYTHON.");
  return found;
}

export interface Options {
  /** Folder to copy and to open. */
  workspace: string;
  /** Bundled mocha suite to run. */
  tests?: string;
  /** Variables of the extension host. */
  environment?: Record<string, string>;
  settings?: Record<string, unknown>;
  /** Develops no folder: extensions were installed into `home` beforehand. */
  installed?: (home: string) => void;
  /** `false`: the workbench asks for trust. */
  trust?: boolean;
  /** Changes the copied workspace before it is opened. */
  prepare?: (folder: string) => void;
  /** Size of the window. */
  viewport?: { width: number; height: number };
  beforeLoad?: (page: Page) => Promise<void>;
}

export interface Opened {
  home: string;
  folder: string;
  page: Page;
  server: Server;
  /** Errors of the page. */
  problems: string[];
  keepLogs(name: string): void;
  close(): Promise<void>;
}

/** Opens a copy of a workspace with the extension under development, or an installed one. */
export async function open(options: Options): Promise<Opened> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'toolbreak-workbench-')));
  const folder = join(home, 'workspace');
  mkdirSync(folder);
  cpSync(options.workspace, folder, { recursive: true, filter: (path) => !/[\\/](\.venv|__pycache__)$/.test(path) });
  options.prepare?.(folder);
  const closers: (() => unknown)[] = [
    () => rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  ];
  const close = async () => {
    for (const each of closers.reverse()) await each();
  };
  try {
    const workbench = install();
    options.installed?.(home);
    const server = await start({
      workbench,
      home,
      forTests: true,
      trust: options.trust ?? true,
      settings: { 'toolbreak.python': fixturePython(), ...options.settings },
    });
    closers.push(server.stop);
    const browser = await chromium.launch({ executablePath: chromiumPath(), args: CHROMIUM_ARGUMENTS });
    closers.push(() => browser.close());
    const page = await browser.newPage({
      viewport: options.viewport ?? { width: 1440, height: 900 },
      // What moves by itself is drawn sixty times a second, by the processor.
      reducedMotion: 'reduce',
    });
    const problems: string[] = [];
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    page.on('pageerror', (error) => problems.push(error.message));
    await options.beforeLoad?.(page);
    const { url, port } = server;
    const extension = options.installed === undefined ? EXTENSION : undefined;
    await page.goto(
      pageAddress({ url, port, folder, extension, tests: options.tests, environment: options.environment }),
    );
    const keepLogs = (name: string) =>
      cpSync(join(home, 'user', 'logs'), join(ARTIFACTS, `${name}-logs`), { recursive: true, force: true });
    return { home, folder, page, server, problems, keepLogs, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Waits for the page's own word that it is ready: earlier clicks on the gutter are lost. */
export async function restored(page: Page): Promise<void> {
  await page.waitForFunction(() => 'driver' in globalThis, undefined, { timeout: 60_000 });
  await page.evaluate(() =>
    (globalThis as unknown as { driver: { whenWorkbenchRestored(): Promise<void> } }).driver.whenWorkbenchRestored(),
  );
}

/** Tells the test runner what came out, says it, and sets the exit code. */
export function report(passed: number, failed: number): void {
  const file = process.env.RESULT;
  if (file !== undefined) writeFileSync(file, JSON.stringify({ passed, failed, skipped: 0 }));
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}

/** Runs steps that build on one another; the first failure ends them, and leaves a picture and the logs behind. */
export class Steps {
  passed = 0;
  failed = 0;
  constructor(
    private readonly name: string,
    private readonly opened: Opened,
  ) {}

  async step(title: string, run: () => Promise<void>): Promise<void> {
    if (this.failed > 0) return;
    try {
      await run();
      this.passed += 1;
      console.log(`  ok ${title}`);
    } catch (error) {
      this.failed += 1;
      const text = error instanceof Error ? error.message : String(error);
      console.log(`  FAILED ${title}\n    ${text.split('\n').slice(0, 20).join('\n    ')}`);
      for (const line of await visibleWords(this.opened.page)) console.log(`    ${line}`);
      await this.picture('failed');
      this.opened.keepLogs(`${this.name}-failed`);
    }
  }

  async picture(title: string): Promise<void> {
    mkdirSync(ARTIFACTS, { recursive: true });
    await this.opened.page.screenshot({ path: join(ARTIFACTS, `${this.name}-${title}.png`) });
  }
}
