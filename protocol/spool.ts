/**
 * Spool files: what a debuggee process appends while it runs, and the adapter's store follows.
 *
 * One file a thread ("segment"), `<process>-<n>.spool` in the spool folder, preallocated; when it is full the thread opens the next.
 *
 *   file   = magic "TBSPOOL1" (8 bytes) , frame* , zeros
 *   frame  = length u32 LE , crc32 u32 LE (of payload) , payload (length bytes), padded with zeros to a multiple of 4
 *
 * The length is written last, in one aligned store: that is the commit. A zero length means "nothing yet". A wrong checksum at the tail
 * means "not yet" while the process lives and "torn" once it is dead. A length of 0xFFFFFFFF means that nothing will ever follow in this
 * file: a writer stores it when it goes on in another one. A file without it may be used again, by any thread of its process.
 *
 * payload = Python `marshal`, version 2, of one tuple whose first item is a frame kind below.
 *
 * Values inside frames: None, bool, int, float, complex, str, bytes, tuple, list, dict, set and frozenset of exactly these types stand for
 * themselves. Everything else is a tuple whose first item is Ellipsis and whose second is a tag of `Tag`. (An app's own Ellipsis is `(..., "ellipsis")`,
 * so no app value can look like a tag.)
 */
export const SPOOL_MAGIC = 'TBSPOOL1';

/** In the segment frame. 2: `keep` and `same` may occur; a runtime writes them only where the configuration says that they are understood. */
export const SPOOL_VERSION = 2;

export enum FrameKind {
  /** (0, protocol version, process, pid, parent pid, thread id, thread name, wall ns, monotonic ns, info dict) first in every segment. */
  Segment = 0,
  /** (1, function id, kind, name, qualified name, module, path or None, line, end line) */
  Function = 1,
  /** (2, task id, name, parent task id or 0) */
  Task = 2,
  /** (3, call id, parent call id or 0, function id, task id, monotonic ns, arguments dict, attributes dict or None) */
  Start = 3,
  /** (4, call id, monotonic ns, status, result or error value, attributes dict, or None where they are those of the start); status 0 returned, 1 error, 2 cancelled, 3 skipped */
  End = 4,
  /** (5, call id, monotonic ns, "before" or "after", value) the workflow state around a node */
  State = 5,
  /**
   * (6, monotonic ns, name, call id or 0, data dict) name: held, resumed, edited, skipped, again, cancelled, route, log, mark, crash, uncaught, exited.
   * Exited, with a `code` where it is known: the process that began a recording without a session came to its end.
   * An edit of the held call has `args` as they are then, with `boundary`; held and edited after the call have its `result`.
   */
  Event = 6,
  /** (7, task id, name) a task's better name */
  Rename = 7,
}

export enum CallStatus {
  Returned = 0,
  Error = 1,
  Cancelled = 2,
  Skipped = 3,
  /** It ended to wait for a person's answer, which another call gets: its value is what it asks. */
  Interrupted = 5,
}

/**
 * Tags of values that are not plain. `type` is the qualified type name, `reason` a short sentence or None.
 *
 * | tag | tuple |
 * |---|---|
 * | object | (..., "object", type, dict of fields, reason) dataclasses, Pydantic models, messages, named tuples, plain objects: fields read without running code |
 * | opaque | (..., "opaque", type, text, reason) no fields to show: functions, locks, sockets, generators |
 * | cut | (..., "cut", type, kept head, whole length, reason) size, time or depth budget; head is a value of the same shape |
 * | masked | (..., "masked", reason) a secret |
 * | cycle | (..., "cycle", levels up) |
 * | error | (..., "error", type, message, list of (path, line, function), cause or None, dict of fields), and True where the cause is what was handled meanwhile |
 * | enum | (..., "enum", type, name, value) |
 * | time | (..., "time", type, ISO text) datetime, date, time, timedelta in seconds |
 * | array | (..., "array", type, shape, dtype, head) numpy arrays, data frames |
 * | bytearray | (..., "bytearray", bytes) |
 * | subclass | (..., "subclass", type, plain value) a subclass of a builtin type, such as OrderedDict |
 * | ellipsis | (..., "ellipsis") |
 *
 * Two more never reach the run file. They occur in starts, ends and states, and stand for a value:
 *
 * | tag | tuple |
 * |---|---|
 * | keep | (..., "keep", number, value) the value, which may be referred to from here on in the same file. A number has one content for ever, also where it is kept again |
 * | same | (..., "same", number) the value kept under this number earlier in the same file |
 */
export type Tag =
  | 'object'
  | 'opaque'
  | 'cut'
  | 'masked'
  | 'cycle'
  | 'error'
  | 'enum'
  | 'time'
  | 'array'
  | 'bytearray'
  | 'subclass'
  | 'ellipsis';
