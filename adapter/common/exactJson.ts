type Given = { source?: string } | undefined;

/** As `JSON.parse`, but a whole number that a double does not hold exactly becomes a text of its digits. Throws a `SyntaxError`. */
export function parseExact(json: string): unknown {
  return JSON.parse(json, exact);
}

/** The same for what will be written as JSON again: floats such as `5.0`, `-0.0` and `1e+18` stay as they are. Nothing else can be done with these. */
export function parseToWrite(json: string): unknown {
  return JSON.parse(json, (key: string, value: unknown, given?: Given): unknown =>
    typeof value === 'number' && Number.isInteger(value) && /[.e]/.test(given?.source ?? '')
      ? raw.rawJSON(given!.source!)
      : exact(key, value, given),
  );
}

function exact(_key: string, value: unknown, given?: Given): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(given?.source ?? '')
    ? given!.source
    : value;
}

/** Node has it from 21 on; the types of the language do not know it yet. */
const raw = JSON as unknown as { rawJSON(text: string): unknown };
