/**
 * Applies the SQL migrations of `prisma/migrations` at start, in Prisma's own bookkeeping, so that Prisma's CLI and
 * this runner can take turns on one database.
 *
 * Crash behaviour: a migration and its row commit together, so a killed runner leaves either all of it or nothing.
 * Two runners at once take turns under Prisma's advisory lock, and the second finds nothing to do.
 */
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { StorageFault } from '@holdfast/core/model/faults.js';
import pg from 'pg';
import { queryUnscoped } from './sql/scope.js';

/** The lock that Prisma's own engine takes while it migrates. */
const PRISMA_ADVISORY_LOCK = 72_707_369;
/** A migration of a large table takes its time, but a start that waits longer than this should say so. */
const LOCK_TIMEOUT_MS = 120_000;

const MIGRATIONS_DIRECTORY = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

const BOOKKEEPING = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id varchar(36) PRIMARY KEY NOT NULL,
    checksum varchar(64) NOT NULL,
    finished_at timestamptz,
    migration_name varchar(255) NOT NULL,
    logs text,
    rolled_back_at timestamptz,
    started_at timestamptz NOT NULL DEFAULT now(),
    applied_steps_count integer NOT NULL DEFAULT 0
  )`;

type Migration = { name: string; sql: string; checksum: string };
type Applied = { migration_name: string; checksum: string; finished: boolean };

/**
 * Applies pending migrations and returns the names of those applied now.
 *
 * @param ownerUrl connects as the owner of the tables; the api and system roles can't do this
 * @param through name of the last one to apply; left out: all
 * @throws StorageFault `store.unavailable` when an applied migration's text has changed since, one has failed half way, or one is not
 * known here: the database belongs to a newer Holdfast
 */
export async function migrate(
  ownerUrl: string,
  directory = MIGRATIONS_DIRECTORY,
  through?: string,
): Promise<string[]> {
  const all = await readMigrations(directory);
  const migrations = through === undefined ? all : all.filter(({ name }) => name <= through);
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query('SELECT pg_advisory_lock($1)', [PRISMA_ADVISORY_LOCK]);
    await client.query('SET client_min_messages = warning');
    await client.query(BOOKKEEPING);
    const applied = await readApplied(client);
    refuseNewer(all, applied);
    const pending = findPending(migrations, applied);
    for (const migration of pending) await apply(client, migration);
    return pending.map(({ name }) => name);
  } finally {
    // Ending the session also releases the advisory lock.
    await client.end();
  }
}

/** Has the database all migrations that this program knows? It may have newer ones, while an upgrade is under way. */
export async function isMigrated(system: pg.Pool): Promise<boolean> {
  const rows = await queryUnscoped<{ name: string }>(
    system,
    `SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
    [],
  );
  const applied = new Set(rows.map(({ name }) => name));
  return (await migrationNames()).every((name) => applied.has(name));
}

/** Names of the migrations that this program knows, in order. */
export function migrationNames(): Promise<string[]> {
  return namesIn(MIGRATIONS_DIRECTORY);
}

/** The migrations that this program knows, in order. */
export async function knownMigrations(): Promise<{ name: string; checksum: string }[]> {
  return (await readMigrations(MIGRATIONS_DIRECTORY)).map(({ name, checksum }) => ({ name, checksum }));
}

async function readMigrations(directory: string): Promise<Migration[]> {
  return Promise.all(
    (await namesIn(directory)).map(async (name) => {
      const sql = await fs.readFile(path.join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

async function namesIn(directory: string): Promise<string[]> {
  const entries = await fs.readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

async function readApplied(client: pg.Client): Promise<Applied[]> {
  const { rows } = await client.query<Applied>(
    `SELECT migration_name, checksum, finished_at IS NOT NULL AS finished
     FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
  );
  return rows;
}

/** A changed text means that this database and this program disagree about the past: nothing is safe to apply. */
function findPending(migrations: readonly Migration[], applied: readonly Applied[]): Migration[] {
  const appliedByName = new Map(applied.map((row) => [row.migration_name, row]));
  return migrations.filter(({ name, checksum }) => {
    const row = appliedByName.get(name);
    if (row === undefined) return true;
    if (!row.finished) throw refuse(`migration ${name} failed half way; repair it by hand first`);
    if (row.checksum !== checksum) throw refuse(`migration ${name} was changed after it had been applied`);
    return false;
  });
}

/**
 * A program that is older than the schema must not become its owner again: what newer migrations promise of the rows would
 * be broken by its writes. Processes that run beside a newer one during an upgrade do not pass here.
 */
function refuseNewer(known: readonly Migration[], applied: readonly Applied[]): void {
  const names = new Set(known.map(({ name }) => name));
  const newer = applied.find(({ migration_name }) => !names.has(migration_name));
  if (newer === undefined) return;
  throw refuse(
    `the database has the migration ${newer.migration_name}, which this Holdfast does not know: it is of a newer one. ` +
      'Run that one; to go back, restore a backup that was taken before the upgrade',
  );
}

async function apply(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(sql);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), checksum, name],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    const reason = error instanceof Error ? error.message : String(error);
    throw new StorageFault('store.unavailable', {
      publicMessage: `migration ${name} failed: ${reason}`,
      cause: error,
    });
  }
}

function refuse(message: string): StorageFault {
  return new StorageFault('store.unavailable', { publicMessage: message });
}
