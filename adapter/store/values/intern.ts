import { hash } from 'node:crypto';
import type { TakenValue } from '../chunks/callWriter';
import type { Connection } from '../database';
import type { MarshalReader } from '../spool/marshal';
import { SHARED_SIZE, Sink } from './canonical';

const CODEC_CANONICAL = 1;
/** Names kept in memory, of each kind: about 150 bytes each. */
const REMEMBERED = 200_000;

/** Rows put in by one statement. */
const ROWS = 32;

/** Puts values into the run file: large ones once for each content, small ones without a hash and once as far as memory tells. */
export class ValueTable {
  private readonly sink = new Sink();
  private readonly taken: TakenValue = { row: 0, bytes: this.sink.bytes, length: 0 };
  private readonly sharing = (bytes: Buffer): Buffer => this.share(bytes);
  /** By their SHA-256, as a text of 32 characters. */
  private readonly large = new Memory();
  /** By their own bytes, as a text of so many characters. */
  private readonly small = new Memory();
  private readonly find;
  private readonly many;
  private readonly one;
  private pending: (number | Buffer | null)[] = [];
  /** False as long as every stored value is in memory, so that an unknown one need not be looked up. */
  private partial: boolean;
  private next: number;

  constructor(db: Connection) {
    this.find = db.prepare<[Buffer], number>('SELECT id FROM "values" WHERE cid = ?').pluck();
    const insert = (rows: number): string =>
      `INSERT INTO "values" (id, cid, codec, bytes) VALUES ${new Array<string>(rows).fill('(?, ?, ?, ?)').join()}`;
    this.many = db.prepare(insert(ROWS));
    this.one = db.prepare(insert(1));
    this.next = (db.prepare('SELECT coalesce(max(id), 0) FROM "values"').pluck().get() as number) + 1;
    this.partial = this.next > 1;
  }

  /** Stores the frame's next value; answers its row. */
  take(reader: MarshalReader): number {
    const { row } = this.takeOrKeep(reader);
    return row === 0 ? this.takeSmall() : row;
  }

  /** Stores the frame's next value if it is large; a small one is answered as its bytes, which last until the next is taken. */
  takeOrKeep(reader: MarshalReader): TakenValue {
    const { sink, taken } = this;
    sink.reset();
    reader.transcode(sink, this.sharing);
    taken.row = sink.length < SHARED_SIZE ? 0 : this.row(sink.bytes.subarray(0, sink.length)).id;
    taken.bytes = sink.bytes;
    taken.length = sink.length;
    return taken;
  }

  /** Stores the large parts of the frame's next value, not the value itself. */
  takeParts(reader: MarshalReader): void {
    this.sink.reset();
    reader.transcode(this.sink, this.sharing);
  }

  /** Its own bytes are its name here: to hash it would cost more than to store it again. */
  private takeSmall(): number {
    const name = this.sink.bytes.toString('latin1', 0, this.sink.length);
    const known = this.small.get(name);
    if (known !== undefined) return known;
    const id = this.next++;
    this.put(id, null, Buffer.from(name, 'latin1'));
    this.small.set(name, id);
    return id;
  }

  private put(id: number, cid: Buffer | null, bytes: Buffer): void {
    this.pending.push(id, cid, CODEC_CANONICAL, bytes);
    if (this.pending.length < ROWS * 4) return;
    this.many.run(this.pending);
    this.pending = [];
  }

  /** Writes what is not in the file yet. */
  flush(): void {
    for (let at = 0; at < this.pending.length; at += 4) this.one.run(this.pending.slice(at, at + 4));
    this.pending = [];
  }

  private share(bytes: Buffer): Buffer {
    return Buffer.from(this.row(bytes).name, 'latin1');
  }

  private row(bytes: Buffer): { id: number; name: string } {
    const name = hash('sha256', bytes, 'binary');
    const known = this.large.get(name) ?? this.lookUp(name);
    if (known !== undefined) return { id: known, name };
    const id = this.next++;
    this.put(id, Buffer.from(name, 'latin1'), Buffer.from(bytes));
    this.remember(name, id);
    return { id, name };
  }

  private lookUp(name: string): number | undefined {
    if (!this.partial) return undefined;
    const id = this.find.get(Buffer.from(name, 'latin1'));
    if (id !== undefined) this.remember(name, id);
    return id;
  }

  private remember(name: string, id: number): void {
    if (this.large.set(name, id)) this.partial = true;
  }
}

/** Names and their rows, the latest used for certain: the older half is dropped when the newer one is full. */
class Memory {
  private recent = new Map<string, number>();
  private older = new Map<string, number>();

  get(name: string): number | undefined {
    return this.recent.get(name) ?? this.older.get(name);
  }

  /** Answers whether some were forgotten. */
  set(name: string, id: number): boolean {
    this.recent.set(name, id);
    if (this.recent.size < REMEMBERED / 2) return false;
    const forgotten = this.older.size > 0;
    this.older = this.recent;
    this.recent = new Map();
    return forgotten;
  }
}
