import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { migrate } from '@holdfast/database/migrate.js';
import { prepareRoles } from '@holdfast/database/roles.js';
import { type LocalSeed, seedLocal } from '@holdfast/database/seed-local.js';
import { NOON } from '@holdfast/testkit/builders.js';

export type TestDatabase = {
  ownerUrl: string;
  apiUrl: string;
  systemUrl: string;
  server: EmbeddedPostgres;
  stop(): Promise<void>;
};

/** Test data need not survive a power cut, and two suites at once share one slow disk. */
const FAST_SETTINGS = { fsync: 'off', synchronous_commit: 'off' };

/** An embedded Postgres in a temporary folder, migrated, with its roles. One per suite. */
export async function startTestDatabase(): Promise<TestDatabase> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-test-'));
  // As root Postgres runs as `nobody`, who must be able to enter.
  fs.chmodSync(folder, 0o755);
  const server = await startEmbeddedPostgres({
    directory: path.join(folder, 'postgres'),
    settings: FAST_SETTINGS,
  });
  const stop = async () => {
    await server.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  };
  try {
    await migrate(server.url);
    return { ownerUrl: server.url, ...(await prepareRoles(server.url)), server, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export const TEST_SECRETS = {
  password: 'test-password',
  token: 'hf_test_token',
  agentToken: 'hf_test_agent_token',
};

export function seedTestDatabase(database: TestDatabase): Promise<LocalSeed> {
  return seedLocal(database.systemUrl, TEST_SECRETS);
}

/** All nodes of the database become ready at once, where no worker runs that would find them so. */
export async function makeNodesReady(owner: {
  query(text: string, values: string[]): Promise<unknown>;
}): Promise<void> {
  const ready = { type: 'Ready', status: 'True', reason: '', message: '', lastTransitionAt: NOON };
  await owner.query('UPDATE node SET conditions = $1', [JSON.stringify([ready])]);
}
