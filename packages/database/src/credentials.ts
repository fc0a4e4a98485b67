import { createHash } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';

/** argon2id, which is the library's default, with OWASP's minimum: 19 MiB, two passes. About 20 ms, which a sign-in can afford and a guesser can't. */
const PASSWORD_OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The form in which a token's secret is kept. Secrets are long and random, so a plain hash is enough. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

export function hashPassword(password: string): Promise<string> {
  return hash(password, PASSWORD_OPTIONS);
}

export async function verifyPassword(passwordHash: string, password: string): Promise<boolean> {
  return verify(passwordHash, password);
}
