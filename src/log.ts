import * as vscode from 'vscode';

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

let channel: vscode.LogOutputChannel | undefined;

/** What is ours to mend goes here, with everything known; the person sees a sentence. */
export function logError(what: string, details: string): void {
  channel ??= vscode.window.createOutputChannel('Toolbreak', { log: true });
  channel.error(`${what}\n${details}`);
}

/** Shows a sentence with buttons; the chosen button's action runs. Never waits for the person. */
export function say(
  level: 'information' | 'warning' | 'error',
  sentence: string,
  ...buttons: { title: string; run: () => unknown }[]
): void {
  const show: Record<
    typeof level,
    (text: string, ...items: vscode.MessageItem[]) => Thenable<vscode.MessageItem | undefined>
  > = {
    information: (text, ...items) => vscode.window.showInformationMessage(text, ...items),
    warning: (text, ...items) => vscode.window.showWarningMessage(text, ...items),
    error: (text, ...items) => vscode.window.showErrorMessage(text, ...items),
  };
  const items = buttons.map(({ title }) => ({ title }));
  void Promise.resolve(show[level](sentence, ...items)).then((chosen) => {
    const index = chosen === undefined ? -1 : items.indexOf(chosen);
    return buttons[index]?.run();
  });
}
