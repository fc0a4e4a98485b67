import crypto from 'node:crypto';
import path from 'node:path';
import type { LocalSecrets } from '@holdfast/database/seed-local.js';
import { readJson, writeJsonPrivately } from './private-file.js';

const SECRET_BYTES = 24;

/** The secrets that this stack has made for itself. Missing ones are made; only their owner may read the file. */
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
