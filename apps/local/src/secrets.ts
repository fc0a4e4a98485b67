import crypto from 'node:crypto';
import path from 'node:path';
import type { LocalSecrets } from '@holdfast/database/seed-local.js';
import { readJson, writeJsonPrivately } from './private-file.js';

const SECRET_BYTES = 24;

/** Reads the secrets that this stack made up for itself, making those that are missing. Only their owner may read them. */
export function ensureSecrets(home: string): LocalSecrets {
  const file = path.join(home, 'secrets.json');
  const known = readJson<Partial<LocalSecrets>>(file) ?? {};
  const secrets: LocalSecrets = {
    password: known.password ?? randomText(),
    token: known.token ?? randomText(),
    agentToken: known.agentToken ?? randomText(),
  };
  writeJsonPrivately(file, secrets);
  return secrets;
}

function randomText(): string {
  return crypto.randomBytes(SECRET_BYTES).toString('base64url');
}
