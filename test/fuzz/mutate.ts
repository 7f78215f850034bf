import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The same for everybody, unless another is asked for: what a change broke is told from what nobody had tried before. */
const ASKED = process.env['TOOLBREAK_FUZZ_SEED'] ?? '1';
const SEED = ASKED === 'random' ? Date.now() % 1_000_000 : Number(ASKED);
const FACTOR = Number(process.env['TOOLBREAK_FUZZ_RUNS'] ?? 1000) / 1000;
const FOUND = join(__dirname, '..', '..', 'artifacts', 'fuzz');

/** Small and seeded, so that a failure can be had again. */
export class Chance {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!;
  }
}

/**
 * Tries so many times (a thousandth of it for each of `TOOLBREAK_FUZZ_RUNS`). `attempt` says with `about` what it tries; a failure leaves that in a
 * file and says how to have it again.
 */
export async function tries(
  times: number,
  attempt: (chance: Chance, about: (input: Buffer) => void) => void | Promise<void>,
): Promise<void> {
  for (let index = 0; index < Math.ceil(times * FACTOR); index++) {
    let input: Buffer = Buffer.alloc(0);
    try {
      await attempt(new Chance(SEED + index * 7919), (given) => (input = given));
    } catch (error) {
      mkdirSync(FOUND, { recursive: true });
      const path = join(FOUND, `${SEED}-${index}`);
      writeFileSync(path, input);
      const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
      throw new Error(`TOOLBREAK_FUZZ_SEED=${SEED}, number ${index}, input in ${path}: ${what}`);
    }
  }
}

const WORDS = [0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];

/** One to eight changes: bits, bytes, words that lengths are made of, pieces cut out, doubled or moved, a cut end. Answers where the first is. */
export function mutate(bytes: Buffer, chance: Chance): { bytes: Buffer; first: number } {
  let changed = Buffer.from(bytes);
  let first = Infinity;
  for (let count = 1 + chance.below(chance.one([1, 1, 3, 8])); count > 0 && changed.length > 0; count--) {
    const at = chance.below(changed.length);
    const length = Math.min(changed.length - at, 1 + chance.below(chance.one([4, 16, 400])));
    first = Math.min(first, at);
    switch (chance.below(9)) {
      case 0:
        changed[at]! ^= 1 << chance.below(8);
        break;
      case 1:
        changed[at] = chance.one(WORDS) & 0xff;
        break;
      case 2:
        if (at + 4 <= changed.length) changed.writeUInt32LE(chance.one(WORDS), at);
        break;
      case 3:
        if (at + 4 <= changed.length) changed.writeUInt32BE(chance.one(WORDS), at);
        break;
      case 4:
        changed = Buffer.concat([changed.subarray(0, at), changed.subarray(at + length)]);
        break;
      case 5:
        changed = Buffer.concat([changed.subarray(0, at + length), changed.subarray(at)]);
        break;
      case 6: {
        const from = chance.below(changed.length);
        changed.copyWithin(at, from, from + length);
        break;
      }
      case 7:
        for (let index = at; index < at + length; index++) changed[index] = chance.below(256);
        break;
      default:
        if (chance.below(4) === 0) changed = changed.subarray(0, at);
        else changed.fill(0, at, at + length);
    }
  }
  return { bytes: changed, first: Math.min(first, bytes.length) };
}

const STRANGE: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  -(2 ** 63),
  '',
  '0',
  '-1',
  '9'.repeat(40),
  '18446744073709551615',
  'NaN',
  '\u0000',
  '\ud800',
  '\u001b[2J\u0007\r\n',
  '<img src=x onerror=alert(1)>',
  "'; DROP TABLE runs; --",
  '../../../../etc/passwd',
  '__proto__',
  'x'.repeat(5000),
  [],
  {},
  [[]],
  { key: null },
  { stringValue: 7 },
  { intValue: '1'.repeat(400) },
  { arrayValue: { values: [{ kvlistValue: { values: [{ key: 'a' }] } }] } },
  { bytesValue: '====' },
];

/** A JSON value with one to four of its parts put in place of others, doubled, taken out or put somewhere deep. */
export function mutateJson(given: unknown, chance: Chance): unknown {
  const whole = { top: structuredClone(given) };
  for (let count = 1 + chance.below(4); count > 0; count--) {
    const places: [Record<string, unknown>, string][] = [];
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const key of Object.keys(value)) {
        places.push([value as Record<string, unknown>, key]);
        walk((value as Record<string, unknown>)[key]);
      }
    };
    walk(whole);
    if (places.length === 0) break;
    const [holder, key] = chance.one(places);
    const other = chance.one(places);
    switch (chance.below(6)) {
      case 0:
        delete holder[key];
        break;
      case 1:
        holder[key] = structuredClone(other[0][other[1]]);
        break;
      case 2:
        if (Array.isArray(holder)) holder.push(structuredClone(holder[Number(key)]));
        else holder[String(chance.one(STRANGE))] = holder[key];
        break;
      case 3: {
        let deep = holder[key];
        const depth = chance.one([10, 100, 300]);
        const wrap = chance.below(3);
        for (let level = 0; level < depth; level++)
          deep = wrap === 0 ? [deep] : wrap === 1 ? { a: deep } : { arrayValue: { values: [deep] } };
        holder[key] = deep;
        break;
      }
      default:
        holder[key] = structuredClone(chance.one(STRANGE));
    }
  }
  return whole.top;
}
