/** How far one lane of a layer has been written, for who verifies behind it. */
import { PART_WINDOWS } from './lanes.js';

export class WrittenFrontier {
  /** All windows before it are written. */
  private writtenTo = 0;
  /** The part that the copying is in. */
  private part = 0;
  private waiting: { readonly window: number; readonly resolve: () => void }[] = [];

  /**
   * The copying reaches a window, in order. Checks only at the start of a part: no smaller unit is awaited.
   *
   * @param begun resolves when all copying that has begun so far has ended
   */
  pass(window: number, begun: () => Promise<unknown>): void {
    const part = Math.floor(window / PART_WINDOWS);
    if (part === this.part) return;
    this.part = part;
    void begun().then(() => this.reach(part * PART_WINDOWS));
  }

  /** The copying has ended, well or not. */
  end(): void {
    this.reach(Number.POSITIVE_INFINITY);
  }

  /** Resolves when all windows before this one are written, or the copying has ended. */
  until(window: number): Promise<void> {
    if (window <= this.writtenTo) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push({ window, resolve }));
  }

  private reach(window: number): void {
    this.writtenTo = Math.max(this.writtenTo, window);
    const due = this.waiting.filter((one) => one.window <= this.writtenTo);
    this.waiting = this.waiting.filter((one) => one.window > this.writtenTo);
    for (const { resolve } of due) resolve();
  }
}
