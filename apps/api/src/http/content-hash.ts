import crypto from 'node:crypto';

/** Characters of the hash: two contents that differ share it with a chance of 2^-96. */
const HASH_CHARS = 16;

/** Hash of an answer's content, as for entity tags. */
export function contentHash(content: Buffer | string): string {
  return crypto.createHash('sha256').update(content).digest('base64url').slice(0, HASH_CHARS);
}
