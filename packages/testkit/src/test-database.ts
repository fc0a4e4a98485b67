import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { locatePostgres } from '@holdfast/database/embedded/location.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { knownMigrations, migrate } from '@holdfast/database/migrate.js';
import { prepareRoles } from '@holdfast/database/roles.js';
import { type LocalSeed, seedLocal } from '@holdfast/database/seed-local.js';
import { NOON } from '@holdfast/testkit/builders.js';
import { repositoryRoot } from './local-stack.js';

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
  const directory = await migratedFolder();
  const server = await startEmbeddedPostgres({ directory, settings: FAST_SETTINGS });
  let isRunning = true;
  const exited = server.exited.then(() => {
    isRunning = false;
  });
  const stop = async () => {
    // Its data is thrown away, so it need not be written out first.
    if (isRunning) process.kill(server.pid, 'SIGQUIT');
    await exited;
    fs.rmSync(path.dirname(directory), { recursive: true, force: true });
  };
  try {
    return { ownerUrl: server.url, ...(await prepareRoles(server.url)), server, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Migrated databases by their migrations, for the suites of this and of later runs: most of a start is `initdb` and the migrations. */
const TEMPLATES = path.join(repositoryRoot, 'node_modules', '.cache', 'holdfast', 'test-databases');

/** A folder of its own in a temporary one, with what a migrated Postgres has there when it is stopped. */
async function migratedFolder(): Promise<string> {
  const template = path.join(TEMPLATES, await migrationsKey());
  if (!fs.existsSync(template)) await makeTemplate(template);
  const directory = path.join(temporaryFolder(), 'postgres');
  copyFolder(template, directory);
  return directory;
}

/** Two suites may make one at once: the second throws its own away. */
async function makeTemplate(template: string): Promise<void> {
  const folder = temporaryFolder();
  const server = await startEmbeddedPostgres({
    directory: path.join(folder, 'postgres'),
    settings: FAST_SETTINGS,
  });
  try {
    await migrate(server.url);
  } finally {
    await server.stop();
  }
  fs.mkdirSync(TEMPLATES, { recursive: true });
  const partial = fs.mkdtempSync(`${template}-`);
  copyFolder(server.directory, path.join(partial, 'postgres'));
  fs.rmSync(folder, { recursive: true, force: true });
  try {
    fs.renameSync(path.join(partial, 'postgres'), template);
  } catch (error) {
    if (!fs.existsSync(template)) throw error;
  }
  fs.rmSync(partial, { recursive: true, force: true });
}

/** As root Postgres runs as `nobody`, who must be able to enter. */
function temporaryFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-test-'));
  fs.chmodSync(folder, 0o755);
  return folder;
}

/** With owners and modes, which Node's own copying leaves behind. */
function copyFolder(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', '--reflink=auto', from, to], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${from} could not be copied: ${stderr}`);
}

/** Of the Postgres and the migrations that a database is made of. */
async function migrationsKey(): Promise<string> {
  const { postgres, runAs } = locatePostgres(os.tmpdir());
  const hash = createHash('sha256').update(`${postgres} ${runAs.uid}\n`);
  for (const { name, checksum } of await knownMigrations()) hash.update(`${name} ${checksum}\n`);
  return hash.digest('hex').slice(0, 16);
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
