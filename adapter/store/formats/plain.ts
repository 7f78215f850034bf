import { arrayValue, children, content } from '../reader/children';
import { errorDict, errorValue } from '../reader/errorValue';
import { isWhole, opaqueText, textPart } from '../reader/render';
import { isLost, type StoredValues } from '../reader/stored';
import { floatText, intText, scalarText } from '../reader/text';
import { Complex, Dict, Float, SetValue, Tagged, Tuple, type Value } from '../values/model';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What of a run is not in what is written. */
export interface Cuts {
  /** Values that are not whole. */
  count: number;
  /** Events that have no place in the format. */
  events: number;
}

const DEEPEST = 30;
const CUT = '…';
/** Halves of characters that stand alone: Python has such texts, and no other program takes them. */
const HALVES = /\p{Cs}/gu;

/** JSON in which no half of a character stands alone. */
export function wellFormed(json: string): string {
  return json.includes('\\ud') ? json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|[^])/g, whole) : json;
}

/** An escape as it is written here; only those of halves are so long. */
function whole(escape: string): string {
  return escape.length > 2 ? '\ufffd' : escape;
}

/** A float that is whole, as no JSON of JavaScript's own writes it: 21.0. Node 20 writes 21. */
function floatJson(value: number): Json {
  const { rawJSON } = JSON as unknown as { rawJSON?: (text: string) => Json };
  if (rawJSON === undefined || !Number.isInteger(value)) return value;
  const digits = Object.is(value, -0) ? '-0' : String(value);
  return rawJSON(digits.includes('e') ? digits : `${digits}.0`);
}

/**
 * A recorded value as JSON, of about so many characters at most, and a text by itself of exactly so many. What is left out is an ellipsis in its place,
 * and `cut` says so. `floats`: those that are whole are told from integers in the text that is made of it.
 */
export function plainJson(
  value: Value,
  stored: StoredValues,
  most: number,
  floats = false,
): { json: Json; cut: boolean } {
  let left = most;
  let cut = false;
  const omit = (): string => {
    cut = true;
    return CUT;
  };
  const text = (told: string): string => {
    const given = told.replace(HALVES, '\ufffd');
    cut ||= given !== told;
    const room = Math.max(0, left);
    const fits = given.length <= room;
    left -= fits ? given.length + 2 : left;
    if (fits) return given;
    cut = true;
    // Not between the halves of one character.
    return given.slice(0, Math.max(0, room - 1)).replace(/[\ud800-\udbff]$/, '') + CUT;
  };
  const each = (item: Value, depth: number): Json => {
    if (left <= 0 || depth > DEEPEST) return omit();
    if (depth > 0) left -= 4;
    const whole = stored.resolve(item);
    return whole instanceof Tagged && whole.tag === 'cut' ? withRest(whole, depth) : shown(item, depth);
  };
  /** What was kept of a value that the recording cut, and an ellipsis where the rest of it was. */
  const withRest = (whole: Tagged, depth: number): Json => {
    const head = stored.resolve(whole.parts[1] ?? null);
    omit();
    if (head === null) return text(`<${textPart(whole, 0, stored)}${CUT}>`);
    return goesOn(each(head, depth));
  };
  const goesOn = (json: Json): Json => {
    if (Array.isArray(json)) return json.at(-1) === CUT ? json : [...json, CUT];
    if (typeof json === 'object') return { ...json, [CUT]: null };
    return typeof json === 'string' && !json.endsWith(CUT) ? json + CUT : json;
  };
  const shown = (item: Value, depth: number): Json => {
    const plain = content(item, stored);
    if (plain === null || typeof plain === 'boolean') return plain;
    if (typeof plain === 'number') return plain;
    if (typeof plain === 'bigint') return text(intText(plain));
    if (plain instanceof Float) {
      if (!Number.isFinite(plain.value)) return floatText(plain.value);
      return floats ? floatJson(plain.value) : plain.value;
    }
    if (plain instanceof Complex) return scalarText(plain) ?? '';
    if (typeof plain === 'string') return text(plain);
    if (plain instanceof Uint8Array) {
      const room = Math.max(0, Math.floor(left * 0.7));
      const base64 = Buffer.from(plain.buffer, plain.byteOffset, Math.min(plain.length, room)).toString('base64');
      return text(base64) + (plain.length > room ? omit() : '');
    }
    if (Array.isArray(plain)) return list(plain, depth);
    if (plain instanceof Tuple || plain instanceof SetValue) return list(plain.items, depth);
    if (plain instanceof Dict || (plain instanceof Tagged && plain.tag === 'object')) return fields(plain, depth);
    return plain instanceof Tagged ? tagged(plain, depth) : '';
  };
  const list = (items: readonly Value[], depth: number): Json[] => {
    const made: Json[] = [];
    for (const item of items) {
      if (left <= 0) {
        made.push(omit());
        break;
      }
      made.push(each(item, depth + 1));
    }
    return made;
  };
  const fields = (value: Dict | Tagged, depth: number): Json => {
    const made: [string, Json][] = [];
    // Names are made for what there is room for.
    for (let from = 0; ; from += 100) {
      const some = children(value, stored, from, 100);
      for (const { name, value: item } of some) {
        if (left <= 0) {
          made.push([omit(), null]);
          return Object.fromEntries(made);
        }
        made.push([text(name), each(item, depth + 1)]);
      }
      if (some.length < 100) return Object.fromEntries(made);
    }
  };
  const tagged = (value: Tagged, depth: number): Json => {
    const part = (index: number): string => textPart(value, index, stored);
    if (value.tag === 'enum') return each(value.parts[2] ?? null, depth + 1);
    if (value.tag === 'time') return each(value.parts[1] ?? null, depth + 1);
    if (value.tag === 'bytearray') return each(value.parts[0] ?? null, depth + 1);
    if (value.tag === 'masked') return '<masked>';
    if (value.tag === 'cycle') {
      omit();
      return '<contains itself>';
    }
    const error = errorValue(value, stored);
    // Where it was raised is told of the call that it ended.
    if (error !== undefined) return each(errorDict({ ...error, stack: [] }), depth + 1);
    const elements = value.tag === 'array' ? arrayValue(value, stored) : null;
    if (elements !== null) {
      if (isWhole(value, stored)) return each(elements, depth + 1);
      omit();
      return goesOn(each(elements, depth + 1));
    }
    if (isLost(value)) omit();
    if (value.tag === 'opaque') return text(opaqueText(value, stored));
    return text(`<${[value.tag, part(0)].filter((word) => word !== '').join(' ')}>`);
  };
  const json = each(value, 0);
  return { json, cut };
}
