import { readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { envFileBadLine, envFileUnreadable } from '../../common/errors';

export type Variables = Record<string, string | null>;

/** Variables of an env file. Throws a sentence for a file or line that cannot be read. */
export function readEnvFile(path: string): Variables {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw envFileUnreadable(
      path,
      code === 'ENOENT' ? 'it does not exist' : code === 'EACCES' ? 'no permission' : String(code),
    );
  }
  return parseEnvFile(text, path);
}

/**
 * `NAME=value` lines. `export` in front, blank lines and `#` comments are passed over; a value may stand in quotes and then span lines; in
 * double quotes `\n`, `\t`, `\"` and `\\` are read; a `#` after a blank ends an unquoted value. `${NAME}` is kept as it is.
 */
export function parseEnvFile(text: string, path: string): Variables {
  const variables: Variables = {};
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!.trim();
    if (line === '' || line.startsWith('#')) continue;
    const match = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*(.*)$/.exec(line);
    // The line may hold a secret: only what stands before a "=" is shown.
    if (match === null) throw envFileBadLine(path, index + 1, shorten(line));
    const [, name, raw] = match as unknown as [string, string, string];
    const quote = raw[0];
    if (quote !== '"' && quote !== "'") {
      variables[name] = raw.replace(/(^|\s)#.*$/, '').trim();
      continue;
    }
    const first = index;
    let body = raw.slice(1);
    let end = closingQuote(body, quote);
    while (end < 0 && index + 1 < lines.length) {
      body += `\n${lines[++index]!}`;
      end = closingQuote(body, quote);
    }
    const after = end < 0 ? '' : body.slice(end + 1).trim();
    if (end < 0 || (after !== '' && !after.startsWith('#'))) {
      throw envFileBadLine(path, first + 1, `${name}=${quote}… has no closing quote at its end`);
    }
    const value = body.slice(0, end);
    variables[name] =
      quote === '"' ? value.replace(/\\([ntr"\\$])/g, (_, letter: string) => escapes[letter] ?? letter) : value;
  }
  return variables;
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r' };

function closingQuote(text: string, quote: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\' && quote === '"') at++;
    else if (text[at] === quote) return at;
  }
  return -1;
}

function shorten(line: string): string {
  const shown = line.split('=')[0]!.trim();
  return shown.length > 30 ? `${shown.slice(0, 30)}…` : shown;
}

/** What the app's environment gains and loses beside that of its parent. Later ones win. */
export function mergeVariables(...all: (Variables | undefined)[]): Variables {
  return Object.assign({}, ...all) as Variables;
}

/** The whole environment for a process that we start ourselves. */
export function applyVariables(base: NodeJS.ProcessEnv, variables: Variables): NodeJS.ProcessEnv {
  const env = { ...base };
  for (const [name, value] of Object.entries(variables)) {
    // Names have no case on Windows: PATH must not stand beside Path.
    const known =
      process.platform === 'win32'
        ? Object.keys(env).find((key) => key.toLowerCase() === name.toLowerCase())
        : undefined;
    if (known !== undefined && known !== name) delete env[known];
    if (value === null) delete env[name];
    else env[name] = value;
  }
  return env;
}

/** The boot folder in front, the person's own folders after it. An empty part would mean the working folder, so none is added. */
export function pythonPath(bootFolder: string, own: string | null | undefined): string {
  return own ? bootFolder + delimiter + own : bootFolder;
}
