/** The least of many items at hand, when only that one ever changes. */
export class Heap<T> {
  constructor(
    private readonly items: T[],
    private readonly before: (one: T, other: T) => boolean,
  ) {
    for (let at = (items.length >> 1) - 1; at >= 0; at--) this.sink(at);
  }

  get least(): T | undefined {
    return this.items[0];
  }

  /** The least item is another now: finds its place. */
  changed(): void {
    this.sink(0);
  }

  /** Takes the least item out. */
  drop(): void {
    const last = this.items.pop();
    if (last === undefined || this.items.length === 0) return;
    this.items[0] = last;
    this.sink(0);
  }

  private sink(from: number): void {
    const { items } = this;
    for (let at = from; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < items.length && this.before(items[child]!, items[least]!)) least = child;
      if (least === at) return;
      [items[at], items[least]] = [items[least]!, items[at]!];
      at = least;
    }
  }
}
