/** JavaScript has `(?i:…)` only from Node 23 on, and its `\w` has the letters of English alone: both are spelled out. */
export function withoutSwitches(pattern: string): string {
  let out = '';
  let inClass = false;
  /** For each open group: whether case counts in it. */
  const groups: boolean[] = [];
  const anyCase = () => groups.includes(true);
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]!;
    if (character === '\\') {
      const escaped = pattern[++at]!;
      if (escaped !== 'w') out += character + escaped;
      else out += inClass ? '\\w\\u00aa-\\uffff' : '[\\w\\u00aa-\\uffff]';
    } else if (inClass) {
      const range = /^[a-z]-[a-z]/.exec(pattern.slice(at))?.[0];
      if (range !== undefined && anyCase()) {
        out += range + range.toUpperCase();
        at += range.length - 1;
      } else if (/[a-z]/i.test(character) && anyCase()) out += character.toLowerCase() + character.toUpperCase();
      else out += character;
      inClass = character !== ']';
    } else if (character === '(') {
      const switched = pattern.startsWith('(?i:', at);
      groups.push(switched);
      const name = switched ? '(?:' : (/^\((?:\?(?:<[a-z]\w*>|<?[=!]|:))?/.exec(pattern.slice(at))?.[0] ?? character);
      out += name;
      at += (switched ? 4 : name.length) - 1;
    } else if (character === ')') {
      groups.pop();
      out += character;
    } else {
      if (character === '[') inClass = true;
      out +=
        /[a-z]/i.test(character) && anyCase() ? `[${character.toLowerCase()}${character.toUpperCase()}]` : character;
    }
  }
  return out;
}
