import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '@holdfast/data-engine/disk/durable-file.js';
import { openJson, sealJson } from '@holdfast/data-engine/disk/sealed-json.js';
import { textOf } from './state-files.js';

const FORMAT = 2;

/** Compares in constant time, so that the duration does not tell how much was right. */
export function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => crypto.createHash('sha256').update(text).digest();
  return crypto.timingSafeEqual(digest(a), digest(b));
}

/**
 * The agent's control secret, which the control plane's calls carry: made once and kept in the state folder, with its checksum. One
 * that is damaged is made anew: the control plane hears of it with the next heartbeat, and nothing else knows it.
 */
export async function controlSecret(stateDirectory: string): Promise<string> {
  await fs.mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  const file = path.join(stateDirectory, 'control-secret');
  const kept = secretIn((await textOf(file)) ?? '');
  if (kept !== undefined) return kept;
  const secret = crypto.randomBytes(32).toString('base64url');
  await writeDurably(file, sealJson({ format: FORMAT, secret }));
  return secret;
}

/** Earlier versions kept the secret as it is. */
function secretIn(text: string): string | undefined {
  if (/^[\w-]{32,}\n?$/.test(text)) return text.trim();
  const secret = openJson(text, FORMAT)?.secret;
  return typeof secret === 'string' ? secret : undefined;
}
