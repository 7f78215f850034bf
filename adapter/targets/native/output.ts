type Category = 'stdout' | 'stderr';

/** While a program prints without pause, what it prints in this time is told together. */
const TOGETHER_MS = 10;
/** No more than this waits. */
const MOST_WAITING = 64 * 1024;

/**
 * What a program prints, on its way: at once where it is little, in larger pieces where it is much. A delegate tells of every line, and a flood
 * of small messages would stand before the stop that a person waits for.
 */
export class Output {
  #waiting: { category: Category; text: string }[] = [];
  #size = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly tell: (category: Category, text: string) => void) {}

  push(category: Category, text: string): void {
    if (this.#timer === undefined) {
      this.tell(category, text);
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.flush();
      }, TOGETHER_MS).unref();
      return;
    }
    const last = this.#waiting.at(-1);
    if (last?.category === category) last.text += text;
    else this.#waiting.push({ category, text });
    this.#size += text.length;
    if (this.#size >= MOST_WAITING) this.flush();
  }

  /** Tells what waits: before anything else that is told of the program. */
  flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#size = 0;
    for (const { category, text } of waiting) this.tell(category, text);
  }
}
