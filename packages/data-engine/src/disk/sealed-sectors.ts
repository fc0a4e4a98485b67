/**
 * Sealed sectors: 512-byte sectors of metadata that each carry 504 bytes of content, a sequence number, and a
 * four-byte checksum bound to the file and the position in it.
 *
 * A disk writes a sector as a whole or not at all. So a block whose sectors are each valid, some from before and some
 * from after an update, was torn by a crash; a block with any other sector is damaged.
 */

import { crc32 } from 'node:zlib';
import { SECTOR_BYTES } from '@holdfast/core/model/bytes.js';

export const SECTOR_CONTENT_BYTES = 504;
const CHECK_AT = 508;
const BLANK = Buffer.alloc(SECTOR_BYTES);

/** The number that a sector was sealed with; `blank` for a sector of zeros. */
export type SectorState = number | 'blank' | 'damaged';

export class SectorSeals {
  private readonly seed: number;

  /** @param identity of the file, so that a misplaced sector of another file is detected */
  constructor(identity: string) {
    this.seed = crc32(identity);
  }

  /** Encodes the content into sectors; the last one is padded with zeros. */
  seal(content: Uint8Array, firstSector: number, sequence: number): Buffer {
    const sectors = Math.ceil(content.length / SECTOR_CONTENT_BYTES);
    const sealed = Buffer.alloc(sectors * SECTOR_BYTES);
    for (let index = 0; index < sectors; index += 1) {
      const from = index * SECTOR_CONTENT_BYTES;
      const sector = sealed.subarray(index * SECTOR_BYTES, (index + 1) * SECTOR_BYTES);
      sector.set(content.subarray(from, from + SECTOR_CONTENT_BYTES));
      sector.writeUInt32LE(sequence, SECTOR_CONTENT_BYTES);
      sector.writeUInt32LE(this.check(sealed, index, firstSector + index), CHECK_AT);
    }
    return sealed;
  }

  /** The state of each sector in the buffer, whose first one has the given number. */
  statesOf(sealed: Buffer, firstSector: number): SectorState[] {
    const states: SectorState[] = [];
    for (let index = 0; (index + 1) * SECTOR_BYTES <= sealed.length; index += 1) {
      states.push(this.stateOf(sealed, index, firstSector + index));
    }
    return states;
  }

  private stateOf(sealed: Buffer, index: number, number: number): SectorState {
    const at = index * SECTOR_BYTES;
    if (sealed.readUInt32LE(at + CHECK_AT) === this.check(sealed, index, number)) {
      return sealed.readUInt32LE(at + SECTOR_CONTENT_BYTES);
    }
    return sealed.subarray(at, at + SECTOR_BYTES).equals(BLANK) ? 'blank' : 'damaged';
  }

  private check(sealed: Buffer, index: number, number: number): number {
    const at = index * SECTOR_BYTES;
    return crc32(sealed.subarray(at, at + CHECK_AT), (this.seed + number) >>> 0);
  }
}

/** Decodes the content of sectors, as much as fits into `content`. */
export function contentOf(sealed: Buffer, content: Uint8Array): void {
  for (let at = 0, sector = 0; at < content.length; at += SECTOR_CONTENT_BYTES, sector += SECTOR_BYTES) {
    const count = Math.min(SECTOR_CONTENT_BYTES, content.length - at);
    content.set(sealed.subarray(sector, sector + count), at);
  }
}
