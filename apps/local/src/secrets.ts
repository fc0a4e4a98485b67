import crypto from 'node:crypto';
import path from 'node:path';
import { readJson, writeJsonPrivately } from './private-file.js';

/** What the local stack has made up for itself. Kept in its home, readable by its owner only. */
export type LocalSecrets = {
  password: string;
  token: string;
  agentToken: string;
  databaseApiPassword: string;
  databaseSystemPassword: string;
};

const SECRET_BYTES = 24;

/** Reads the home's secrets, making those that are missing. */
export function ensureSecrets(home: string): LocalSecrets {
  const file = path.join(home, 'secrets.json');
  const known = readJson<Partial<LocalSecrets>>(file) ?? {};
  const secrets: LocalSecrets = {
    password: known.password ?? randomText(),
    token: known.token ?? randomText(),
    agentToken: known.agentToken ?? randomText(),
    databaseApiPassword: known.databaseApiPassword ?? randomText(),
    databaseSystemPassword: known.databaseSystemPassword ?? randomText(),
  };
  writeJsonPrivately(file, secrets);
  return secrets;
}

function randomText(): string {
  return crypto.randomBytes(SECRET_BYTES).toString('base64url');
}
