/** What a person does in the workbench, in their words. Every wait is for something visible. */
import type { FrameLocator, Locator, Page } from 'playwright-core';
import { until } from './processes';

export class Pane {
  constructor(readonly page: Page) {}

  async openFile(name: string): Promise<void> {
    const found = this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: name }).first();
    // The first search waits until the extensions are there; a file made just now is found by the next search.
    await until(
      `the file ${name} is found`,
      async () => {
        await this.page.keyboard.press('Escape');
        await this.page.keyboard.press('Control+P');
        await this.page.locator('.quick-input-box input').fill(name);
        return found.waitFor({ timeout: 10_000 }).then(
          () => true,
          () => false,
        );
      },
      60_000,
    );
    await this.page.keyboard.press('Enter');
    await this.page.locator('.editor-group-container .tab.active').filter({ hasText: name }).waitFor();
    await this.page.locator('.monaco-editor .view-lines .view-line').first().waitFor();
  }

  /** Runs a command of the palette by its title. */
  async command(title: string): Promise<void> {
    const entry = this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first();
    // The palette closes when something else takes the focus just then, as the Debug Console does after an answer.
    await until(
      `the palette offers ${title}`,
      async () => {
        await this.page.keyboard.press('F1');
        const offered = this.page
          .locator('.quick-input-box input')
          .fill(`>${title}`, { timeout: 5000 })
          .then(() => entry.waitFor({ timeout: 5000 }));
        return offered.then(
          () => true,
          () => false,
        );
      },
      30_000,
    );
    await entry.click();
  }

  /** Drags the side bar's edge, so that pictures show whole rows. */
  async widenSideBar(width: number): Promise<void> {
    const box = await this.page.locator('.part.sidebar').boundingBox();
    if (box === null) throw new Error('The side bar is not open.');
    await this.page.mouse.move(box.x + box.width, box.y + box.height / 2);
    await this.page.mouse.down();
    await this.page.mouse.move(box.x + width, box.y + box.height / 2, { steps: 5 });
    await this.page.mouse.up();
  }

  /** Clicks in the margin beside the visible line that contains a text: sets a breakpoint, or takes it away. */
  async clickGutter(text: string, button: 'left' | 'right' = 'left'): Promise<void> {
    const line = this.page
      .locator('.editor-group-container.active .view-lines .view-line')
      .filter({ hasText: text })
      .first();
    const margin = this.page.locator('.editor-group-container.active .glyph-margin').first();
    // The editor draws its lines anew when it scrolls: an element may be gone before it is measured.
    let place: { x: number; y: number } | undefined;
    await until(`the line "${text}" has a place on the screen`, async () => {
      await line.waitFor();
      const [row, column] = await Promise.all([line.boundingBox(), margin.boundingBox()]);
      if (row === null || column === null) return false;
      place = { x: column.x + column.width / 2, y: row.y + row.height / 2 };
      return true;
    });
    if (place !== undefined) await this.page.mouse.click(place.x, place.y, { button });
  }

  /** The margin's context menu beside a line. */
  async gutterMenu(text: string, item: string): Promise<void> {
    await this.clickGutter(text, 'right');
    await this.menu(item);
  }

  /** Chooses from the menu that is open. */
  async menu(item: string | RegExp): Promise<void> {
    const entry = this.page.locator('.monaco-menu .action-item').filter({ hasText: item }).first();
    await entry.waitFor();
    await entry.hover();
    await entry.click();
    await entry.waitFor({ state: 'hidden' });
  }

  /** Scrolls to a line by its number, found in the file's text, and puts the cursor there. */
  async goToLine(line: number): Promise<void> {
    await this.page.keyboard.press('Control+G');
    await this.page.locator('.quick-input-box input').fill(`:${line}`);
    await this.page.keyboard.press('Enter');
    await this.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    await this.page
      .locator('.editor-group-container.active .line-numbers.active-line-number')
      .filter({ hasText: new RegExp(`^${line}$`) })
      .waitFor();
  }

  dots(): Locator {
    return this.page.locator(
      '.editor-group-container .codicon-debug-breakpoint, .editor-group-container .codicon-debug-breakpoint-unverified',
    );
  }

  callStackRows(): Locator {
    return this.page.locator('.debug-call-stack .monaco-list-row');
  }

  async waitForFrame(text: string | RegExp): Promise<void> {
    await this.callStackRows().filter({ hasText: text }).first().waitFor();
  }

  /** The toolbar offers to continue. */
  async stopped(): Promise<void> {
    await this.page.locator('.debug-toolbar .codicon-debug-continue').waitFor({ timeout: 60_000 });
  }

  async ended(): Promise<void> {
    await this.page.locator('.debug-toolbar').waitFor({ state: 'hidden', timeout: 60_000 });
  }

  variableRows(): Locator {
    return this.page.locator('.debug-variables .monaco-list-row');
  }

  /** Opens a scope or value unless it is open. */
  async expand(name: string): Promise<void> {
    const row = this.variableRows()
      .filter({ hasText: new RegExp(`^\\s*${name}(?!\\w)`) })
      .first();
    await row.waitFor();
    if ((await row.getAttribute('aria-expanded')) !== 'true') await row.click();
    await row.and(this.page.locator('[aria-expanded="true"]')).waitFor();
  }

  variable(name: string): Locator {
    return this.variableRows()
      .filter({ has: this.page.locator('.name', { hasText: new RegExp(`^${name}(?!\\w)`) }) })
      .first();
  }

  /** Edits a value in place, as with a double-click. */
  async setVariable(name: string, value: string): Promise<void> {
    const row = this.variable(name);
    await row.waitFor();
    const box = this.page.locator('.debug-variables .monaco-inputbox input').and(this.page.locator(':visible'));
    // The pane may be filled anew just then, which closes the box: it is opened again, as a person would.
    await until(`a box to edit ${name}`, async () => {
      await row
        .locator('.value')
        .first()
        .dblclick({ timeout: 3000 })
        .catch(() => undefined);
      return box
        .fill(value, { timeout: 3000 })
        .then(() => true)
        .catch(() => false);
    });
    await this.page.keyboard.press('Enter');
  }

  /** A row's context menu in the Variables pane. */
  async variableMenu(name: string, item: string | RegExp): Promise<void> {
    await this.variable(name).click({ button: 'right' });
    await this.menu(item);
  }

  /** Chooses from the context menu of a row of the Call Stack. */
  async frameMenu(frame: string | RegExp, item: string): Promise<void> {
    await this.callStackRows().filter({ hasText: frame }).first().click({ button: 'right' });
    await this.menu(item);
  }

  breakpointRows(): Locator {
    return this.page.locator('.debug-breakpoints .monaco-list-row');
  }

  /** Adds a watch expression by the pane's own button. */
  async watch(expression: string): Promise<void> {
    const header = this.page.locator('.pane-header', { hasText: /^Watch/ });
    await header.hover();
    await header.locator('..').getByRole('button', { name: 'Add Expression' }).first().click();
    const box = this.page.locator('.debug-watch .monaco-inputbox input');
    await box.fill(expression);
    await this.page.keyboard.press('Enter');
  }

  watchRows(): Locator {
    return this.page.locator('.debug-watch .monaco-list-row');
  }

  /** The Call Stack's own words for the state of the session or of its only thread; then keys and buttons work on it. */
  async paused(text: string | RegExp): Promise<void> {
    await this.page
      .locator('.pane-header', { hasText: text })
      .or(this.callStackRows().filter({ hasText: text }))
      .first()
      .waitFor({ timeout: 30_000 });
    await this.page.locator('.debug-toolbar .action-item:not(.disabled) .codicon-debug-step-over').waitFor();
    await this.page.locator('.debug-call-stack .monaco-list-row .stack-frame').first().waitFor();
  }

  /** A notification with a text, in the list behind the bell: with the driver for tests, VS Code shows no toasts. */
  async notification(text: string | RegExp): Promise<Locator> {
    const item = this.page.locator('.notifications-center .notification-list-item').filter({ hasText: text }).first();
    const bell = this.page.locator('.statusbar-item .codicon-bell-dot');
    await until(
      `a notification ${String(text)}`,
      async () => {
        if (await bell.isVisible()) await bell.click();
        return item.isVisible();
      },
      60_000,
    );
    return item;
  }

  /** Types an expression into the Debug Console. */
  async evaluate(expression: string): Promise<void> {
    await this.page.locator('.panel .action-item', { hasText: 'Debug Console' }).click();
    await this.page.locator('.repl-input-wrapper .monaco-editor').click();
    await this.page.keyboard.insertText(expression);
    await this.page.keyboard.press('Enter');
  }

  /** A row of the Debug Console, newest first. */
  async consoleSays(text: string | RegExp): Promise<void> {
    await this.panel('Debug Console');
    await this.consoleRows().filter({ hasText: text }).last().waitFor();
  }

  async panel(name: string): Promise<void> {
    await this.page.locator('.part.panel .action-item', { hasText: name }).first().click();
  }

  consoleRows(): Locator {
    return this.page.locator('.repl .monaco-list-row');
  }

  /** The timeline's document, inside its two frames. */
  timeline(index = 0): FrameLocator {
    return this.page.frameLocator('iframe.webview.ready').nth(index).frameLocator('iframe#active-frame');
  }
}
