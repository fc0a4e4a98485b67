import type { Random } from '@holdfast/control/ports/clock.js';

/** One source of chance for a whole run: the same seed replays it. The generator is mulberry32. */
export class SeededRandom implements Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)];
  }

  id(): string {
    const hex = (bits: number) => (this.below(2 ** bits) + 2 ** bits).toString(16).slice(1);
    return `${hex(32)}-${hex(16)}-7${hex(12)}-8${hex(12)}-${hex(16)}${hex(32)}`;
  }

  secret(): string {
    return `secret-${this.id()}`;
  }
}
