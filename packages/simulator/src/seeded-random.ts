import type { Random } from '@holdfast/control/ports/clock.js';
import { SeededGenerator } from '@holdfast/core/model/seeded-generator.js';

/** One source of chance for a whole simulation: the same seed replays it. */
export class SeededRandom extends SeededGenerator implements Random {
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
