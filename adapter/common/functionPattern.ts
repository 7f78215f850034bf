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
