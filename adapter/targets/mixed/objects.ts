import type { Layout } from './layout';
import type { ProcessMemory } from './memory';

const TYPE = 8;
const TYPE_NAME = 24;
const TYPE_BASIC_SIZE = 32;
const TYPE_FLAGS = 168;
const TYPE_DICT = 264;
const TYPE_DICT_OFFSET = 288;
const TYPE_MRO = 344;
const SIZE = 16;
const TUPLE_ITEMS = 24;
const DICT_USED = 16;
const DICT_KEYS = 32;
const DICT_VALUES = 40;
/** Flag of a type whose instances keep their attributes in front of, or behind, themselves. */
const MANAGED_DICT = 1 << 4;
/** `PyMemberDescrObject.d_member`, and the offset in what it points to. */
const MEMBER = 40;
const MEMBER_OFFSET = 16;
const MOST_ENTRIES = 4096;
const LETTERS = 30;

/** Python objects of a process that stands still, read from its memory: nothing runs in it. Whatever makes no sense throws. */
export class Objects {
  readonly #slots = new Map<string, number | undefined>();
  readonly #names = new Map<number, string>();

  constructor(
    readonly memory: ProcessMemory,
    readonly layout: Layout,
  ) {}

  typeOf(object: number): string {
    const type = this.memory.pointer(object + TYPE);
    let name = this.#names.get(type);
    if (name === undefined) {
      name = this.memory.text(this.memory.pointer(type + TYPE_NAME));
      this.#names.set(type, name);
    }
    return name;
  }

  text(object: number, most = 100_000): string {
    const { memory, layout } = this;
    const state = memory.byte(object + 32);
    const kind = (state >> 2) & 7;
    if (((state >> 5) & 1) === 0) throw new Error('not a compact text');
    const length = Math.min(memory.pointer(object + SIZE), most);
    const start = object + ((state >> 6) & 1 ? layout.ascii : layout.compact);
    const bytes = memory.bytes(start, length * kind);
    if (kind === 1) return bytes.toString('latin1');
    if (kind === 2) return bytes.toString('utf16le');
    let made = '';
    for (let at = 0; at < bytes.length; at += 4) made += String.fromCodePoint(bytes.readUInt32LE(at));
    return made;
  }

  integer(object: number): bigint {
    const { memory } = this;
    const tagged = this.layout.attributes === 'tagged' || this.layout.attributes === 'inline';
    const head = memory.signed(object + SIZE);
    const count = tagged ? head >> 3 : Math.abs(head);
    const negative = tagged ? (head & 3) === 2 : head < 0;
    let value = 0n;
    for (let digit = Math.min(count, 1000) - 1; digit >= 0; digit--) {
      value = (value << 30n) + BigInt(memory.int32(object + 24 + digit * 4));
    }
    return negative ? -value : value;
  }

  tuple(object: number): number[] {
    const count = Math.min(this.memory.pointer(object + SIZE), MOST_ENTRIES);
    return Array.from({ length: count }, (_, index) => this.memory.pointer(object + TUPLE_ITEMS + index * 8));
  }

  /** Keys and values of a dictionary, in its order. */
  entries(object: number): [key: number, value: number][] {
    const values = this.memory.pointer(object + DICT_VALUES);
    const inside = this.layout.attributes === 'inline' ? 8 : 0;
    return this.#keyed(this.memory.pointer(object + DICT_KEYS), values === 0 ? undefined : values + inside);
  }

  /** An attribute of an instance, as it is stored: no property and no `__getattr__` runs. */
  attribute(object: number, name: string): number | undefined {
    const type = this.memory.pointer(object + TYPE);
    const slot = this.#slot(type, name);
    if (slot !== undefined) {
      const value = this.memory.pointer(object + slot);
      return value === 0 ? undefined : value;
    }
    return this.#instance(object, type).find(([key]) => this.#isText(key, name))?.[1] ?? this.#ofClass(type, name);
  }

