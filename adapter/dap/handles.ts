/**
 * Numbers for things of a thread, such as frames and values. Equal (thread, key) keep their number until the thread goes on; then the
 * number is never used again.
 */
export class Handles<T> {
  #next = 1;
  readonly #values = new Map<number, { thread: number; key: string; value: T }>();
  readonly #byKey = new Map<string, number>();

  put(thread: number, key: string, value: T): number {
    const whole = `${thread}/${key}`;
    let handle = this.#byKey.get(whole);
    if (handle === undefined) {
      handle = this.#next++;
      this.#byKey.set(whole, handle);
    }
    this.#values.set(handle, { thread, key: whole, value });
    return handle;
  }

  get(handle: number): T | undefined {
    return this.#values.get(handle)?.value;
  }

  /** It was given out, and its thread went on since. */
  isGone(handle: number): boolean {
    return Number.isInteger(handle) && handle > 0 && handle < this.#next && !this.#values.has(handle);
  }

  drop(thread: number): void {
    for (const [handle, known] of this.#values) {
      if (known.thread === thread) {
        this.#values.delete(handle);
        this.#byKey.delete(known.key);
      }
    }
  }
}
