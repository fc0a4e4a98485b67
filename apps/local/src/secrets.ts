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

/** Stores the agents' join token as it is once the control plane's certificate authority is known. */
export function storeJoinToken(home: string, secrets: LocalSecrets, joinToken: string): void {
  if (secrets.agentToken === joinToken) return;
  writeJsonPrivately(path.join(home, 'secrets.json'), { ...secrets, agentToken: joinToken });
}

/** A secret that no file keeps: enough for processes that start with it. */
export function randomText(): string {
  return crypto.randomBytes(SECRET_BYTES).toString('base64url');
}
