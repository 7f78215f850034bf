/** What a person does in any workbench: files, the palette, the margin, menus, notifications. */
import type { Locator, Page } from 'playwright-core';
import { act, did, QUICK, see, seen, type Done } from './hand';
import { until } from './processes';

export class Desk {
  constructor(readonly page: Page) {}

  protected input(): Locator {
    return this.page.locator('.quick-input-box input');
  }

  async openFile(name: string): Promise<void> {
    const found = this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: name }).first();
    const tab = this.page.locator('.editor-group-container .tab.active').filter({ hasText: name });
    // The first search waits until the extensions are there; a file made just now is found by the next search.
    await until(
      `the file ${name} is found and opened`,
      async () => {
        await this.page.keyboard.press('Escape');
        await this.page.keyboard.press('Control+P');
        if (!(await did(this.input().fill(name, QUICK)))) return false;
        if (!(await seen(found, 'visible', 10_000))) return false;
        await this.page.keyboard.press('Enter');
        return seen(tab);
      },
      60_000,
    );
    await see(`the text of ${name}`, this.page.locator('.monaco-editor .view-lines .view-line').first());
  }

  /** Runs a command of the palette by its title. */
  async command(title: string): Promise<void> {
    const entry = this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first();
    // The palette closes when something else takes the focus just then, as the Debug Console does after an answer.
    await until(
      `the palette offers ${title}`,
      async () => {
        await this.page.keyboard.press('F1');
        if (!(await did(this.input().fill(`>${title}`, QUICK)))) return false;
        return (await seen(entry)) && did(entry.click(QUICK));
      },
      30_000,
    );
  }

  /** Chooses from a list that a command of the palette opens. */
  async choose(title: string, typed: string, entry: string, done: Done): Promise<void> {
    const row = this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: entry }).first();
    const choose = async (): Promise<boolean> => {
      await this.command(title);
      if (typed !== '' && !(await did(this.input().fill(typed, QUICK)))) return false;
      return (await seen(row)) && did(row.click(QUICK));
    };
    await act(`"${entry}" is chosen from "${title}"`, choose, done);
  }

  /** Drags the side bar's edge, so that pictures show whole rows. */
  async widenSideBar(width: number): Promise<void> {
    const bar = this.page.locator('.part.sidebar');
    const drag = async (): Promise<boolean> => {
      const box = await bar.boundingBox();
      if (box === null) return false;
      await this.page.mouse.move(box.x + box.width, box.y + box.height / 2);
      await this.page.mouse.down();
      await this.page.mouse.move(box.x + width, box.y + box.height / 2, { steps: 5 });
      await this.page.mouse.up();
      return true;
    };
    const wide = async (): Promise<boolean> => Math.abs(((await bar.boundingBox())?.width ?? 0) - width) < 10;
    await act(`the side bar is ${width} wide`, drag, wide);
  }

  /** Where the margin is beside the visible line that contains a text. */
  private async beside(text: string): Promise<{ x: number; y: number; height: number }> {
    const group = this.page.locator('.editor-group-container.active');
    const line = group.locator('.view-lines .view-line').filter({ hasText: text }).first();
    const margin = group.locator('.glyph-margin').first();
    let place: { x: number; y: number; height: number } | undefined;
    // The editor draws its lines anew when it scrolls: an element may be gone before it is measured.
    await until(`the line "${text}" has a place on the screen`, async () => {
      if (!(await seen(line))) return false;
      const [row, column] = await Promise.all([
        line.boundingBox(QUICK).catch(() => null),
        margin.boundingBox(QUICK).catch(() => null),
      ]);
      if (row === null || column === null) return false;
      place = { x: column.x + column.width / 2, y: row.y + row.height / 2, height: row.height };
      return true;
    });
    return place!;
  }

  /** Whether the margin shows a breakpoint beside a line. */
  async hasDot(text: string): Promise<boolean> {
    const { y, height } = await this.beside(text);
    const tops = await this.page
      .locator('.editor-group-container.active .glyph-margin-widgets [class*="codicon-debug-breakpoint"]')
      .evaluateAll((dots) => dots.map((dot) => dot.getBoundingClientRect()).map((box) => box.top + box.height / 2));
    return tops.some((top) => Math.abs(top - y) < height / 2);
  }

  /** Clicks in the margin beside the visible line that contains a text, until a breakpoint is there, or gone. */
  async breakpoint(text: string, there = true): Promise<void> {
    const click = async (): Promise<boolean> => {
      const { x, y } = await this.beside(text);
      await this.page.mouse.click(x, y);
      return true;
    };
    const what = `${there ? 'a breakpoint' : 'no breakpoint'} beside "${text}"`;
    await act(what, click, async () => (await this.hasDot(text)) === there);
  }

  /** The margin's context menu beside a line. */
  async gutterMenu(text: string, item: string, done: Done): Promise<void> {
    const open = async (): Promise<boolean> => {
      const { x, y } = await this.beside(text);
      await this.page.mouse.click(x, y, { button: 'right' });
      return true;
    };
    await this.menuOf(`"${item}" is chosen from the margin beside "${text}"`, open, item, done);
  }

  /** Opens a context menu and chooses from it, until that had its effect. A menu may close when the focus goes elsewhere. */
  protected async menuOf(what: string, open: () => Promise<boolean>, item: string | RegExp, done: Done): Promise<void> {
    const entry = this.page.locator('.monaco-menu .action-item').filter({ hasText: item }).first();
    const choose = async (): Promise<boolean> => {
      // One that was opened before, and did not take the click: menus take none in their first moment.
      if (!(await entry.isVisible()) && !((await open()) && (await seen(entry)))) return false;
      if (!((await did(entry.hover(QUICK))) && (await did(entry.click(QUICK))))) return false;
      return seen(entry, 'hidden', 1000);
    };
    await act(what, choose, done);
  }

  /** Scrolls to a line by its number, found in the file's text, and puts the cursor there. */
  async goToLine(line: number): Promise<void> {
    const number = this.page
      .locator('.editor-group-container.active .line-numbers.active-line-number')
      .filter({ hasText: new RegExp(`^${line}$`) });
    await until(
      `the cursor is on line ${line}`,
      async () => {
        await this.page.keyboard.press('Control+G');
        if (!(await did(this.input().fill(`:${line}`, QUICK)))) return false;
        await this.page.keyboard.press('Enter');
        return (await seen(this.page.locator('.quick-input-widget'), 'hidden')) && seen(number);
      },
      30_000,
    );
  }

  private notifications(text: string | RegExp): Locator {
    return this.page.locator('.notifications-center .notification-list-item').filter({ hasText: text }).first();
  }

  /** Whether this was told. A dot on the bell alone may be for something else: then the list behind it is looked at. */
  async told(text: string | RegExp): Promise<boolean> {
    const item = this.notifications(text);
    if (await item.isVisible()) return true;
    if (!(await this.page.locator('.statusbar-item .codicon-bell-dot').isVisible())) return false;
    return (await this.openNotifications()) && seen(item);
  }

  /** A notification with a text, in the list behind the bell: with the driver for tests, VS Code shows no toasts. */
  async notification(text: string | RegExp): Promise<Locator> {
    const item = this.notifications(text);
    await act(`a notification ${String(text)}`, () => this.openNotifications(), item, 60_000);
    return item;
  }

  /** The list closes when something else takes the focus; an open one shows what comes. */
  private async openNotifications(): Promise<boolean> {
    if (await this.page.locator('.notifications-center').isVisible()) return true;
    const bell = this.page.locator('.statusbar-item').locator('.codicon-bell, .codicon-bell-dot').first();
    if (!(await did(bell.click(QUICK)))) return false;
    // The bell's tooltip would lie over the list.
    await this.page.mouse.move(5, 400);
    return true;
  }

  /** Presses a button of a notification, until that had its effect. */
  async answer(text: string | RegExp, button: string, done: Done): Promise<void> {
    const press = async (): Promise<boolean> => {
      const item = await this.notification(text);
      return did(item.getByRole('button', { name: button }).click(QUICK));
    };
    await act(`the button "${button}" of the notification ${String(text)}`, press, done);
  }

  /** Brings a part of the panel to the front. */
  async panel(name: string): Promise<void> {
    const tab = this.page.locator('.part.panel .action-item', { hasText: name }).first();
    const front = this.page.locator('.part.panel .action-item.checked', { hasText: name }).first();
    await act(`the panel shows ${name}`, () => did(tab.click(QUICK)), front);
  }

  async clipboard(text: RegExp): Promise<boolean> {
    return text.test(await this.page.evaluate(() => navigator.clipboard.readText()));
  }
}
