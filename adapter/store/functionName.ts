/** A function, as the store has it. */
export interface Named {
  kind: string;
  name: string;
  /** `make.<locals>.Agent.run`; of spans from elsewhere it may begin with a module or a package. */
  qualified: string | null;
  /** Empty where it is not known, as of spans. */
  module: string;
}

/**
 * What people call a function: a method with its class (`Agent.run`), whatever it is inside. Other kinds of calls have names of their own.
 * Where no module is known, what stands before the name may be one; it is taken for a class if it is written like one.
 * As `shown_name` of the Python runtime; `fixtures/shown_names.json` has cases for both.
 */
export function shownName({ kind, name, qualified, module }: Named): string {
  if (kind !== 'function' || qualified === null) return name;
  const [last, owner] = (qualified.split('<locals>.').at(-1) ?? '').split('.').reverse();
  if (last !== name || owner === undefined) return name;
  return module !== '' || /^_*\p{Lu}/u.test(owner) ? `${owner}.${name}` : name;
}

/** Whether a text, in lower case, is a part of its name. Of a kind only with the colon behind it, `tool:`: else `o` would find every tool. */
export function isNamed(named: Named, part: string): boolean {
  const { kind, name, qualified } = named;
  const method = shownName({ ...named, kind: 'function' }).toLowerCase();
  const plain = name.toLowerCase();
  return (
    [plain, method, qualified?.toLowerCase() ?? ''].some((each) => each.includes(part)) ||
    (part.includes(':') && [plain, method].some((each) => `${kind}:${each}`.startsWith(part)))
  );
}

/** All names by which it is found as a whole: by itself, with its class, with all it is inside, and with its kind. */
export function namesOf(named: Named): string[] {
  const { kind, name, qualified } = named;
  // Tools and the like that are methods have a class, too, though they are not shown with it.
  const method = shownName({ ...named, kind: 'function' });
  return [...new Set([name, method, qualified ?? name, `${kind}:${name}`, `${kind}:${method}`])];
}
