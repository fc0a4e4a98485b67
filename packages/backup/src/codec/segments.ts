/** Maps of backups: for each block of the volume its content id, in segments of 1,024. An id of zeros stands for a block that reads as zeros. */
import { ID_BYTES, SEGMENT_BLOCKS } from '../model/format.js';

export const HOLE = Buffer.alloc(ID_BYTES);
export const HOLE_SEGMENT = '0'.repeat(2 * ID_BYTES);

export const isHole = (id: Uint8Array): boolean => HOLE.equals(id);

export const blocksOf = (sizeBytes: number, blockBytes: number): number => Math.ceil(sizeBytes / blockBytes);

export const segmentsOf = (blocks: number): number => Math.ceil(blocks / SEGMENT_BLOCKS);

/** Block count of one segment: the last one may be shorter. */
export function blocksIn(segment: number, blocks: number): number {
  return Math.min(SEGMENT_BLOCKS, blocks - segment * SEGMENT_BLOCKS);
}

/** A whole map in memory, 32 bytes for each block: 32 MiB for a volume of 1 TiB. */
export class BlockMap {
  private readonly ids: Buffer;

  constructor(readonly blocks: number) {
    this.ids = Buffer.alloc(blocks * ID_BYTES);
  }

  idOf(block: number): Buffer {
    return this.ids.subarray(block * ID_BYTES, (block + 1) * ID_BYTES);
  }

  set(block: number, id: Uint8Array): void {
    this.ids.set(id, block * ID_BYTES);
  }

  isHole(block: number): boolean {
    return isHole(this.idOf(block));
  }

  /** Bytes of a segment, as it is stored. */
  segment(segment: number): Buffer {
    const begin = segment * SEGMENT_BLOCKS * ID_BYTES;
    return this.ids.subarray(begin, begin + blocksIn(segment, this.blocks) * ID_BYTES);
  }

  setSegment(segment: number, bytes: Uint8Array): void {
    this.ids.set(bytes, segment * SEGMENT_BLOCKS * ID_BYTES);
  }
}
