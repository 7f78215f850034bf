/** Why a pattern of functions to record can name none, or undefined. `pkg.*`, `@usercode` and `@file:src/*.py` can. */
export function badFunctionPattern(pattern: string): string | undefined {
  if (pattern.trim() === '') return 'It is empty.';
  if (pattern.trim() !== pattern) return 'It begins or ends with a space.';
  if (pattern.startsWith('-')) return 'No name of a function begins with "-".';
  if (pattern === '@file:') return 'Behind "@file:" there is a path.';
  return !pattern.startsWith('@') || pattern === '@usercode' || pattern.startsWith('@file:')
    ? undefined
    : 'Behind "@" there is "usercode" or "file:".';
}

/** Whether one of these functions (`module.Class.name`) has a name that the pattern means. Of `@usercode` and `@file:` the app alone knows. */
export function meets(pattern: string, names: readonly string[]): boolean {
  if (pattern.startsWith('@')) return true;
  const parts = pattern.split(/\*+/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const expression = new RegExp(`^${parts.join('.*')}$`, 's');
  return names.some((name) => expression.test(name));
}
