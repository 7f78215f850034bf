import * as vscode from 'vscode';
import { say } from '../log';
import type { Sessions } from '../sessions';
import { askFunctionBreakpoint } from './functions';
import { breakAt, type Mode } from './modes';

const COMMANDS: Record<string, Mode> = {
  'toolbreak.breakBefore': 'before',
  'toolbreak.breakAfter': 'after',
  'toolbreak.breakBeforeAndAfter': 'before and after',
  'toolbreak.breakOnError': 'error',
};

export function breakpointCommands(sessions: Sessions): vscode.Disposable {
  const lines = Object.entries(COMMANDS).map(([command, mode]) =>
    vscode.commands.registerCommand(command, (place?: unknown) => {
      const at = lineOf(place);
      const problem =
        at === undefined ? 'Put the cursor on a line of a source file first.' : breakAt(at.uri, at.line, mode);
      if (problem !== undefined) say('warning', problem);
    }),
  );
  return vscode.Disposable.from(
    ...lines,
    vscode.commands.registerCommand('toolbreak.addFunctionBreakpoint', () => askFunctionBreakpoint(sessions)),
  );
}

/** The line number's context menu gives `{uri, lineNumber}` with lines from 1; elsewhere it is the cursor's. */
function lineOf(place: unknown): { uri: vscode.Uri; line: number } | undefined {
  if (typeof place === 'object' && place !== null && 'lineNumber' in place && 'uri' in place) {
    const { uri, lineNumber } = place;
    if (uri instanceof vscode.Uri && typeof lineNumber === 'number') return { uri, line: lineNumber - 1 };
  }
  const editor = vscode.window.activeTextEditor;
  return editor === undefined ? undefined : { uri: editor.document.uri, line: editor.selection.active.line };
}
