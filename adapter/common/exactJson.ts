/** As `JSON.parse`, but a whole number that a double does not hold exactly becomes a text of its digits. Throws a `SyntaxError`. */
export function parseExact(json: string): unknown {
  return JSON.parse(json, (_key: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
      ? context!.source
      : value,
  );
}
