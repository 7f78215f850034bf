import { UserError } from '../../common/errors';
import { Complex, Dict, Float, SetValue, Tagged, Tuple, type Value } from '../values/model';
import { arrayValue, child, children, content } from './children';
import { errorDict, errorValue } from './errorValue';
import { errorMessage, FROM_TEXT, isWhole, markOf, opaqueText, shortType, textPart } from './render';
import type { StoredValues } from './stored';
import { bytesText, floatText, hexText, intText, quote, scalarText } from './text';

/** Longest text that is answered; a clipboard is no place for more. */
const LONGEST = 16 * 1024 * 1024;
const DEEPEST = 500;
/** Classes of Python that make a value from what it has in it. */
const FROM_CONTENT = /^collections\.(?:OrderedDict|Counter|deque)$/;

/** Whose text is how Python writes them. */
const AS_WRITTEN = /^(?:re\.Pattern|range|slice|NotImplementedType)$/;

/** Classes that have their name wherever they are read. */
const BUILTIN = /^(?:bool|bytearray|bytes|complex|dict|float|frozenset|int|list|object|set|str|tuple|type)$/;

/** A name of a member that Python takes behind a dot: no word of the language. */
const NAME =
  /^(?!(?:False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$)[\p{ID_Start}_]\p{ID_Continue}*$/u;

/** Longest number that Python reads; in hex it reads any. */
const MOST_DIGITS = 4300;

export class TooLarge extends UserError {}

/** What stands in JSON for programs where a value is missing or is not whole; `value` is what there is of it, `type` that of an object which did not fit. */
export interface Marked {
  $mark: string;
  reason: string;
  value?: unknown;
  type?: string;
}

/**
 * The whole value as JSON or as Python text. What is cut, masked or opaque says so in its place: to people in a text, to programs ("marked") in
 * an object. Throws a `TooLarge` with a sentence beyond `longest` characters.
 */
export function copyText(
  value: Value,
  stored: StoredValues,
  format: 'json' | 'marked' | 'python',
  longest = LONGEST,
): string {
  const parts: string[] = [];
  let length = 0;
  const put = (text: string): void => {
    length += text.length;
    if (length > longest) throw new TooLarge('The value is too large to copy. Open it and copy a part of it.');
    parts.push(text);
  };
  if (format === 'python') python(value, 0);
  // Programs need no lines.
  else json(value, 0, format === 'marked' ? '' : '\n');
  return parts.join('');

  function innerOf(newline: string): string {
    return newline === '' ? '' : `${newline}  `;
  }

  function sequence<T>(
    open: string,
    items: readonly T[],
    close: string,
    each: (item: T) => void,
    between = ', ',
  ): void {
    put(open);
    items.forEach((item, index) => {
      if (index > 0) put(between);
      each(item);
    });
    put(close);
  }

  function block<T>(
    open: string,
    items: readonly T[],
    close: string,
    newline: string,
    each: (item: T, inner: string) => void,
  ): void {
    if (items.length === 0) return put(open + close);
    const inner = innerOf(newline);
    sequence(`${open}${inner}`, items, `${newline}${close}`, (item) => each(item, inner), `,${inner}`);
  }

  function json(item: Value, depth: number, newline: string): void {
    if (depth > DEEPEST) {
      const reason = 'nested too deeply to copy';
      const mark: Marked = { $mark: 'deep', reason: `It is ${reason}.` };
      return put(JSON.stringify(format === 'marked' ? mark : `<${reason}>`));
    }
    const plain = stored.resolve(item);
    const reason = format === 'marked' && plain instanceof Tagged ? markOf(plain, stored) : undefined;
    // The wrapper of a subclass stands for what is in it, which says so itself.
    if (reason !== undefined && (plain as Tagged).tag !== 'subclass')
      return marked(plain as Tagged, reason, depth, newline);
    unmarked(plain, depth, newline);
  }

  function marked(tagged: Tagged, reason: string, depth: number, newline: string): void {
    const inner = innerOf(newline);
    put(`{${inner}"$mark": ${JSON.stringify(tagged.tag)},${inner}"reason": ${JSON.stringify(reason)}`);
    const what = tagged.tag === 'opaque' ? opaqueText(tagged, stored) : keptOf(tagged);
    if (what !== undefined) {
      put(`,${inner}"value": `);
      // An object that lacks something is what it has.
      if (what === tagged) unmarked(tagged, depth + 1, inner);
      else json(what, depth + 1, inner);
    } else if (tagged.tag === 'cut') put(`,${inner}"type": ${JSON.stringify(textPart(tagged, 0, stored))}`);
    put(`${newline}}`);
  }

  /** What there is of a value with a mark. */
  function keptOf(tagged: Tagged): Value | undefined {
    if (tagged.tag === 'object') return tagged;
    if (tagged.tag === 'array') return arrayValue(tagged, stored) ?? undefined;
    const kept = tagged.tag === 'cut' ? stored.resolve(tagged.parts[1] ?? null) : null;
    return kept ?? undefined;
  }

  function unmarked(plain: Value, depth: number, newline: string): void {
    if (plain === null || typeof plain === 'boolean') return put(String(plain));
    if (typeof plain === 'number' || typeof plain === 'bigint')
      return put(intText(plain).includes('x') ? JSON.stringify(intText(plain)) : intText(plain));
    if (plain instanceof Float)
      return put(Number.isFinite(plain.value) ? floatText(plain.value) : JSON.stringify(floatText(plain.value)));
    if (plain instanceof Complex) return put(JSON.stringify(scalarText(plain)));
    if (typeof plain === 'string') return put(JSON.stringify(plain));
    if (plain instanceof Uint8Array) return put(JSON.stringify(Buffer.from(plain).toString('base64')));
    const sequenceItems = itemsOf(plain);
    if (sequenceItems !== undefined)
      return block('[', sequenceItems, ']', newline, (one, inner) => json(one, depth + 1, inner));
    if (plain instanceof Dict || (plain instanceof Tagged && fieldsOf(plain))) {
      return block('{', children(plain, stored), '}', newline, (entry, inner) => {
        put(`${JSON.stringify(entry.name)}: `);
        json(entry.value, depth + 1, inner);
      });
    }
    const error = errorValue(plain, stored);
    if (error !== undefined) return json(errorDict(error), depth, newline);
    const inside = plain instanceof Tagged ? (rowsOf(plain) ?? through(plain)) : undefined;
    return inside === undefined ? put(JSON.stringify(standIn(plain as Tagged))) : json(inside, depth + 1, newline);
  }

  function python(item: Value, depth: number): void {
    if (depth > DEEPEST) return put("'<nested too deeply to copy>'");
    const plain = stored.resolve(item);
    const scalar = pythonScalar(plain);
    if (scalar !== undefined) return put(scalar);
    if (typeof plain === 'string') return put(quote(plain));
    if (plain instanceof Uint8Array) return put(bytesText(plain));
    const each = (one: Value): void => python(one, depth + 1);
    if (Array.isArray(plain)) return sequence('[', plain, ']', each);
    if (plain instanceof Tuple) return sequence('(', plain.items, plain.items.length === 1 ? ',)' : ')', each);
    if (plain instanceof SetValue) {
      if (plain.items.length === 0) return put(plain.frozen ? 'frozenset()' : 'set()');
      return sequence(plain.frozen ? 'frozenset({' : '{', plain.items, plain.frozen ? '})' : '}', each);
    }
    if (plain instanceof Dict) {
      return sequence('{', plain.entries, '}', ([key, one]) => {
        // As a value, not as its line is: a date without quotes would be a difference of numbers.
        each(key);
        put(': ');
        each(one);
      });
    }
    const tagged = plain as Tagged;
    if (tagged.tag === 'object') {
      return sequence(`${shortType(textPart(tagged, 0, stored))}(`, children(tagged, stored), ')', (entry) => {
        put(`${entry.name}=`);
        each(entry.value);
      });
    }
    if (tagged.tag === 'ellipsis') return put('...');
    if (tagged.tag === 'enum') return pythonMember(tagged, each);
    if (tagged.tag === 'bytearray') {
      put('bytearray(');
      each(tagged.parts[0] ?? null);
      return put(')');
    }
    if (tagged.tag === 'error') return pythonError(tagged, each);
    if (tagged.tag === 'array') return pythonArray(tagged, each);
    const made = pythonCall(tagged);
    if (made !== undefined) return put(made);
    const type = textPart(tagged, 0, stored);
    if (tagged.tag === 'subclass' && FROM_CONTENT.test(type))
      return sequence(`${shortType(type)}(`, [tagged.parts[1] ?? null], ')', each);
    const inside = through(tagged);
    return inside === undefined ? put(quote(standIn(tagged))) : each(inside);
  }

  /** `Colour.RED`, `Access.READ|Access.WRITE`; by its value, where its name is none of Python's. */
  function pythonMember(member: Tagged, each: (one: Value) => void): void {
    const type = shortType(textPart(member, 0, stored));
    const names = textPart(member, 1, stored).split('|');
    if (names.every((name) => NAME.test(name))) return put(names.map((name) => `${type}.${name}`).join('|'));
    sequence(`${type}(`, [member.parts[2] ?? null], ')', each);
  }

  /** `ValueError('no tea')`; what it was raised from is not in it, as in Python's own text. */
  function pythonError(error: Tagged, each: (one: Value) => void): void {
    const args = stored.resolve(child(error, 'args', stored) ?? null);
    const message = textPart(error, 1, stored);
    const type = shortType(textPart(error, 0, stored));
    if (args instanceof Tuple) {
      // Python keeps the file of an OSError beside its arguments.
      const file = args.items.length === 2 ? /^\[Errno -?\d+\] [^]*: ('[^]*'|"[^]*")$/.exec(message)?.[1] : undefined;
      return sequence(`${type}(`, args.items, file === undefined ? ')' : `, ${file})`, each);
    }
    const members = stored.resolve(child(error, 'exceptions', stored) ?? null);
    const told = / \(\d+ sub-exceptions?\)$/;
    if (members instanceof Tuple && told.test(message))
      return sequence(`${type}(`, [message.replace(told, ''), [...members.items]], ')', each);
    // Its message is its argument as Python writes it.
    put(`${type}(${type === 'KeyError' || message === '' ? message : quote(message)})`);
  }

  /** `array([0, 1, 2, 3], dtype='int64').reshape(2, 2)`; of what was not recorded whole the elements, and that there is more. */
  function pythonArray(array: Tagged, each: (one: Value) => void): void {
    const head = orMore(array, stored.resolve(array.parts[3] ?? null));
    if (head === undefined) return put(quote(standIn(array)));
    const shape = stored.resolve(array.parts[1] ?? null);
    const sizes = shape instanceof Tuple ? shape.items.map((size) => stored.resolve(size)) : [];
    const type = textPart(array, 0, stored);
    const kind = textPart(array, 2, stored);
    if (head instanceof Dict) return each(head);
    if (!isWhole(array, stored)) return each(rowsOf(array) ?? head);
    if (type === 'array.array') put(`array(${quote(kind)}, `);
    else if (type === 'numpy.ndarray') put('array(');
    else return each(head);
    each(sizes.length === 0 && Array.isArray(head) ? (head[0] ?? null) : head);
    if (type === 'array.array') return put(')');
    put(
      `, dtype=${kind.startsWith('[') ? kind : quote(kind)})${sizes.length > 1 ? `.reshape(${sizes.map((size) => scalarText(size) ?? '').join(', ')})` : ''}`,
    );
  }

  /** `Decimal('1.10')`, `timedelta(seconds=5)`: what makes a value whose text is all there is to it. */
  function pythonCall(tagged: Tagged): string | undefined {
    const [type, text] = [textPart(tagged, 0, stored), textPart(tagged, 1, stored)];
    // Of a number that Python does not write either, only the size is known.
    if (/an integer of \d+ bits/.test(text)) return undefined;
    if (tagged.tag === 'opaque' && AS_WRITTEN.test(type) && text !== '') return text;
    if (tagged.tag === 'opaque' && textPart(tagged, 2, stored) === '' && FROM_TEXT.test(type))
      return `${shortType(type)}(${quote(text)})`;
    if (type === 'numpy.datetime64' || type === 'pandas.Timestamp') return `${shortType(type)}(${quote(text)})`;
    if (tagged.tag === 'opaque' && type === 'type' && BUILTIN.test(text)) return text;
    if (type === 'datetime.timezone') return pythonZone(text);
    if (tagged.tag !== 'time') return undefined;
    if (type === 'datetime.timedelta') return pythonLength(text);
    return type.startsWith('datetime.') ? `${shortType(type)}.fromisoformat(${quote(text)})` : undefined;
  }

  /** `timedelta(seconds=1.5)`; a long one in whole numbers, since Python reads the seconds as a float, which would lose the last digits. */
  function pythonLength(seconds: string): string {
    const [, sign, whole, fraction] = /^(-?)(\d{10,})\.(\d{1,6})$/.exec(seconds) ?? [];
    if (fraction === undefined) return `timedelta(seconds=${seconds})`;
    return `timedelta(seconds=${sign}${whole}, microseconds=${sign}${Number(fraction.padEnd(6, '0'))})`;
  }

  /** Of a zone with a name of its own the recording has no offset. */
  function pythonZone(text: string): string | undefined {
    if (text === 'UTC') return 'timezone.utc';
    const [, sign, ...parts] = /^UTC([+-])(\d\d):(\d\d)(?::(\d\d)(\.\d{6})?)?$/.exec(text) ?? [];
    if (sign === undefined) return undefined;
    const [hours, minutes, seconds = '0', fraction = ''] = parts;
    const all = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
    return `timezone(${pythonLength(`${sign === '-' ? '-' : ''}${all}${fraction}`)})`;
  }

  /** As Python reads it again: `-0+1j` would be a sum, and nan is no word of the language. */
  function pythonScalar(plain: Value): string | undefined {
    const text = scalarText(plain);
    if (text === undefined) return undefined;
    if (plain instanceof Float) return Number.isFinite(plain.value) ? text : `float('${text}')`;
    if (typeof plain === 'bigint' && text.length > MOST_DIGITS) return hexText(plain);
    const isOdd = (part: number): boolean => !Number.isFinite(part) || Object.is(part, -0);
    return plain instanceof Complex && (isOdd(plain.real) || isOdd(plain.imaginary)) ? `complex('${text}')` : text;
  }

  function itemsOf(plain: Value): Value[] | undefined {
    if (Array.isArray(plain)) return plain;
    return plain instanceof Tuple || plain instanceof SetValue ? plain.items : undefined;
  }

  function fieldsOf(tagged: Tagged): boolean {
    return tagged.tag === 'object';
  }

  /** The plain value a wrapper stands for; undefined where there is none. What is cut says in itself that it goes on. */
  function through(tagged: Tagged): Value | undefined {
    if (tagged.tag === 'subclass') return stored.resolve(tagged.parts[1] ?? null);
    if (tagged.tag === 'cut') return withRest(content(tagged, stored), stored.resolve(tagged.parts[2] ?? null));
    if (tagged.tag === 'enum') return tagged.parts[2];
    if (tagged.tag === 'time') return tagged.parts[1];
    return tagged.tag === 'bytearray' ? tagged.parts[0] : undefined;
  }

  /** What was recorded of an array, row by row, or of the columns of a table, and at its end that there is more. */
  function rowsOf(array: Tagged): Value | undefined {
    return array.tag === 'array' ? orMore(array, arrayValue(array, stored)) : undefined;
  }

  function orMore(array: Tagged, kept: Value): Value | undefined {
    if (kept === null) return undefined;
    return isWhole(array, stored) ? kept : (withRest(kept, null) ?? kept);
  }

  /** What was kept of a value that is cut, and at its end how much there was. */
  function withRest(head: Value, length: Value): Value | undefined {
    const all = typeof length === 'number' && length > 0 ? ` (${length} in all)` : '';
    if (typeof head === 'string') return `${head}…`;
    if (head instanceof Uint8Array) return `${bytesText(head)}…${all}`;
    if (Array.isArray(head)) return [...head, `…${all}`];
    if (head instanceof Tuple) return new Tuple([...head.items, `…${all}`]);
    if (head instanceof SetValue) return new SetValue([...head.items, `…${all}`], head.frozen);
    if (head instanceof Dict) return new Dict([...head.entries, ['…', all.trim()]]);
    if (!(head instanceof Tagged) || head.tag !== 'bytearray') return undefined;
    return withRest(stored.resolve(head.parts[0] ?? null), length);
  }

  function standIn(tagged: Tagged): string {
    const text = (index: number): string => textPart(tagged, index, stored);
    if (tagged.tag === 'masked') return '<masked>';
    if (tagged.tag === 'cycle') return '<contains itself>';
    if (tagged.tag === 'error') return `${shortType(text(0))}: ${errorMessage(tagged, stored)}`;
    if (tagged.tag === 'opaque') return opaqueText(tagged, stored);
    if (tagged.tag === 'cut') return `<${[text(0), text(3)].filter((part) => part !== '').join(': ')}>`;
    return `<${[tagged.tag, text(0)].filter((part) => part !== '').join(' ')}>`;
  }
}
