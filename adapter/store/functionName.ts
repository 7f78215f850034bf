/**
 * What people call a function: a method with its class (`Agent.run`), whatever it is inside. Other kinds of calls have names of their own.
 * As `Function.shown` of the Python runtime.
 *
 * @param qualified its qualified name, `make.<locals>.Agent.run`
 */
export function shownName(kind: string, name: string, qualified: string | null): string {
  if (kind !== 'function' || qualified === null) return name;
  const parts = (qualified.split('<locals>.').at(-1) ?? '').split('.');
  return parts.length > 1 && parts.at(-1) === name ? parts.slice(-2).join('.') : name;
}