  /** A value in a few letters, as it would be written in Python. */
  short(object: number): string {
    const type = this.typeOf(object);
    switch (type) {
      case 'NoneType':
        return 'None';
      case 'bool':
        return this.integer(object) === 0n ? 'False' : 'True';
      case 'int':
        return this.integer(object).toString();
      case 'float': {
        const value = this.memory.double(object + 16);
        return Number.isInteger(value) ? `${value}.0` : String(value);
      }
      case 'str':
        return cut(quoted(this.text(object, LETTERS * 8)));
      case 'bytes':
        return cut(
          `b${quoted(this.memory.bytes(object + 32, Math.min(this.memory.pointer(object + SIZE), LETTERS * 2)).toString('latin1'))}`,
        );
      case 'list':
      case 'tuple':
        return `${type} (${this.memory.pointer(object + SIZE)})`;
      case 'dict':
        return `dict (${this.memory.pointer(object + DICT_USED)})`;
      case 'set':
      case 'frozenset':
        return `${type} (${this.memory.pointer(object + 24)})`;
      default:
        return type.split('.').pop() ?? type;
    }
  }

  #isText(object: number, text: string): boolean {
    return object !== 0 && this.typeOf(object) === 'str' && this.text(object) === text;
  }

  /** Where instances of this type keep what a `__slots__` names. */
  #slot(type: number, name: string): number | undefined {
    const key = `${type} ${name}`;
    if (!this.#slots.has(key)) {
      const found = this.#ofClass(type, name);
      const isSlot = found !== undefined && this.typeOf(found) === 'member_descriptor';
      this.#slots.set(
        key,
        isSlot ? this.memory.pointer(this.memory.pointer(found + MEMBER) + MEMBER_OFFSET) : undefined,
      );
    }
    return this.#slots.get(key);
  }

  #ofClass(type: number, name: string): number | undefined {
    for (const one of this.tuple(this.memory.pointer(type + TYPE_MRO))) {
      const dict = this.memory.pointer(one + TYPE_DICT);
      const found = dict === 0 ? undefined : this.entries(dict).find(([key]) => this.#isText(key, name));
      if (found !== undefined) return found[1];
    }
    return undefined;
  }

  #instance(object: number, type: number): [number, number][] {
    const { memory, layout } = this;
    const dictOf = (place: number): [number, number][] => {
      const dict = memory.pointer(place);
      return dict === 0 ? [] : this.entries(dict);
    };
    if (layout.attributes === 'dict' || (memory.pointer(type + TYPE_FLAGS) & MANAGED_DICT) === 0) {
      const offset = memory.signed(type + TYPE_DICT_OFFSET);
      return offset > 0 ? dictOf(object + offset) : [];
    }
    const keys = memory.pointer(type + layout.typeCachedKeys);
    if (layout.attributes === 'pointer') {
      const values = memory.pointer(object - 32);
      return values === 0 ? dictOf(object - 24) : this.#keyed(keys, values);
    }
    if (layout.attributes === 'tagged') {
      const values = memory.pointer(object - 24);
      return values % 2 === 1 ? this.#keyed(keys, values + 1) : dictOf(object - 24);
    }
    const values = object + memory.pointer(type + TYPE_BASIC_SIZE);
    return keys !== 0 && memory.byte(values + 3) === 1 ? this.#keyed(keys, values + 8) : dictOf(object - 24);
  }

  /** The entries of a table of keys; `values` where they lie apart. */
  #keyed(keys: number, values: number | undefined): [number, number][] {
    const { memory } = this;
    let count: number;
    let start: number;
    let stride = 24;
    if (this.layout.attributes === 'dict') {
      const size = memory.pointer(keys + 8);
      count = memory.pointer(keys + 32);
      start = keys + 40 + size * (size <= 0xff ? 1 : size <= 0xffff ? 2 : size <= 0xffffffff ? 4 : 8);
    } else {
      count = memory.pointer(keys + 24);
      start = keys + 32 + 2 ** memory.byte(keys + 9);
      // A general table keeps the hash of each key, too.
      if (memory.byte(keys + 10) !== 0) stride = 16;
    }
    const found: [number, number][] = [];
    const table = memory.bytes(start, Math.min(count, MOST_ENTRIES) * stride);
    const at = (offset: number): number => Number(table.readBigUInt64LE(offset));
    for (let index = 0; index * stride < table.length; index++) {
      const key = at(index * stride + stride - 16);
      const value = values === undefined ? at(index * stride + stride - 8) : memory.pointer(values + index * 8);
      if (key !== 0 && value !== 0) found.push([key, value]);
    }
    return found;
  }
}

function quoted(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return escaped.includes("'") && !escaped.includes('"') ? `"${escaped}"` : `'${escaped.replaceAll("'", "\\'")}'`;
}

function cut(text: string): string {
  return text.length <= LETTERS ? text : `${text.slice(0, (LETTERS * 2) / 3)}…${text.slice(-LETTERS / 3)}`;
}
