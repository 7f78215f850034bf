import { FrameKind } from '../../../protocol/spool';
import type { Frame, UsualFrames } from './frames';
import type { Kept, MarshalReader } from './marshal';

/** Numbers of a frame, one behind the other. */
const TIME = 0;
const END = 1;
const FROM = 2;
const TO = 3;
const KIND = 4;
const ID = 5;
const OWN_TIME = 6;
/** Of an end: its status. */
const PARENT = 7;
const FUNC = 8;
const TASK = 9;
const NUMBERS = 10;

/** Stands for a frame that is kept as it is. */
const OTHER = -1;
const FEWEST = 32;
/** Room for more frames than this is given back once a segment is quiet. */
const KEPT = 512;

/**
 * Frames of one segment that were read and not given on yet, in their order. Starts and ends are numbers in one long row: an object for each
 * would outlive what V8 takes for short-lived, and cost more than to read the frame.
 */
export class WaitingFrames {
  private numbers = new Float64Array(0);
  /** What each frame lies in. */
  private bytes: Buffer[] = [];
  /** Frames of other kinds by their place, and nothing for what is no frame. */
  private readonly others = new Map<number, Frame | undefined>();
  private first = 0;
  private count = 0;
  private readonly taken: { frame: Frame | undefined; end: number } = { frame: undefined, end: 0 };

  get isEmpty(): boolean {
    return this.first === this.count;
  }

  /** Of the frame that is next; later than any when there is none. */
  get time(): number {
    return this.first < this.count ? this.numbers[this.first * NUMBERS + TIME]! : Infinity;
  }

  /** Of the frame behind all others; earlier than any when there is none. */
  get latest(): number {
    return this.first < this.count ? this.numbers[(this.count - 1) * NUMBERS + TIME]! : -Infinity;
  }

  /** `time`: never before that of the frame before. Its values, if it has some, are in `bytes` from one place up to another; `end` is behind it in the file. */
  add(frame: Frame | undefined, time: number, bytes: Buffer, from: number, to: number, end: number): void {
    const at = this.count * NUMBERS;
    if (at >= this.numbers.length) this.grow();
    const { numbers } = this;
    numbers[at + TIME] = time;
    numbers[at + END] = end;
    numbers[at + FROM] = from;
    numbers[at + TO] = to;
    switch (frame?.kind) {
      case FrameKind.Start:
        numbers[at + KIND] = FrameKind.Start;
        numbers[at + ID] = frame.id;
        numbers[at + OWN_TIME] = frame.time;
        numbers[at + PARENT] = frame.parent;
        numbers[at + FUNC] = frame.func;
        numbers[at + TASK] = frame.task;
        break;
      case FrameKind.End:
        numbers[at + KIND] = FrameKind.End;
        numbers[at + ID] = frame.id;
        numbers[at + OWN_TIME] = frame.time;
        numbers[at + PARENT] = frame.status;
        break;
      default:
        numbers[at + KIND] = OTHER;
        this.others.set(this.count, frame);
    }
    this.bytes[this.count++] = bytes;
  }

  /**
   * Takes the next frame; what it answers is good until the next is taken. Starts and ends are what is in `usual`; the reader of all frames
   * stands before the frame's values.
   */
  take(usual: UsualFrames, reader: MarshalReader, kept: Kept): { frame: Frame | undefined; end: number } {
    const { numbers, taken } = this;
    const at = this.first * NUMBERS;
    reader.turnTo(this.bytes[this.first]!, kept, numbers[at + FROM]!, numbers[at + TO]!);
    taken.end = numbers[at + END]!;
    switch (numbers[at + KIND]) {
      case FrameKind.Start: {
        const { start } = usual;
        start.id = numbers[at + ID]!;
        start.time = numbers[at + OWN_TIME]!;
        start.parent = numbers[at + PARENT]!;
        start.func = numbers[at + FUNC]!;
        start.task = numbers[at + TASK]!;
        taken.frame = start;
        break;
      }
      case FrameKind.End: {
        const { end } = usual;
        end.id = numbers[at + ID]!;
        end.time = numbers[at + OWN_TIME]!;
        end.status = numbers[at + PARENT]!;
        taken.frame = end;
        break;
      }
      default:
        taken.frame = this.others.get(this.first);
    }
    this.first++;
    return taken;
  }

  /** All were taken: the room is used anew. `quiet`: few are to be expected next. */
  clear(quiet: boolean): void {
    this.first = this.count = 0;
    this.bytes = [];
    this.others.clear();
    if (quiet && this.numbers.length > KEPT * NUMBERS) this.numbers = new Float64Array(0);
  }

  private grow(): void {
    const grown = new Float64Array(Math.max(FEWEST * NUMBERS, this.numbers.length * 2));
    grown.set(this.numbers);
    this.numbers = grown;
  }
}
