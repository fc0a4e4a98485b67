/**
 * Restore of a backup into an empty database: the schema of the backup, the rows, the later migrations, and then the changes to
 * restored rows.
 *
 * Crash behaviour: a mark names the backup being restored, and whether its rows are in; rows and mark change in one transaction. A
 * restore that finds the mark of the same backup continues an interrupted one. The last step removes the mark; until then no process
 * of Holdfast must be started.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import copyStreams from 'pg-copy-streams';
import { knownMigrations, migrate } from '../migrate.js';
import { afterRestore } from './after-restore.js';
import { BackupError } from './backup-error.js';
import type { BackupHeader, BackupManifest, BackupTable, Migration } from './contents.js';
import { type ReadBackup, readBackup, verifyBackup } from './read-backup.js';
import { copyTarget, SEE_ALL_ROWS, tablesOf } from './tables.js';

const MARK = 'public.restore_under_way';

export type RestoredBackup = ReadBackup & {
  /** Migrations that came behind those of the backup, and were applied to its rows. */
  migrations: string[];
};

/**
 * @param url of the database's owner, a superuser
 * @throws BackupError when the file is damaged, its schema is newer or not known, or the database is not empty
 */
export async function restoreBackup(url: string, file: string, now: Date): Promise<RestoredBackup> {
  const read = await verifyBackup(file);
  const { header } = read;
  await requireKnown(header.migrations);
  const isLoaded = await begin(url, header);
  let restored: ReadBackup = read;
  if (!isLoaded) {
    await migrate(url, undefined, header.migrations.at(-1)?.name);
    restored = await load(url, file);
  }
  const migrations = await migrate(url);
  await finish(url, header, now);
  return { ...restored, migrations };
}

/** This program can neither make nor serve a schema of which it knows a part only. */
async function requireKnown(wanted: readonly Migration[]): Promise<void> {
  const known = await knownMigrations();
  for (const [index, { name, checksum }] of wanted.entries()) {
    const own = known[index];
    if (own?.name === name && own.checksum === checksum) continue;
    throw new BackupError(
      known.some((one) => one.name === name)
        ? `the backup has another migration ${name} than this Holdfast`
        : `the backup has the migration ${name}, which this Holdfast does not know: it is of a newer one`,
    );
  }
}

/** Puts the mark. @returns whether the rows of this backup are in already */
function begin(url: string, { takenAt }: BackupHeader): Promise<boolean> {
  return connected(url, async (client) => {
    const { rows } = await client.query<{ marked: boolean; relations: number }>(
      `SELECT to_regclass($1) IS NOT NULL AS marked,
         (SELECT count(*)::int FROM pg_class
          WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v')) AS relations`,
      [MARK],
    );
    const [found] = rows;
    if (found?.marked !== true) {
      if (found?.relations !== 0)
        throw new BackupError('the database is not empty: a backup is restored into a new one');
      await client.query(`CREATE TABLE ${MARK} AS SELECT $1::text AS taken_at, false AS is_loaded`, [
        takenAt,
      ]);
      return false;
    }
    const { rows: marks } = await client.query<{ taken_at: string; is_loaded: boolean }>(`TABLE ${MARK}`);
    if (marks[0]?.taken_at !== takenAt)
      throw new BackupError('the restore of another backup was begun here; make the database anew');
    return marks[0].is_loaded;
  });
}

function load(url: string, file: string): Promise<ReadBackup> {
  return connected(url, async (client) => {
    await client.query(SEE_ALL_ROWS);
    await client.query('BEGIN');
    // Of two restores at once the second waits here.
    const { rowCount } = await client.query(`UPDATE ${MARK} SET is_loaded = true WHERE NOT is_loaded`);
    if (rowCount !== 1) throw new BackupError('another restore has just loaded this database');
    const triggers = await triggersOf(client);
    for (const { disable } of triggers) await client.query(disable);
    // Migrations may have put rows into tables, which are in the backup too.
    const names = (await tablesOf(client)).map(({ name }) => `public.${pg.escapeIdentifier(name)}`);
    await client.query(`TRUNCATE ${names.join(', ')}`);
    const read = await readBackup(file, {
      begin: async () => undefined,
      table: (table, rows) => loadTable(client, table, rows),
    });
    await setSequences(client, read.manifest);
    for (const { enable } of triggers) await client.query(enable);
    await client.query('COMMIT');
    return read;
  });
}

/** In the newest schema, so that only that has to be known here. */
function finish(url: string, header: BackupHeader, now: Date): Promise<void> {
  return connected(url, async (client) => {
    await client.query(SEE_ALL_ROWS);
    await client.query('BEGIN');
    await afterRestore(client, header, now);
    await client.query(`DROP TABLE ${MARK}`);
    await client.query('COMMIT');
  });
}

async function loadTable(client: pg.Client, table: BackupTable, rows: AsyncIterable<Buffer>): Promise<void> {
  const into = client.query(copyStreams.from(`COPY ${copyTarget(table)} FROM STDIN`));
  await pipeline(Readable.from(rows, { objectMode: false }), into);
}

type Trigger = { disable: string; enable: string };

/** Triggers count and record changes. Their results for these rows are in the backup itself. */
async function triggersOf(client: pg.Client): Promise<Trigger[]> {
  const { rows } = await client.query<{ table: string; name: string; enabled: string }>(
    `SELECT c.relname AS table, t.tgname AS name, t.tgenabled AS enabled
     FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
     WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace AND t.tgenabled <> 'D'`,
  );
  const how: Readonly<Record<string, string>> = { A: 'ENABLE ALWAYS', R: 'ENABLE REPLICA', O: 'ENABLE' };
  return rows.map(({ table, name, enabled }) => {
    const [on, trigger] = [`ALTER TABLE public.${pg.escapeIdentifier(table)}`, pg.escapeIdentifier(name)];
    return {
      disable: `${on} DISABLE TRIGGER ${trigger}`,
      enable: `${on} ${how[enabled] ?? 'ENABLE'} TRIGGER ${trigger}`,
    };
  });
}

async function setSequences(client: pg.Client, { sequences }: BackupManifest): Promise<void> {
  for (const { name, last } of sequences) {
    if (last !== null)
      await client.query('SELECT setval($1::regclass, $2)', [`public.${pg.escapeIdentifier(name)}`, last]);
  }
}

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'restore' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
