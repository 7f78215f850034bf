/** A typed event source. A listener that throws never stops the others; what it threw goes to `onError`. */
export class Emitter<Events extends { [K in keyof Events]: unknown[] }> {
  private readonly listeners: { [K in keyof Events]?: Set<(...args: Events[K]) => void> } = {};

  constructor(private readonly onError: (error: unknown) => void) {}

  on<K extends keyof Events>(event: K, listener: (...args: Events[K]) => void): Disposable {
    const set = (this.listeners[event] ??= new Set());
    set.add(listener);
    return { dispose: () => void set.delete(listener) };
  }

  emit<K extends keyof Events>(event: K, ...args: Events[K]): void {
    for (const listener of [...(this.listeners[event] ?? [])]) {
      try {
        listener(...args);
      } catch (error) {
        this.onError(error);
      }
    }
  }
}

interface Disposable {
  dispose(): void;
}
