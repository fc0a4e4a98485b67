import { Blake3Hasher } from '@napi-rs/blake-hash';

/** Serves all hashes that are computed in one call: making a hasher takes about as long as hashing 50 KiB. */
const HASHER = new Blake3Hasher();

/** The hash of all pieces, one after the other. */
export function blake3Of(pieces: readonly Buffer[]): Buffer {
  HASHER.reset();
  for (const piece of pieces) HASHER.update(piece);
  return HASHER.digestBuffer();
}
