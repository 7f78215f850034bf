/** Why a pattern of functions to record can name none, or undefined. `pkg.*`, `@usercode` and `@file:src/*.py` can. */
export function badFunctionPattern(pattern: string): string | undefined {
  if (pattern.trim() === '') return 'It is empty.';
  return !pattern.startsWith('@') || pattern === '@usercode' || pattern.startsWith('@file:')
    ? undefined
    : 'Behind "@" there is "usercode" or "file:".';
}
