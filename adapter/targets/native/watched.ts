import type { MemoryAccess } from '../../../protocol/control';
import { maskedValue } from './masked';

/** Longer values are cut where a stop is told. */
const LONGEST = 60;

interface Watched {
  name: string;
  type: string | undefined;
  /** As it was when it was last looked at. */
  value?: string;
}

/** Names and values of watched memory: a stop is to say which variable changed, from what to what. */
export class WatchedValues {
  readonly #known = new Map<string, Watched>();

  constructor(private readonly evaluate: (expression: string) => Promise<string>) {}

  /** Somebody asked how this could be watched. The same memory may be another variable than it was, in another call. */
  name(data: string, name: string, type: string | undefined): void {
    const known = this.#known.get(data);
    if (known?.name === name && (type === undefined || known.type === type)) return;
    this.#known.set(data, { name, type });
  }

  /** Only these are watched: what others were is not known any more. */
  keep(datas: readonly string[]): void {
    for (const [data, one] of this.#known) if (!datas.includes(data)) delete one.value;
  }

  /** The values of these from here on. */
  async look(datas: readonly string[]): Promise<void> {
    for (const data of datas) {
      const one = this.#known.get(data);
      const value = one && one.value === undefined ? await this.#value(data, one) : undefined;
      if (one && value !== undefined) one.value = value;
    }
  }

  /** `sum changed from 3 to 6`: a sentence of what happened to it. Looks at its value. */
  async happened(data: string, access: MemoryAccess): Promise<string> {
    const one = this.#known.get(data);
    const name = one?.name ?? `memory at 0x${data.replace(/\/.*$/, '').toLowerCase()}`;
    const before = one?.value;
    const value = await this.#value(data, one);
    if (one && value !== undefined) one.value = value;
    if (value === undefined) return `${name} was ${access === 'read' ? 'read' : 'used'}`;
    const said = shown(name, value);
    if (before !== undefined && before !== value) return `${name} changed from ${shown(name, before)} to ${said}`;
    if (access === 'read') return `${name} was read: ${said}`;
    if (access === 'readWrite') return `${name} was read or written: ${said}`;
    return before === undefined ? `${name} changed to ${said}` : `${name} was written, and is still ${said}`;
  }

  /** By its address: its name means something else in other frames. */
  async #value(data: string, one: Watched | undefined): Promise<string | undefined> {
    const [, address, size = '8'] = /^(?:0x)?([0-9a-fA-F]+)(?:\/(\d+))?$/.exec(data) ?? [];
    if (address === undefined) return undefined;
    const number = { 1: 'signed char', 2: 'short', 4: 'int', 8: 'long long' }[size];
    for (const type of [one?.type, number]) {
      if (type === undefined) continue;
      try {
        return await this.evaluate(`*(${type} *)0x${address}`);
      } catch {
        // A type that no expression can name; its bytes as a number say something, too.
      }
    }
    return undefined;
  }
}

function shown(name: string, value: string): string {
  const masked = maskedValue(name, value);
  return masked.length > LONGEST ? `${masked.slice(0, LONGEST)}…` : masked;
}
