import { devNull } from 'node:os';

/** How a file becomes a program's standard input under its debugger. */
export interface Input {
  /** For lldb, before the program runs. */
  commands: string[];
  gdbArguments: string[];
  variables: Record<string, string>;
}

/**
 * lldb opens the file itself. gdb starts programs through a shell, which redirects. On Windows neither does, and the variable
 * TOOLBREAK_STDIN_FILE names the file; a program has to look there. Without a file the input is empty, so that nothing waits for a person.
 */
export function inputBy(
  family: 'lldb' | 'gdb',
  by: 'redirect' | 'variable' | undefined,
  file: string | undefined,
): Input {
  const variable = by === 'variable' || (by === undefined && process.platform === 'win32' && file !== undefined);
  const opened = file === undefined || variable ? devNull : file;
  const wrapper = `set exec-wrapper /bin/sh -c 'exec "$0" "$@" < '${shellQuoted(opened)}`;
  return {
    commands: family === 'lldb' ? [`settings set target.input-path ${JSON.stringify(opened)}`] : [],
    gdbArguments: family === 'gdb' && process.platform !== 'win32' ? ['-iex', wrapper] : [],
    variables: variable && file !== undefined ? { TOOLBREAK_STDIN_FILE: file } : {},
  };
}

const shellQuoted = (text: string): string => `"${text.replace(/(["\\$`])/g, '\\$1')}"`;
