import { hash } from 'node:crypto';
import { UserError } from '../../common/errors';
import type { CallReader } from '../chunks/callReader';
import { isDamage, type Connection } from '../database';
import { decodeCanonical, decodeHead, type Head } from '../values/canonical';
import { DecodeError, Dict, Ref, SetValue, Tagged, type Value } from '../values/model';

/** Decoded values kept, in stored bytes. */
const CACHE_BYTES = 16 * 1024 * 1024;

/** Of a value that is told in a line. */
const HEAD_BYTES = 1024;
const MOST_GLIMPSES = 10_000;

const DAMAGED = 'cannot be read (the file is damaged)';
/** What is shown in the place of what cannot be read. */
const LOST = '(damaged)';

/** Whether this stands in the place of a value that cannot be read. */
export function isLost(value: Value): boolean {
  return value instanceof Tagged && value.tag === 'opaque' && value.parts[0] === '' && value.parts[1] === LOST;
}

/** Reads values of one run file. A part that is stored on its own is fetched when somebody looks at it. */
export class StoredValues {
  private readonly byId;
  private readonly byName;
  private readonly cache = new Map<string, { value: Value; size: number; lost: boolean }>();
  private readonly byHead;
  private readonly glimpses = new Map<string, Head>();
  private cached = 0;
  /** How often something was asked for that is not there or cannot be read; what stands in its place says so. */
  lost = 0;
  private readonly made = new WeakMap<Tagged, Value>();

  constructor(
    db: Connection,
    private readonly calls: CallReader,
  ) {
    this.byId = db.prepare<[bigint], { cid: Buffer | null; bytes: Buffer }>(
      'SELECT cid, bytes FROM "values" WHERE id = ?',
    );
    this.byHead = db.prepare<[number, Buffer], { size: number; head: Buffer }>(
      'SELECT length(bytes) AS size, substr(bytes, 1, ?) AS head FROM "values" WHERE cid = ?',
    );
    this.byName = db.prepare<[Buffer], { cid: Buffer; bytes: Buffer }>('SELECT cid, bytes FROM "values" WHERE cid = ?');
  }

  root(id: number): Value {
    if (!Number.isSafeInteger(id) || id === 0) throw new UserError('There is no such value in this run.');
    if (id < 0) {
      const bytes = this.calls.bytes(id);
      if (bytes === undefined) throw new UserError('There is no such value in this run.');
      return this.decode({ cid: null, bytes });
    }
    const row = this.ask(() => this.byId.get(BigInt(id)));
    if (row === 'damaged') return this.loss(DAMAGED);
    if (row === undefined) throw new UserError('There is no such value in this run.');
    return this.decode(row);
  }

  /** The value itself, where only its name stands; a dict or a set, where its members stand in a list since they are no plain values. */
  resolve(value: Value): Value {
    const found = this.content(value);
    return found instanceof Tagged && found.tag === 'subclass' ? this.ofObjects(found) : found;
  }

  private content(value: Value): Value {
    if (!(value instanceof Ref)) return value;
    const key = value.cid.toString('latin1');
    const known = this.cache.get(key);
    if (known !== undefined) {
      if (known.lost) this.lost++;
      return known.value;
    }
    const row = this.ask(() => this.byName.get(value.cid));
    if (row === 'damaged') return this.loss(DAMAGED);
    return row === undefined ? this.loss('is not in the run file') : this.decode(row);
  }

  /**
   * A part that is stored on its own, as far as a line needs it: itself where it is small, else what its first bytes tell. Nothing where that is
   * nothing; whoever opens it is told why.
   */
  glimpse({ cid }: Ref): { value: Value } | Head | undefined {
    const key = cid.toString('latin1');
    const known = this.cache.get(key) ?? this.glimpses.get(key);
    if (known !== undefined) return known;
    const row = this.ask(() => this.byHead.get(HEAD_BYTES, cid));
    if (row === 'damaged' || row === undefined) return undefined;
    if (row.size === row.head.length) return { value: this.decode({ cid, bytes: row.head }) };
    const head = decodeHead(row.head);
    if (this.glimpses.size >= MOST_GLIMPSES) this.glimpses.clear();
    if (head !== undefined) this.glimpses.set(key, head);
    return head;
  }

  /** A page of the file may be damaged: what stands on others can be read all the same. */
  private ask<T>(read: () => T): T | 'damaged' {
    try {
      return read();
    } catch (error) {
      if (isDamage(error)) return 'damaged';
      throw error;
    }
  }

  private loss(reason: string): Value {
    this.lost++;
    return new Tagged('opaque', ['', LOST, `this part ${reason}`]);
  }

  private ofObjects(value: Tagged): Value {
    const [type] = value.parts;
    if (type !== 'dict' && type !== 'set' && type !== 'frozenset') return value;
    const known = this.made.get(value);
    if (known !== undefined) return known;
    // Its list stands there itself: nothing is to be gone through level by level, however deep a file says that it is.
    const items = this.content(value.parts[1] ?? null);
    if (!Array.isArray(items)) return value;
    let made: Value = value;
    if (type === 'dict') {
      const pairs = items.map((item) => this.content(item));
      if (pairs.every((pair) => Array.isArray(pair) && pair.length === 2)) made = new Dict(pairs as [Value, Value][]);
    } else made = new SetValue(items, type === 'frozenset');
    this.made.set(value, made);
    return made;
  }

  private decode(row: { cid: Buffer | null; bytes: Buffer }): Value {
    let value: Value;
    let isLost = false;
    try {
      if (row.cid !== null && hash('sha256', row.bytes, 'binary') !== row.cid.toString('latin1'))
        throw new DecodeError('its content is not what its name says');
      value = decodeCanonical(row.bytes);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      value = this.loss(`cannot be read (${error.message})`);
      isLost = true;
    }
    if (row.cid === null) return value;
    this.cache.set(row.cid.toString('latin1'), { value, size: row.bytes.length, lost: isLost });
    this.cached += row.bytes.length;
    for (const [key, old] of this.cache) {
      if (this.cached <= CACHE_BYTES) break;
      this.cache.delete(key);
      this.cached -= old.size;
    }
    return value;
  }
}
