import * as vscode from 'vscode';

/** Where a breakpoint stops a call; the adapter announces the same names as DAP breakpoint modes. */
export type Mode = 'before' | 'after' | 'before and after' | 'error';

/**
 * The constructor as VS Code implements it. `mode` is not in the stable declaration, so whoever makes one reads it back.
 */
type WithMode = new (
  location: vscode.Location,
  enabled: boolean,
  condition: string | undefined,
  hitCondition: string | undefined,
  logMessage: string | undefined,
  mode: Mode,
) => vscode.SourceBreakpoint & { readonly mode?: unknown };

const SourceBreakpoint = vscode.SourceBreakpoint as unknown as WithMode;

export function modeOf(breakpoint: vscode.SourceBreakpoint): Mode {
  const mode: unknown = (breakpoint as { mode?: unknown }).mode;
  return mode === 'after' || mode === 'before and after' || mode === 'error' ? mode : 'before';
}

/** Breakpoints of one line, 0-based. */
export function breakpointsAt(uri: vscode.Uri, line: number): vscode.SourceBreakpoint[] {
  return vscode.debug.breakpoints.filter(
    (each): each is vscode.SourceBreakpoint =>
      each instanceof vscode.SourceBreakpoint &&
      each.location.uri.toString() === uri.toString() &&
      each.location.range.start.line === line,
  );
}

/**
 * Sets the breakpoint of a line to a mode, keeping its condition, hit count and message. A mode cannot be changed in place: the breakpoint
 * is removed and added. Returns a sentence when this VS Code takes no mode.
 */
export function breakAt(uri: vscode.Uri, line: number, mode: Mode): string | undefined {
  const [old, ...others] = breakpointsAt(uri, line);
  if (old !== undefined && others.length === 0 && modeOf(old) === mode && old.enabled) return undefined;

  const location = old?.location ?? new vscode.Location(uri, new vscode.Position(line, 0));
  const made = new SourceBreakpoint(location, true, old?.condition, old?.hitCondition, old?.logMessage, mode);
  if (made.mode !== mode && mode !== 'before') {
    return `This version of VS Code does not take breakpoint modes from extensions. Right-click the breakpoint, choose "Edit Mode" and "${mode}".`;
  }
  vscode.debug.removeBreakpoints([old, ...others].filter((each) => each !== undefined));
  vscode.debug.addBreakpoints([made]);
  return undefined;
}
