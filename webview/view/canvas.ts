/** A canvas that is as sharp as the screen, and is drawn once a frame at most, only when something changed. */
export class SharpCanvas {
  readonly context: CanvasRenderingContext2D;
  width = 0;
  height = 0;
  private frame = 0;
  private readonly observer: ResizeObserver;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly draw: () => void,
    resized: () => void = () => undefined,
  ) {
    const context = canvas.getContext('2d', { alpha: false });
    if (!context) throw new Error('This browser cannot draw on a canvas.');
    this.context = context;
    this.observer = new ResizeObserver(() => {
      if (this.measure()) {
        resized();
        // At once: a resized canvas is blank until it is drawn.
        this.paint();
      }
    });
    this.observer.observe(canvas);
    this.measure();
  }

  dirty(): void {
    this.frame ||= requestAnimationFrame(() => this.paint());
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
  }

  private paint(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (this.width === 0 || this.height === 0) return;
    const ratio = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(this.width * ratio)) this.measure();
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.draw();
  }

  private measure(): boolean {
    const { width, height } = this.canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    const pixels = [Math.round(width * ratio), Math.round(height * ratio)] as const;
    const changed = this.canvas.width !== pixels[0] || this.canvas.height !== pixels[1];
    this.width = width;
    this.height = height;
    if (changed) [this.canvas.width, this.canvas.height] = pixels;
    return changed;
  }
}
