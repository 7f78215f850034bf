import { devNull } from 'node:os';

/** How a file becomes a program's standard input under its debugger. */
export interface Input {
  /** What is opened as its input. */
  path: string;
  variables: Record<string, string>;
}

/**
 * The debugger opens the file. On Windows none does, and the variable TOOLBREAK_STDIN_FILE names the file; a program has to look there. Without a file the
 * input is empty, so that nothing waits for a person.
 */
export function inputBy(by: 'redirect' | 'variable' | undefined, file: string | undefined): Input {
  const variable = by === 'variable' || (by === undefined && process.platform === 'win32' && file !== undefined);
  return {
    path: file === undefined || variable ? devNull : file,
    variables: variable && file !== undefined ? { TOOLBREAK_STDIN_FILE: file } : {},
  };
}
