/**
 * What a person does in the debugger's views, in their words. Every wait is for something visible, and says what for; what the workbench may
 * lose, since it draws its views anew at any time, is done again until its effect is there.
 */
import type { FrameLocator, Locator } from 'playwright-core';
import { Desk } from './desk';
import { act, did, QUICK, see, seen, type Done } from './hand';
import { until } from './processes';

export class Pane extends Desk {
  // Sessions

  private toolbar(icon = ''): Locator {
    const toolbar = this.page.locator('.debug-toolbar');
    return icon === '' ? toolbar : toolbar.locator(`.action-item:not(.disabled) .codicon-debug-${icon}`);
  }

  /** Starts a session, by F5 or another way; while one starts VS Code takes no second F5. */
  async start(way: () => Promise<unknown> = () => this.page.keyboard.press('F5')): Promise<void> {
    await see('no session before this one', this.toolbar(), { state: 'hidden' });
    await way();
    await see('the toolbar of a session', this.toolbar(), { timeout: 60_000 });
  }

  /** Presses a key that lets the held task go on. */
  async go(key: 'F5' | 'F10' | 'F11' | 'Shift+F11'): Promise<void> {
    await see('a toolbar that offers to continue', this.toolbar('continue').first());
    await this.page.keyboard.press(key);
  }

  /** The toolbar offers to continue. */
  async stopped(): Promise<void> {
    await see('a toolbar that offers to continue', this.toolbar('continue').first(), { timeout: 60_000 });
  }

  async ended(): Promise<void> {
    await see('the toolbar of the session', this.toolbar(), { state: 'hidden', timeout: 60_000 });
  }

  /** A button of ours in the toolbar. */
  toolbarButton(label: string): Locator {
    return this.toolbar().locator(`.action-item a[aria-label^="${label}"]`);
  }

  /** A filter for exceptions in the view of breakpoints. */
  exceptionFilter(label: string): Locator {
    return this.page.locator('.debug-breakpoints .monaco-list-row .exception').filter({ hasText: label });
  }

  /** A button of the toolbar, until it had its effect. */
  async press(icon: 'pause' | 'restart' | 'stop', done: Done): Promise<void> {
    await act(`the toolbar's ${icon}`, () => did(this.toolbar(icon).first().click(QUICK)), done, 60_000);
  }

  // Call Stack

  callStackRows(): Locator {
    return this.page.locator('.debug-call-stack .monaco-list-row');
  }

  /** The frames alone: where there are several threads, VS Code shows those, too. */
  frameRows(): Locator {
    return this.callStackRows().filter({ has: this.page.locator('.stack-frame') });
  }

