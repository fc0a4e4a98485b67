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
  const name = Buffer.from(facts.id).toString('hex').slice(0, 16);
  try {
    const decipher = createDecipheriv('aes-256-gcm', runKey, sealed.subarray(0, NONCE_BYTES));
    decipher.setAAD(factBytes(facts));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const opened = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    decipher.final();
    const bytes = facts.codec === CODEC.zstd ? decompress(opened, facts.rawBytes) : opened;
    if (timingSafeEqual(idOf(idKey, bytes), facts.id)) return bytes;
  } catch (error) {
    throw damaged(`blob ${name} does not open`, error);
  }
  throw damaged(`blob ${name} has other content`);
}

function factBytes({ id, kind, codec, rawBytes }: BlobFacts): Buffer {
  const bytes = Buffer.alloc(id.length + 6);
  bytes.set(id);
  bytes.writeUInt8(kind, id.length);
  bytes.writeUInt8(codec, id.length + 1);
  bytes.writeUInt32LE(rawBytes, id.length + 2);
  return bytes;
}
