import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { locatePostgres } from '@holdfast/database/embedded/location.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { knownMigrations, migrate } from '@holdfast/database/migrate.js';
import { prepareRoles } from '@holdfast/database/roles.js';
import {
  type LocalSecrets,
  type LocalSeed,
  type SeedNames,
  seedLocal,
} from '@holdfast/database/seed-local.js';
import { NOON } from '@holdfast/testkit/builders.js';
import pg from 'pg';
import { repositoryRoot } from './local-stack.js';
import { type StartedPart, workersPart } from './worker-parts.js';

export type TestDatabase = {
  ownerUrl: string;
  apiUrl: string;
  systemUrl: string;
  stop(): Promise<void>;
};

/** A database on a server of its own, which the suite may stop, freeze or kill. */
export type TestServer = TestDatabase & { server: EmbeddedPostgres };

/** Test data need not survive a power cut, and two suites at once share one slow disk. */
const FAST_SETTINGS = { fsync: 'off', synchronous_commit: 'off' };

/** Name of the migrated database that others are copied from. Only `CREATE DATABASE` uses it, which no other connection may do beside. */
const MIGRATED = 'holdfast';
/** Connection to the server, of no use to any test. */
const MAINTENANCE = 'postgres';

/** A migrated database of the suite's own, with its roles, on the Postgres that the suites of this Jest worker share. */
export async function startTestDatabase(): Promise<TestDatabase> {
  const serverUrl = await workersPart<string>('postgres', startSharedServer);
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await maintain(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${MIGRATED}`);
  const ownerUrl = databaseUrl(serverUrl, name);
  const stop = () => maintain(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
  try {
    return { ownerUrl, ...(await prepareRoles(ownerUrl)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startSharedServer(folder: string): Promise<StartedPart<string>> {
  // As root Postgres runs as another user, which must be able to enter.
  fs.chmodSync(folder, 0o755);
  const directory = await migratedFolder(folder);
  const server = await startEmbeddedPostgres({ directory, settings: FAST_SETTINGS, holdsProcess: false });
  // Its data is thrown away, so it need not be synced first.
  return { value: server.url, pid: server.pid, signal: 'SIGQUIT' };
}

async function maintain(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl(serverUrl, MAINTENANCE) });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** A Postgres of the suite's own in a temporary folder, migrated, with its roles: for suites that stop, freeze or look into the server. */
export async function startTestServer(): Promise<TestServer> {
  const folder = temporaryFolder();
  const directory = await migratedFolder(folder);
  const server = await startEmbeddedPostgres({ directory, settings: FAST_SETTINGS });
  let isRunning = true;
  const exited = server.exited.then(() => {
    isRunning = false;
  });
  const stop = async () => {
    if (isRunning) process.kill(server.pid, 'SIGQUIT');
    await exited;
    fs.rmSync(folder, { recursive: true, force: true });
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

/** A folder in the given one, with the data of a migrated Postgres that is stopped. */
async function migratedFolder(parent: string): Promise<string> {
  const template = path.join(TEMPLATES, await migrationsKey());
  if (!fs.existsSync(template)) await makeTemplate(template);
  const directory = path.join(parent, 'postgres');
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

/**
 * Role of a suite on a database that suites share: like the owner it may change every table, but it sees and changes rows of its own
 * organizations only, so that a statement without a condition does not reach into other suites' rows.
 */
const SUITE_ROLE = 'holdfast_test_suite';
const SUITE_ORGANIZATIONS = 'holdfast_test.organizations';

/** Makes the suites' role and its policies in a database. */
export async function prepareSuiteRole(ownerUrl: string): Promise<void> {
  const { password } = new URL(ownerUrl);
  const own = (column: string) =>
    `(${column} IS NULL OR ${column}::text = ANY(string_to_array(current_setting('${SUITE_ORGANIZATIONS}', true), ',')))`;
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    await client.query(`
      DO $$ BEGIN CREATE ROLE ${SUITE_ROLE}; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
      ALTER ROLE ${SUITE_ROLE} WITH LOGIN PASSWORD ${pg.escapeLiteral(password)};
      GRANT ALL ON ALL TABLES IN SCHEMA public TO ${SUITE_ROLE};
      GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${SUITE_ROLE};
      GRANT ALL ON ALL FUNCTIONS IN SCHEMA public TO ${SUITE_ROLE};`);
    const { rows } = await client.query<{ name: string; isolated: boolean }>(`
      SELECT relname AS name, EXISTS (SELECT FROM pg_attribute
          WHERE attrelid = c.oid AND attname = 'organization_id' AND NOT attisdropped) AS isolated
      FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`);
    for (const { name, isolated } of rows) {
      const column = name === 'organization' ? 'id' : isolated ? 'organization_id' : undefined;
      const rule = column === undefined ? 'true' : own(column);
      await client.query(
        `CREATE POLICY test_suite ON ${pg.escapeIdentifier(name)} TO ${SUITE_ROLE} USING (${rule}) WITH CHECK (true)`,
      );
    }
  } finally {
    await client.end();
  }
}

/** Address of a database for its suites' role. */
export function suiteUrl(ownerUrl: string): string {
  const url = new URL(ownerUrl);
  url.username = SUITE_ROLE;
  return url.href;
}

/** Names the organizations whose rows a connection of the suites' role sees. */
export async function seeOrganizations(client: pg.Client, ids: readonly string[]): Promise<void> {
  await client.query('SELECT set_config($1, $2, false)', [SUITE_ORGANIZATIONS, ids.join(',')]);
}

/** First rows of a test, with the join token of its agents. */
export type TestSeed = LocalSeed & { agentToken: string };

export const TEST_SECRETS = {
  password: 'test-password',
  token: 'hf_test_token',
  agentToken: 'hf_test_agent_token',
};

/** Another organization with the same kinds of rows, for one of several suites on a database. */
export function seedSuite(database: Pick<TestDatabase, 'systemUrl'>): Promise<TestSeed> {
  const mark = randomUUID().slice(0, 13);
  return seeded(
    database,
    { ...TEST_SECRETS, token: `hf_test_${mark}`, agentToken: `hf_test_agent_${mark}` },
    {
      organization: `Local ${mark}`,
      email: `admin-${mark}@holdfast.local`,
      project: 'default',
      cluster: 'local',
    },
  );
}

export function seedTestDatabase(database: Pick<TestDatabase, 'systemUrl'>): Promise<TestSeed> {
  return seeded(database, TEST_SECRETS);
}

async function seeded(
  database: Pick<TestDatabase, 'systemUrl'>,
  secrets: LocalSecrets,
  names?: SeedNames,
): Promise<TestSeed> {
  return { ...(await seedLocal(database.systemUrl, secrets, names)), agentToken: secrets.agentToken };
}

/** All nodes of the database become ready at once, where no worker runs that would find them so. */
export async function makeNodesReady(owner: {
  query(text: string, values: string[]): Promise<unknown>;
}): Promise<void> {
  const ready = { type: 'Ready', status: 'True', reason: '', message: '', lastTransitionAt: NOON };
  await owner.query('UPDATE node SET conditions = $1', [JSON.stringify([ready])]);
}
