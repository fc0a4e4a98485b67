/**
 * Sealed cookie: a value that its browser can neither read nor change, and that expires soon. It carries the state of a sign-in at a
 * provider, so that any API process can end a sign-in that another one has started.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { fieldOf } from '../../http/field-of.js';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

export class CookieSeal {
  private readonly key: Buffer;

  /** @param secret known to all api processes, and to no browser */
  constructor(secret: string) {
    this.key = Buffer.from(hkdfSync('sha256', secret, '', 'holdfast sign-in cookie', KEY_BYTES));
  }

  seal(value: object, endsAt: Date): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce);
    const text = JSON.stringify({ value, endsAtMs: endsAt.getTime() });
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** `undefined`: it was not sealed by this secret, was changed, or has ended. */
  open(text: string, now: Date): unknown {
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', this.key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      const opened = Buffer.concat([
        decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)),
        decipher.final(),
      ]);
      const content: unknown = JSON.parse(opened.toString('utf8'));
      return Number(fieldOf(content, 'endsAtMs')) > now.getTime() ? fieldOf(content, 'value') : undefined;
    } catch {
      return undefined;
    }
  }
}
