/** Blobs: a block or a segment of a map, as it is identified and sealed. Pure computation, which threads do for many blobs at once. */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { type BlobKind, CODEC, type Codec } from '../model/format.js';
import { damaged } from './damage.js';
import { compress, decompress } from './zstd.js';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** What sealing adds to a blob. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES;
/** A blob is stored as it is where compression gains less than a sixty-fourth: reading it is then faster. */
const GAIN_SHIFT = 6;

/** Content id: what blobs of the same content have in common, and only holders of the key can compute. */
export function idOf(key: Buffer, bytes: Uint8Array): Buffer {
  return createHmac('sha256', key).update(bytes).digest();
}

/** Decrypted, copied and hashed at once, while it is in the processor's cache. */
const PART_BYTES = 64 * 1024;

const ZEROS = Buffer.alloc(64 * 1024);

/** Whether a block reads as zeros, which no blob is stored for. */
export function isZero(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += ZEROS.length) {
    const end = Math.min(bytes.length, at + ZEROS.length);
    if (bytes.compare(ZEROS, 0, end - at, at, end) !== 0) return false;
  }
  return true;
}

/** Compresses where that gains something. */
export function packed(bytes: Buffer): { codec: Codec; bytes: Buffer } {
  const smaller = compress(bytes);
  return smaller.length < bytes.length - (bytes.length >> GAIN_SHIFT)
    ? { codec: CODEC.zstd, bytes: smaller }
    : { codec: CODEC.none, bytes };
}

/** What a blob is, which its seal proves: exchanged blobs, or an index that was changed, do not open. */
export type BlobFacts = {
  readonly id: Uint8Array;
  readonly kind: BlobKind;
  readonly codec: Codec;
  readonly rawBytes: number;
};

/** @param number of the blob in its run, which no other blob of the run has: it makes the nonce */
export function sealBlob(runKey: Buffer, number: number, facts: BlobFacts, bytes: Buffer): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUIntBE(number, NONCE_BYTES - 6, 6);
  const cipher = createCipheriv('aes-256-gcm', runKey, nonce);
  cipher.setAAD(factBytes(facts));
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** @throws StorageFault `backup.damaged` where the bytes are not those that were sealed as this blob */
export function openBlob(runKey: Buffer, idKey: Buffer, facts: BlobFacts, sealed: Buffer): Buffer {
  const bytes = Buffer.allocUnsafeSlow(facts.rawBytes);
  openBlobInto(bytes, runKey, idKey, facts, sealed);
  return bytes;
}

/**
 * Opens a blob into memory that is as long as its content. A caller that opens many reuses it: fresh memory of a mebibyte costs more than decrypting
 * one, since the system hands it out page by page. What stands there is of no use where this throws.
 *
 * @throws StorageFault `backup.damaged`
 */
export function openBlobInto(
  target: Buffer,
  runKey: Buffer,
  idKey: Buffer,
  facts: BlobFacts,
  sealed: Buffer,
): void {
  const name = Buffer.from(facts.id).toString('hex').slice(0, 16);
  const isPacked = facts.codec === CODEC.zstd;
  const sealedBytes = sealed.length - SEAL_BYTES;
  try {
    if (!isPacked && sealedBytes !== facts.rawBytes) throw new Error(`${sealedBytes} bytes are sealed`);
    const decipher = createDecipheriv('aes-256-gcm', runKey, sealed.subarray(0, NONCE_BYTES));
    decipher.setAAD(factBytes(facts));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const opened = isPacked ? scratchOf(sealedBytes) : target;
    const hash = createHmac('sha256', idKey);
    for (let at = 0; at < sealedBytes; at += PART_BYTES) {
      const begin = NONCE_BYTES + at;
      const part = decipher.update(
        sealed.subarray(begin, Math.min(begin + PART_BYTES, sealed.length - TAG_BYTES)),
      );
      part.copy(opened, at);
      if (!isPacked) hash.update(part);
    }
    decipher.final();
    if (isPacked) {
      const bytes = decompress(opened, facts.rawBytes);
      bytes.copy(target);
      hash.update(bytes);
    }
    if (timingSafeEqual(hash.digest(), facts.id)) return;
  } catch (error) {
    throw damaged(`blob ${name} does not open`, error);
  }
  throw damaged(`blob ${name} has other content`);
}

let scratch = Buffer.alloc(0);

/** Memory for a frame, used by one call until it returns. A frame is shorter than its block, so that it stays below a few mebibytes. */
function scratchOf(lengthBytes: number): Buffer {
  if (scratch.length < lengthBytes) scratch = Buffer.allocUnsafeSlow(lengthBytes);
  return scratch.subarray(0, lengthBytes);
}

function factBytes({ id, kind, codec, rawBytes }: BlobFacts): Buffer {
  const bytes = Buffer.alloc(id.length + 6);
  bytes.set(id);
  bytes.writeUInt8(kind, id.length);
  bytes.writeUInt8(codec, id.length + 1);
  bytes.writeUInt32LE(rawBytes, id.length + 2);
  return bytes;
}
