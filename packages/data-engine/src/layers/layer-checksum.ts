/**
 * Checksum of a frozen layer: BLAKE3 over the positions and hashes of its non-empty windows, in order. Equal layers
 * have equal checksums. Both sides of a rebuild hash all windows anyway, and so get it for free.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { Blake3Hasher } from '@napi-rs/blake-hash';
import type { LayerChecksum } from '../protocol/layers.js';
import type { WindowHashes } from '../protocol/pull.js';
import type { Layer } from './layer.js';
import type { RangeSums } from './range-sums.js';

export class LayerChecksumHasher {
  private readonly hasher = new Blake3Hasher();
  private readonly number = Buffer.alloc(8);

  /** @param window larger than those before */
  add(window: number, hash: string): void {
    this.number.writeBigUInt64BE(BigInt(window));
    this.hasher.update(this.number);
    this.hasher.update(Buffer.from(hash, 'hex'));
  }

  digest(): string {
    return this.hasher.digest('hex');
  }
}

export function checksumNow(layer: Layer, value: string, changeTime: string): LayerChecksum {
  return {
    algorithm: 'blake3',
    value,
    heldBytes: layer.map.heldBlocks * BLOCK_BYTES,
    changeTime,
    hashedAt: new Date().toISOString(),
  };
}

/**
 * Trail of window hashes: combines the answers to a rebuild's queries; once they cover a whole layer, they give its
 * checksum.
 */
export class HashTrail {
  private readonly hasher = new LayerChecksumHasher();
  /** The first window that no answer has covered yet. */
  private next: number | null = 0;

  constructor(
    private readonly layer: Layer,
    private readonly changeTime: string,
    /** The range checksums, filled in by the reader of the windows; `undefined` if none are kept. */
    readonly sums: RangeSums | undefined,
  ) {}

  static async begin(layer: Layer, sums: RangeSums | undefined): Promise<HashTrail> {
    return new HashTrail(layer, await layer.changeTime(), sums);
  }

  /** False if an answer that begins there would leave a gap: the trail could never be completed. */
  goesOnAt(firstWindow: number): boolean {
    return this.next !== null && firstWindow <= this.next;
  }

  /** @returns the checksum when this answer was the last one, and the files have not changed since the first */
  async note(firstWindow: number, { hashes, next }: WindowHashes): Promise<LayerChecksum | undefined> {
    // A repeated query, or a gap: several sources share the layer, and none of them sees all of it.
    if (this.next === null || firstWindow > this.next) return undefined;
    for (const [window, hash] of hashes) if (window >= this.next) this.hasher.add(window, hash);
    this.next = next;
    if (next !== null || (await this.layer.changeTime()) !== this.changeTime) return undefined;
    return checksumNow(this.layer, this.hasher.digest(), this.changeTime);
  }
}
