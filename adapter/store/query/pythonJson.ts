const TOKEN =
  /\s+|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(True|False|None)\b|([[\](){},:])|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/sy;

const WORDS: Record<string, string> = { True: 'true', False: 'false', None: 'null', '(': '[', ')': ']' };

/** `{'id': 7, 'lines': ('mug',)}`, as lines of calls have it, as JSON, in which a set is a list; nothing for what Python writes otherwise. */
export function pythonJson(text: string): string | undefined {
  const tokens: string[] = [];
  /** Where each bracket that is open stands, and whether it is one of a dict: it has a colon, or nothing, in it. */
  const open: { at: number; isDict: boolean }[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (match === null) return undefined;
    const [, single, double, word, sign, number] = match;
    const token = single ?? double;
    if (token !== undefined) tokens.push(quoted(token));
    else if (word !== undefined) tokens.push(WORDS[word]!);
    else if (number !== undefined) tokens.push(number);
    else if (sign !== undefined) {
      // A comma may stand behind the last item.
      if (/[\])}]/.test(sign) && tokens.at(-1) === ',') tokens.pop();
      if (/[[({]/.test(sign)) open.push({ at: tokens.length, isDict: false });
      const within = open.at(-1);
      if (sign === ':' && within !== undefined) within.isDict = true;
      const isSet = sign === '}' && within?.isDict === false && within.at < tokens.length - 1;
      if (/[\])}]/.test(sign)) open.pop();
      if (isSet) tokens[within.at] = '[';
      tokens.push(isSet ? ']' : (WORDS[sign] ?? sign));
    }
  }
  return tokens.join('');
}

/** What is in quotes, as JSON has it: most escapes are the same. */
function quoted(inside: string): string {
  const text = inside.replace(/\\x([0-9a-fA-F]{2})|\\(.)|"/gs, (found, code?: string, escaped?: string) => {
    if (code !== undefined) return `\\u00${code}`;
    if (escaped === "'") return "'";
    return escaped === undefined ? '\\"' : found;
  });
  return `"${text}"`;
}
