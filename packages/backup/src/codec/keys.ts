/**
 * Keys of a repository. One random data key, from which all others are derived by HKDF-SHA-256; it is stored only wrapped: by a passphrase
 * (scrypt), or by a key service that a hook calls.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, scrypt } from 'node:crypto';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { BlobKind } from '../model/format.js';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Asked of scrypt: 64 MiB and about a quarter of a second for each guess. */
const SCRYPT = { n: 2 ** 16, r: 8, p: 1 };
/** What a configuration may ask of a reader at most: 1 GiB. A hostile one could else take all memory. */
const SCRYPT_N_MAX = 2 ** 20;
const SCRYPT_R_MAX = 8;
const SCRYPT_P_MAX = 4;

/** How a user unlocks a repository. A key service gets wrapped bytes and returns the data key, or the other way round. */
export type Unlock =
  | { readonly kind: 'passphrase'; readonly passphrase: string }
  | {
      readonly kind: 'service';
      /** Name of the key at the service, stored beside what it wrapped. */
      readonly keyName: string;
      wrap(dataKey: Uint8Array): Promise<Uint8Array>;
      unwrap(wrapped: Uint8Array, keyName: string): Promise<Uint8Array>;
    };

/** A wrapped data key, as the configuration holds it. Bytes are base64. */
export type WrappedKey =
  | {
      readonly kind: 'passphrase';
      readonly kdf: 'scrypt';
      readonly n: number;
      readonly r: number;
      readonly p: number;
      readonly salt: string;
      readonly wrapped: string;
    }
  | { readonly kind: 'service'; readonly keyName: string; readonly wrapped: string };

export const newDataKey = (): Buffer => randomBytes(KEY_BYTES);

export async function wrapKey(dataKey: Buffer, unlock: Unlock): Promise<WrappedKey> {
  if (unlock.kind === 'service') {
    const wrapped = Buffer.from(await unlock.wrap(dataKey)).toString('base64');
    return { kind: 'service', keyName: unlock.keyName, wrapped };
  }
  const salt = randomBytes(KEY_BYTES);
  const wrapping = await scryptKey(unlock.passphrase, salt, SCRYPT);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', wrapping, nonce);
  const sealed = Buffer.concat([nonce, cipher.update(dataKey), cipher.final(), cipher.getAuthTag()]);
  return {
    kind: 'passphrase',
    kdf: 'scrypt',
    ...SCRYPT,
    salt: salt.toString('base64'),
    wrapped: sealed.toString('base64'),
  };
}

/** @throws StorageFault `backup.wrong_key` where none of the wrapped keys opens */
export async function unwrapKey(keys: readonly WrappedKey[], unlock: Unlock): Promise<Buffer> {
  for (const key of keys) {
    const found = await tryUnwrap(key, unlock);
    if (found !== undefined) return found;
  }
  const what = unlock.kind === 'passphrase' ? 'the passphrase is wrong' : 'the key service has no key for it';
  throw new StorageFault('backup.wrong_key', { publicMessage: `the repository can't be unlocked: ${what}` });
}

async function tryUnwrap(key: WrappedKey, unlock: Unlock): Promise<Buffer | undefined> {
  if (key.kind === 'service') {
    if (unlock.kind !== 'service') return undefined;
    const found = Buffer.from(await unlock.unwrap(Buffer.from(key.wrapped, 'base64'), key.keyName));
    return found.length === KEY_BYTES ? found : undefined;
  }
  if (unlock.kind !== 'passphrase') return undefined;
  if (key.n > SCRYPT_N_MAX || key.r > SCRYPT_R_MAX || key.p > SCRYPT_P_MAX) return undefined;
  const sealed = Buffer.from(key.wrapped, 'base64');
  if (sealed.length !== NONCE_BYTES + KEY_BYTES + TAG_BYTES) return undefined;
  try {
    const wrapping = await scryptKey(unlock.passphrase, Buffer.from(key.salt, 'base64'), key);
    const decipher = createDecipheriv('aes-256-gcm', wrapping, sealed.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}

function scryptKey(
  passphrase: string,
  salt: Buffer,
  { n, r, p }: { n: number; r: number; p: number },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { N: n, r, p, maxmem: 256 * n * r };
    // The same passphrase has one form, however a keyboard composes its characters.
    scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

/** Keys of one repository. Its id is the salt, so that none of its objects opens in another one. */
export class RepositoryKeys {
  private readonly salt: Buffer;

  constructor(
    private readonly dataKey: Buffer,
    repositoryId: string,
  ) {
    this.salt = Buffer.from(repositoryId, 'utf8');
  }

  /** Keys of content ids, by kind of blob. */
  idKeys(): Record<BlobKind, Buffer> {
    return { 0: this.derive('content-id block'), 1: this.derive('content-id segment') };
  }

  /** Key of a run's blobs. A run numbers what it seals, and its id is random, so that no nonce is used twice. */
  runKey(run: string): Buffer {
    return this.derive(`run ${run}`);
  }

  /** Key of one sealed object: it opens under its own name only. */
  objectKey(name: string): Buffer {
    return this.derive(`object ${name}`);
  }

  /** Proves that a configuration was written by a holder of the data key. */
  macOf(text: string): string {
    return createHmac('sha256', this.derive('configuration')).update(text).digest('hex');
  }

  private derive(what: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.dataKey, this.salt, `holdfast-backup 1 ${what}`, KEY_BYTES));
  }
}
