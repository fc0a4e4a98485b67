import { SeededGenerator } from '@holdfast/core/model/seeded-generator.js';

/** Unit that a disk writes atomically. */
const SECTOR_BYTES = 512;

/** The choices of a test run: the same seed makes the same ones. */
export class SeededRandom extends SeededGenerator {
  chance(oneIn: number): boolean {
    return this.below(oneIn) === 0;
  }

  pick<T>(from: readonly T[]): T {
    const found = from[this.below(from.length)];
    if (found === undefined) throw new Error('nothing to pick from');
    return found;
  }

  /** Picks by weight, so that rare operations stay rare. */
  weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
    // The cast: the keys of a record of T are T.
    const entries = Object.entries(weights) as [T, number][];
    let at = this.below(entries.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [name, weight] of entries) {
      at -= weight;
      if (at < 0) return name;
    }
    throw new Error('weights must be whole numbers');
  }

  /** Bytes that differ from those of any other call, sector by sector, and from each other's. Cheap. */
  bytes(lengthBytes: number): Buffer {
    const stamp = Buffer.alloc(8);
    stamp.writeUInt32LE(this.below(2 ** 32), 0);
    stamp.writeUInt32LE(this.below(2 ** 32), 4);
    const bytes = Buffer.allocUnsafe(lengthBytes).fill(stamp);
    for (let at = 0; at + 4 <= lengthBytes; at += SECTOR_BYTES) bytes.writeUInt32LE(at + 1, at);
    return bytes;
  }
}
