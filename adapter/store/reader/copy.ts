import { UserError } from '../../common/errors';
import { Complex, Dict, Float, SetValue, Tagged, Tuple, type Value } from '../values/model';
import { children, content, keyText } from './children';
import { shortType, textPart } from './render';
import type { StoredValues } from './stored';
import { bytesText, floatText, intText, quote, scalarText } from './text';

/** Longest text that is answered; a clipboard is no place for more. */
const LONGEST = 16 * 1024 * 1024;
const DEEPEST = 500;

/** The whole value as JSON or as Python text. What is cut, masked or opaque says so in its place. Throws a sentence when it is too large. */
export function copyText(value: Value, stored: StoredValues, format: 'json' | 'python'): string {
  const parts: string[] = [];
  let length = 0;
  const put = (text: string): void => {
    length += text.length;
    if (length > LONGEST) throw new UserError('The value is too large to copy. Open it and copy a part of it.');
    parts.push(text);
  };
  if (format === 'json') json(value, 0, '\n');
  else python(value, 0);
  return parts.join('');

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
    const inner = `${newline}  `;
    sequence(`${open}${inner}`, items, `${newline}${close}`, (item) => each(item, inner), `,${inner}`);
  }

  function json(item: Value, depth: number, newline: string): void {
    if (depth > DEEPEST) return put('"<nested too deeply to copy>"');
    const plain = stored.resolve(item);
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
    const inside = plain instanceof Tagged ? through(plain) : undefined;
    return inside === undefined ? put(JSON.stringify(standIn(plain as Tagged))) : json(inside, depth + 1, newline);
  }

  function python(item: Value, depth: number): void {
    if (depth > DEEPEST) return put("'<nested too deeply to copy>'");
    const plain = stored.resolve(item);
    const scalar = scalarText(plain);
    if (scalar !== undefined)
      return put(plain instanceof Float && !Number.isFinite(plain.value) ? `float('${scalar}')` : scalar);
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
        put(`${keyText(key, stored)}: `);
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
    if (tagged.tag === 'enum') return put(`${shortType(textPart(tagged, 0, stored))}.${textPart(tagged, 1, stored)}`);
    if (tagged.tag === 'bytearray') {
      put('bytearray(');
      each(tagged.parts[0] ?? null);
      return put(')');
    }
    const inside = through(tagged);
    return inside === undefined ? put(quote(standIn(tagged))) : each(inside);
  }

  function itemsOf(plain: Value): Value[] | undefined {
    if (Array.isArray(plain)) return plain;
    return plain instanceof Tuple || plain instanceof SetValue ? plain.items : undefined;
  }

  function fieldsOf(tagged: Tagged): boolean {
    return tagged.tag === 'object';
  }

  /** The plain value a wrapper stands for. A cut text says in itself that it goes on. */
  function through(tagged: Tagged): Value | undefined {
    if (tagged.tag === 'subclass' || tagged.tag === 'cut') {
      const inner = content(tagged, stored);
      return tagged.tag === 'cut' && typeof inner === 'string' ? `${inner}…` : inner;
    }
    if (tagged.tag === 'enum') return tagged.parts[2];
    if (tagged.tag === 'time') return tagged.parts[1];
    return tagged.tag === 'bytearray' ? tagged.parts[0] : undefined;
  }

  function standIn(tagged: Tagged): string {
    const text = (index: number): string => textPart(tagged, index, stored);
    if (tagged.tag === 'masked') return '<masked>';
    if (tagged.tag === 'cycle') return '<contains itself>';
    if (tagged.tag === 'error') return `${shortType(text(0))}: ${text(1)}`;
    if (tagged.tag === 'opaque') return text(1) || `<${text(0)}>`;
    return `<${[tagged.tag, text(0)].filter((part) => part !== '').join(' ')}>`;
  }
}
