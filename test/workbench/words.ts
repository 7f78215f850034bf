/** What can be read on the screen when a step failed, so that a log alone tells why. */
import type { Page } from 'playwright-core';

const PARTS: [string, string][] = [
  ['pane headers', '.pane-header'],
  ['call stack', '.debug-call-stack .monaco-list-row'],
  ['variables', '.debug-variables .monaco-list-row'],
  ['watch', '.debug-watch .monaco-list-row'],
  ['breakpoints', '.debug-breakpoints .monaco-list-row'],
  ['toolbar', '.debug-toolbar .action-item:not(.disabled) .action-label'],
  ['console', '.repl .monaco-list-row'],
  ['panel', '.part.panel .action-item.checked'],
  ['editor', '.editor-group-container .tab.active'],
  ['quick input', '.quick-input-widget'],
  ['menu', '.monaco-menu .action-item'],
  ['notifications', '.notification-list-item'],
  ['dialog', '.monaco-dialog-box'],
  ['status bar', '.statusbar-item.warning-kind, .statusbar-item.error-kind'],
];
const LONGEST = 400;

export async function visibleWords(page: Page): Promise<string[]> {
  const lines: string[] = [];
  for (const [name, selector] of PARTS) {
    const texts = await within(
      page
        .locator(selector)
        .filter({ visible: true })
        .evaluateAll((found) =>
          found.map((each) => (each as HTMLElement).innerText || (each.getAttribute('aria-label') ?? '')),
        ),
    );
    if (typeof texts === 'string') lines.push(`${name}: ${texts}`);
    else if (texts.length > 0) lines.push(`${name}: ${short(texts.join(' | '))}`);
  }
  for (const frame of page.frames().filter((each) => each.name() === 'active-frame')) {
    const texts = await within(frame.locator('body').allInnerTexts());
    lines.push(`webview: ${typeof texts === 'string' ? texts : short(texts.join(' '))}`);
  }
  return lines;
}

/** A page that hangs says so instead of its words. */
async function within<T>(asked: Promise<T>): Promise<T | string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => (timer = setTimeout(() => resolve('(does not answer)'), 5000)));
  try {
    return await Promise.race([asked, late]);
  } catch (error) {
    return `(cannot be read: ${error instanceof Error ? error.message.split('\n')[0] : String(error)})`;
  } finally {
    clearTimeout(timer);
  }
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
