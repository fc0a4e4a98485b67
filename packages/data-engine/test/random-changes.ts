/** Random changes of a volume by a user: writes, zeroes and trims. */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import type { BlockModel } from '@holdfast/testkit/block-model.js';
import type { SeededRandom } from '@holdfast/testkit/seeded-random.js';

export type Change = { kind: 'write' | 'zero' | 'trim'; offset: number; bytes: Buffer; fua: boolean };

export class RandomChanges {
  constructor(
    private readonly random: SeededRandom,
    private readonly model: BlockModel,
  ) {}

  /** Up to eight at once, on disjoint blocks: the order of two overlapping ones would be undefined. */
  pick(): Change[] {
    const taken = new Set<number>();
    const changes: Change[] = [];
    const count = 1 + this.random.below(8);
    for (let i = 0; i < count; i += 1) {
      const change = this.pickChange();
      const first = Math.floor(change.offset / BLOCK_BYTES);
      const end = Math.ceil((change.offset + change.bytes.length) / BLOCK_BYTES);
      const blocks = Array.from({ length: end - first }, (_, index) => first + index);
      if (blocks.some((block) => taken.has(block))) continue;
      for (const block of blocks) taken.add(block);
      changes.push(change);
    }
    return changes;
  }

  private pickChange(): Change {
    const kind = this.random.weighted({ write: 7, zero: 2, trim: 2 });
    const { offset, lengthBytes } = this.range(kind !== 'trim');
    const bytes = kind === 'write' ? this.random.bytes(lengthBytes) : Buffer.alloc(lengthBytes);
    return { kind, offset, bytes, fua: this.random.chance(40) };
  }

  /** Mostly in the same few places, where writes meet older ones. */
  range(mayBeUnaligned: boolean): { offset: number; lengthBytes: number } {
    const blocks = this.model.sizeBytes / BLOCK_BYTES;
    const count = 1 + this.random.below(this.random.chance(8) ? 96 : 6);
    const near = Math.min(blocks, 160);
    const first = Math.min(this.random.below(this.random.chance(3) ? blocks : near), blocks - count);
    const whole = { offset: first * BLOCK_BYTES, lengthBytes: count * BLOCK_BYTES };
    if (!mayBeUnaligned || this.random.chance(2)) return whole;
    const before = this.random.below(BLOCK_BYTES);
    const cut = { offset: whole.offset + before, lengthBytes: whole.lengthBytes - before };
    // A partial block can be compared only if the rest of it is known.
    return this.model.isCertain(whole.offset, whole.lengthBytes) ? cut : whole;
  }
}
