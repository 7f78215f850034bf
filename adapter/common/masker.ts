import type { RecordSettings } from '../../protocol/control';
import { maskPattern, maskPatternProblem } from '../../protocol/maskPattern';
import { isSecretName, isSecretSelector } from '../../protocol/secretNames';
import { MASK, ROW_NAMES, ROW_VALUES, SELECTORS, TYPED_VALUES } from '../../protocol/secrets';
import { UserError } from './errors';
import { maskText } from './masking';

const namesOfRows = ROW_NAMES.split(' ');
const selectors = SELECTORS.split(' ');
const rowValues = ROW_VALUES.split(' ');
const typedValues = TYPED_VALUES.split(' ');
/** Names of which is remembered whether they name a secret. */
const MOST_KNOWN = 1000;

/** Masks what a session writes to files: the usual secrets, and those the person named. */
export class Masker {
  readonly patterns: RegExp[];
  readonly #keys: RegExp[];
  readonly #known = new Map<string, boolean>();

  /** Throws a sentence for a pattern that cannot be had: what is to be masked would be told. */
  constructor(settings: Pick<RecordSettings, 'maskKeys' | 'maskPatterns'>) {
    const globs = settings.maskKeys.map((key) => key.replace(/[\\^$.|+()[\]{}?]/g, '\\$&').replaceAll('*', '\\w*'));
    this.#keys = globs.map((glob) => new RegExp(`^${glob}$`, 'i'));
    this.patterns = [
      ...settings.maskPatterns.map(ownPattern),
      // The value after a named key, up to the end of its quotes or of the word; the key itself stays.
      ...globs.map(
        (glob) =>
          new RegExp(
            `(?<=\\b${glob}\\\\*["']?\\s{0,9}(?::=|[:=])\\s{0,9})(?:\\\\*"[^"\\\\]*\\\\*"|\\\\*'[^'\\\\]*\\\\*'|[^\\s"',;(){}\\[\\]]+)`,
            'gi',
          ),
      ),
    ];
  }

  text(text: string): string {
    return maskText(text, this.patterns);
  }

  /** A command line: also what follows an option whose name says that it is a secret, as in `--password hunter2`. */
  arguments(given: readonly string[]): string[] {
    return given.map((text, index) => {
      const option = /^--?([\w-]+)$/.exec(given[index - 1] ?? '')?.[1];
      return option !== undefined && !text.startsWith('-') && this.#isSecret(option) ? MASK : this.text(text);
    });
  }

  /** What no runtime of ours masked, such as what is recorded of native code: whatever stands under a secret's name, the texts, and the names. */
  recorded<T>(value: T, deepest = Infinity): T {
    if (typeof value === 'string') return this.text(value) as T;
    // What is nested more deeply is not written.
    if (typeof value !== 'object' || value === null || value instanceof Number || deepest < 0) return value;
    if (Array.isArray(value))
      return value.map((one: unknown, index) =>
        typeof one === 'string' && this.#announces(value, index - 1) ? MASK : this.recorded(one, deepest - 1),
      ) as T;
    const named = Object.entries(value).map(([name, inner]: [string, unknown]) => [
      this.text(name),
      inner !== null && inner !== undefined && (this.#isSecret(name) || this.#isSecretOfRow(value, name))
        ? MASK
        : this.recorded(inner, deepest - 1),
    ]);
    return Object.fromEntries(named) as T;
  }

  /** A message for the trace log. Values that came from evaluating are left out: nothing says what is in them. */
  message(message: unknown): string {
    return this.text(JSON.stringify(message, (_, value: unknown) => this.#clean(value)));
  }

  /** Whether the item of a list says that the next one is a secret: a header's name, or an option. */
  #announces(items: readonly unknown[], index: number): boolean {
    const item = items[index];
    if (typeof item !== 'string') return false;
    const option = /^--?([A-Za-z][\w-]*)$/.exec(item)?.[1];
    if (option !== undefined) return !/^-/.test(String(items[index + 1])) && this.#isSecret(option);
    return items.length === 2 && /^#?[A-Za-z]/.test(item) && this.#isSecret(item);
  }

  /** Whether a row such as `{"name": "DB_PASSWORD", "value": "..."}` says that what stands under this name is a secret. */
  #isSecretOfRow(row: object, name: string): boolean {
    const names = rowValues.includes(name) ? namesOfRows : typedValues.includes(name) ? selectors : [];
    return names.some((about) => {
      const said = Object.hasOwn(row, about) ? (row as Record<string, unknown>)[about] : undefined;
      return (
        typeof said === 'string' && (this.#isSecret(said) || (selectors.includes(about) && isSecretSelector(said)))
      );
    });
  }

  #isSecret(name: string): boolean {
    let secret = this.#known.get(name);
    if (secret === undefined) {
      secret =
        isSecretName(name) ||
        this.#keys.some((key) => key.test(name)) ||
        maskText(`${name}=0123456789`) !== `${name}=0123456789`;
      // Messages have the same few names again and again; those of an app's data may be any.
      if (this.#known.size < MOST_KNOWN) this.#known.set(name, secret);
    }
    return secret;
  }

  #clean(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return value;
    }
    const object = value as Record<string, unknown>;
    const copy = { ...object };
    for (const [key, inner] of Object.entries(object)) {
      const isSecret = this.#isSecret(key) || (typeof inner === 'string' && this.#isSecretOfRow(object, key));
      if (isSecret && inner !== null && inner !== undefined) {
        copy[key] = MASK;
      } else if ((key === 'argv' || key === 'args') && isTexts(inner)) {
        copy[key] = this.arguments(inner);
      }
    }
    if (typeof object['result'] === 'string') {
      copy['result'] = lengthOf(object['result']);
    }
    // What a logpoint says is made of values; so is the line about an edit.
    if (object['category'] === 'console' && ('source' in object || 'path' in object)) {
      for (const name of ['text', 'output']) {
        if (typeof object[name] === 'string') copy[name] = lengthOf(object[name]);
      }
    }
    // A frame shows its arguments, cut in the middle, where the names of secrets may be lost.
    if (typeof object['name'] === 'string' && 'line' in object) {
      copy['name'] = object['name'].replace(/\(.*\)/s, '(…)');
    }
    // A value of the app, or the new text of one: an edit and its answer.
    if (
      typeof object['value'] === 'string' &&
      ['variablesReference', 'ref', 'expression'].some((key) => key in object)
    ) {
      copy['value'] = lengthOf(object['value']);
    }
    // Output of the app comes in pieces, and a piece of a secret has no form to know it by.
    if (typeof object['output'] === 'string' && (object['category'] === 'stdout' || object['category'] === 'stderr')) {
      copy['output'] = lengthOf(object['output']);
    }
    // What the person typed: an expression, or the text to complete.
    if (typeof object['expression'] === 'string') {
      copy['expression'] = lengthOf(object['expression']);
    }
    if (typeof object['text'] === 'string' && 'column' in object) {
      copy['text'] = lengthOf(object['text']);
    }
    return copy;
  }
}

function ownPattern(text: string): RegExp {
  const pattern = maskPattern(text);
  if (pattern === undefined)
    throw new UserError(`"record.maskPatterns" cannot have "${text}": ${maskPatternProblem(text) ?? ''}.`);
  return pattern;
}

function lengthOf(text: string): string {
  return `(${text.length} characters)`;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
