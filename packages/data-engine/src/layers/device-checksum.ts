/**
 * Checksum of a whole device as a client would read it.
 *
 * It is BLAKE3 over the BLAKE3 hashes (32 bytes each) of the device's consecutive pieces of 4 MiB, the last one
 * shorter. A plain BLAKE3 would have to be fed every zero of a thin device, five minutes for 1 TiB; here the hash of
 * an empty piece is known beforehand, so only written pieces are read. Layers, and holes that are written zeros, make
 * no difference: equal bytes have equal checksums.
 */

import { WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { Blake3Hasher } from '@napi-rs/blake-hash';
import { blake3Of } from '../base/blake3.js';
import { contiguous } from '../nbd/export.js';
import type { Chain } from './chain.js';

export const PIECE_BYTES = WINDOW_BYTES;

export interface ChecksumSource {
  readonly sizeBytes: number;
  readonly device: Chain;
}

/** @param pace resolves when that many bytes may be read */
export async function deviceChecksum(
  { sizeBytes, device }: ChecksumSource,
  pace?: (lengthBytes: number) => Promise<void>,
): Promise<string> {
  const whole = new Blake3Hasher();
  const zeroHash = blake3Of([Buffer.alloc(PIECE_BYTES)]);
  for (let offset = 0; offset < sizeBytes; ) {
    // Holes come as one long extent, whatever their size: their pieces are not visited one by one.
    const [extent] = device.extents(offset, sizeBytes - offset, 1);
    const emptyPieces = extent?.allocated === false ? Math.floor(extent.lengthBytes / PIECE_BYTES) : 0;
    for (let piece = 0; piece < emptyPieces; piece += 1) whole.update(zeroHash);
    offset += emptyPieces * PIECE_BYTES;
    if (emptyPieces > 0 || offset >= sizeBytes) continue;
    const lengthBytes = Math.min(PIECE_BYTES, sizeBytes - offset);
    await pace?.(lengthBytes);
    const piece = await device.readFromDisk(offset, lengthBytes);
    whole.update(blake3Of([contiguous(piece)]));
    piece.release?.();
    offset += lengthBytes;
  }
  return whole.digest('hex');
}

/** The same checksum of bytes in memory, for comparing a copy with the data that was written. */
export function checksumOfBytes(bytes: Buffer): string {
  const whole = new Blake3Hasher();
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    whole.update(blake3Of([bytes.subarray(at, at + PIECE_BYTES)]));
  return whole.digest('hex');
}
