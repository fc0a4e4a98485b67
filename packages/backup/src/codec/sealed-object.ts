/** Sealed objects: everything but packs and the configuration. AES-256-GCM under a key of the object's own name, with a random nonce. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { damaged } from './damage.js';
import type { RepositoryKeys } from './keys.js';

const MAGIC = Buffer.from('HFSEAL01', 'latin1');
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** What sealing adds to an object. */
export const OBJECT_SEAL_BYTES = MAGIC.length + NONCE_BYTES + TAG_BYTES;

export function sealObject(keys: RepositoryKeys, name: string, bytes: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keys.objectKey(name), nonce);
  cipher.setAAD(MAGIC);
  return Buffer.concat([MAGIC, nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** @throws StorageFault `backup.damaged` where the bytes were not sealed under this name by this repository */
export function openObject(keys: RepositoryKeys, name: string, sealed: Buffer): Buffer {
  if (sealed.length < OBJECT_SEAL_BYTES || !sealed.subarray(0, MAGIC.length).equals(MAGIC))
    throw damaged(`${name} is no object of this format`);
  try {
    const begin = MAGIC.length + NONCE_BYTES;
    const nonce = sealed.subarray(MAGIC.length, begin);
    const decipher = createDecipheriv('aes-256-gcm', keys.objectKey(name), nonce);
    decipher.setAAD(MAGIC);
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const opened = decipher.update(sealed.subarray(begin, -TAG_BYTES));
    decipher.final();
    return opened;
  } catch (error) {
    throw damaged(`${name} does not open`, error);
  }
}

export const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