  /** What the frames are called, innermost first, each up to its arguments. */
  async frameNames(): Promise<string[]> {
    return (await this.frameRows().allInnerTexts()).map((row) => row.split(/[(\s]/)[0] ?? '');
  }

  async waitForFrame(text: string | RegExp): Promise<void> {
    const frames = this.frameRows();
    const frame = frames.filter({ hasText: text }).first();
    // With more than one thread VS Code may leave the held one closed.
    const closed = this.callStackRows()
      .filter({ has: this.page.locator('.thread'), hasText: /paused/i })
      .and(this.page.locator('[aria-expanded="false"]'))
      .first();
    await until(
      `the frame ${String(text)}`,
      async () => {
        if (await closed.isVisible()) await did(closed.locator('.monaco-tl-twistie').click(QUICK));
        return seen(frame);
      },
      30_000,
    );
  }

  /** The Call Stack's own words for the state of the session or of its only thread; then keys and buttons work on it. */
  async paused(text: string | RegExp): Promise<void> {
    const header = this.page.locator('.pane-header', { hasText: text });
    await see(`the Call Stack says ${String(text)}`, header.or(this.callStackRows().filter({ hasText: text })).first());
    await see('a toolbar that offers a step', this.toolbar('step-over').first());
    const frame = this.page.locator('.debug-call-stack .monaco-list-row .stack-frame').first();
    // Its thread may have been left closed; another one's is not to be opened for one that is only late.
    if (!(await seen(frame, 'visible', 5_000))) await this.waitForFrame('');
  }

  /**
   * The uppermost frame: what a step or a stop came to. A frame that was lower in the stack before would be seen at once, and a key pressed
   * then would be lost.
   */
  async top(name: RegExp, header?: string | RegExp): Promise<void> {
    // Above the frames stands their thread, where there are several.
    await see(`the frame ${name} on top`, this.frameRows().first().filter({ hasText: name }));
    if (header !== undefined) await this.paused(header);
  }

  /** Puts the focus on a frame. */
  async chooseFrame(name: RegExp): Promise<void> {
    const row = this.callStackRows().filter({ hasText: name });
    const chosen = row.and(this.page.locator('.selected')).first();
    await act(`the frame ${name} is chosen`, () => did(row.first().click(QUICK)), chosen);
  }

  /** Chooses from the context menu of a row of the Call Stack. */
  async frameMenu(frame: string | RegExp, item: string, done: Done): Promise<void> {
    const row = this.callStackRows().filter({ hasText: frame }).first();
    const what = `"${item}" is chosen for the frame ${String(frame)}`;
    await this.menuOf(what, () => did(row.click({ button: 'right', ...QUICK })), item, done);
  }

  // Variables

  variableRows(): Locator {
    return this.page.locator('.debug-variables .monaco-list-row');
  }

  variable(name: string): Locator {
    return this.variableRows()
      .filter({ has: this.page.locator('.name', { hasText: new RegExp(`^${name}(?!\\w)`) }) })
      .first();
  }

  /** Opens a scope or value unless it is open; answers whether it is then. */
  private async tryExpand(name: string): Promise<boolean> {
    const row = this.variableRows()
      .filter({ hasText: new RegExp(`^\\s*${name}(?!\\w)`) })
      .first();
    const open = row.and(this.page.locator('[aria-expanded="true"]'));
    if (!(await seen(row))) return false;
    if (await open.isVisible()) return true;
    return (await did(row.click(QUICK))) && seen(open);
  }

  /** Opens scopes and values, one after the other, until a row is there: the pane may be filled anew, and forget what was open. */
  async expand(path: string[], row: Locator): Promise<void> {
    await until(`a row under ${path.join(', ')}: ${String(row)}`, () => this.shows(path, row), 30_000);
  }

  /** One try of `expand`. */
  async shows(path: string[], row: Locator): Promise<boolean> {
    await this.scroll(-10_000);
    for (const name of path) if (!(await this.tryExpand(name))) return false;
    if (await seen(row)) return true;
    // Rows out of sight are not there.
    await this.scroll(150);
    return seen(row);
  }

  private async scroll(by: number): Promise<void> {
    if (await did(this.page.locator('.debug-variables').first().hover(QUICK))) await this.page.mouse.wheel(0, by);
  }

  /** Edits a value in place, as with a double-click, until the effect is there. */
  async setVariable(name: string, value: string, done: Done): Promise<void> {
    const box = this.page.locator('.debug-variables .monaco-inputbox input').filter({ visible: true });
    // The pane may be filled anew just then, which closes the box: it is opened again, as a person would.
    const edit = async (): Promise<boolean> => {
      const opened =
        (await box.isVisible()) || (await did(this.variable(name).locator('.value').first().dblclick(QUICK)));
      return opened && (await did(box.fill(value, QUICK))) && did(box.press('Enter', QUICK));
    };
    await act(`${name} is set to ${value}`, edit, done);
  }

  /** A row's context menu in the Variables pane. */
  async variableMenu(name: string, item: string | RegExp, done: Done): Promise<void> {
    const open = () => did(this.variable(name).click({ button: 'right', ...QUICK }));
    await this.menuOf(`"${String(item)}" is chosen for the variable ${name}`, open, item, done);
  }

  // Breakpoints and watches

  breakpointRows(): Locator {
    return this.page.locator('.debug-breakpoints .monaco-list-row');
  }

  /** Writes into the box that a button of a pane opens, until the row is there. */
  async add(pane: RegExp, button: string, text: string, row: Locator): Promise<void> {
    const header = this.page.locator('.pane-header', { hasText: pane });
    const body = header.locator('..');
    const box = body.locator('.monaco-inputbox input').first();
    const write = async (): Promise<boolean> => {
      if (!(await box.isVisible())) {
        if (!(await did(header.hover(QUICK)))) return false;
        if (!(await did(body.getByRole('button', { name: button }).first().click(QUICK)))) return false;
      }
      return (await did(box.fill(text, QUICK))) && did(box.press('Enter', QUICK));
    };
    await act(`"${text}" is added to ${String(pane)}`, write, row);
  }

  watchRows(): Locator {
    return this.page.locator('.debug-watch .monaco-list-row');
  }

  // Debug Console

  consoleRows(): Locator {
    return this.page.locator('.repl .monaco-list-row');
  }

  /** Types an expression into the Debug Console, until the console repeats it. */
  async evaluate(expression: string): Promise<void> {
    await this.panel('Debug Console');
    const echoes = this.consoleRows().filter({ hasText: expression });
    const before = await echoes.count();
    const write = async (): Promise<boolean> => {
      if (!(await this.write(expression))) return false;
      await this.page.keyboard.press('Enter');
      return true;
    };
    await act(`the Debug Console takes ${expression}`, write, async () => (await echoes.count()) > before);
  }

  /** Puts a text into the Debug Console's line, in place of what is there. */
  async write(text: string, typed = false): Promise<boolean> {
    if (!(await did(this.page.locator('.repl-input-wrapper .monaco-editor').click(QUICK)))) return false;
    await this.page.keyboard.press('Control+A');
    await this.page.keyboard.press('Delete');
    if (typed) await this.page.keyboard.type(text);
    else await this.page.keyboard.insertText(text);
    return true;
  }

  async consoleSays(text: string | RegExp): Promise<void> {
    await this.panel('Debug Console');
    await see(`the Debug Console says ${String(text)}`, this.consoleRows().filter({ hasText: text }).last());
  }

  // Timeline

  /** The timeline's document, inside its two frames: in the panel, or in an editor. */
  timeline(where: 'panel' | 'editor' = 'panel'): FrameLocator {
    const view = '[src*="purpose=webviewView"]';
    const ours = 'iframe.webview.ready[src*="extensionId=toolbreak.toolbreak"]';
    return this.page
      .frameLocator(where === 'panel' ? `${ours}${view}` : `${ours}:not(${view})`)
      .frameLocator('iframe#active-frame');
  }
}
