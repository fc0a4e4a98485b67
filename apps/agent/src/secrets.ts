import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '@holdfast/data-engine/disk/durable-file.js';

/** Compares in constant time, so that the duration does not tell how much was right. */
export function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => crypto.createHash('sha256').update(text).digest();
  return crypto.timingSafeEqual(digest(a), digest(b));
}

/** The agent's control secret, which the control plane's calls carry: made once and kept in the state folder. */
export async function controlSecret(stateDirectory: string): Promise<string> {
  await fs.mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  const file = path.join(stateDirectory, 'control-secret');
  const stored = await fs.readFile(file, 'utf8').catch(() => '');
  if (stored.trim().length >= 32) return stored.trim();
  const secret = crypto.randomBytes(32).toString('base64url');
  await writeDurably(file, `${secret}\n`);
  return secret;
}
