/** A number for each place from 0 on. The first place with a small one is found in a few steps, however many places there are. */
export class Places {
  private size = 64;
  private least: Float64Array;

  /** `none`: the number of every place that was not set. */
  constructor(private readonly none: number) {
    this.least = new Float64Array(this.size * 2).fill(none);
  }

  set(place: number, number: number): void {
    while (place >= this.size) this.grow();
    const { least } = this;
    let node = this.size + place;
    least[node] = number;
    for (node >>= 1; node > 0; node >>= 1) {
      const below = Math.min(least[node * 2]!, least[node * 2 + 1]!);
      if (least[node] === below) return;
      least[node] = below;
    }
  }

  /** The first place from this one on with a number of at most `most`. */
  first(from: number, most: number): number | undefined {
    const { least, size } = this;
    for (let node = size + from; from < size && node > 0;) {
      if (least[node]! <= most) {
        while (node < size) node = least[node * 2]! <= most ? node * 2 : node * 2 + 1;
        return node - size;
      }
      // Behind what is under this one.
      while (node % 2 === 1) node >>= 1;
      if (node > 0) node++;
    }
    return this.none <= most ? Math.max(from, size) : undefined;
  }

  private grow(): void {
    const { least: before, size } = this;
    this.size *= 2;
    this.least = new Float64Array(this.size * 2).fill(this.none);
    this.least.set(before.subarray(size), this.size);
    for (let node = this.size - 1; node > 0; node--)
      this.least[node] = Math.min(this.least[node * 2]!, this.least[node * 2 + 1]!);
  }
}
