/** Which rows of a batch are open: at most `width` works run at once, others wait in line, and one that ends hands its place to the next. */
export class OpenRows {
  readonly width: number;
  /** Works that run now. */
  count = 0;
  readonly #line: (() => void)[] = [];

  constructor(width: number) {
    if (!Number.isInteger(width) || width < 1) throw new RangeError(`width must be a whole number above 0, got ${width}`);
    this.width = width;
  }

  /** Runs `work` in a row of its own; `onEnd` is called each time a row was left. */
  async run<T>(work: () => Promise<T>, onEnd: () => void): Promise<T> {
    const isFree = this.count < this.width;
    if (isFree) this.count += 1;
    // a turn later even where there is room: works that were given at once are then all counted before the first of them asks for anything
    await (isFree ? Promise.resolve() : new Promise<void>((resolve) => this.#line.push(resolve)));
    try {
      return await work();
    } finally {
      const next = this.#line.shift();
      if (next === undefined) this.count -= 1;
      else next();
      onEnd();
    }
  }
}
