/**
 * Backup of the control plane's database: all tables as one transaction saw them, in one compressed file.
 *
 * Crash behaviour: the file is written under another name and renamed when it is whole and synced, so a backup that was cut
 * short leaves nothing that could be taken for one.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';
import pg from 'pg';
import copyStreams from 'pg-copy-streams';
import { BackupError } from './backup-error.js';
import { type BackupHeader, type BackupManifest, FORMAT, type TableSum } from './contents.js';
import { frame } from './frames.js';
import { RunningSum } from './table-sum.js';
import { appliedMigrations, copyTarget, SEE_ALL_ROWS, tablesOf } from './tables.js';

export type MadeBackup = { header: BackupHeader; manifest: BackupManifest; bytes: number };

/**
 * @param url of a role that sees all rows: the owner of the tables, where that is a superuser, or one with BYPASSRLS
 * @throws BackupError when the file exists, or the database is none of Holdfast's
 */
export async function createBackup(url: string, file: string): Promise<MadeBackup> {
  if (await exists(file)) throw new BackupError(`${file} is there already; a backup replaces no file`);
  const client = new pg.Client({ connectionString: url, application_name: 'backup' });
  await client.connect();
  const partial = `${file}.${process.pid}.partial`;
  try {
    await client.query(SEE_ALL_ROWS);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const header = await headerOf(client);
    const told: { manifest?: BackupManifest } = {};
    const handle = await opened(partial);
    try {
      const frames = Readable.from(framesOf(client, header, told), { objectMode: false });
      await pipeline(frames, zlib.createGzip(), (bytes) => fs.writeFile(handle, bytes));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await client.query('COMMIT');
    await fs.rename(partial, file);
    await syncFolder(path.dirname(file));
    const { size: bytes } = await fs.stat(file);
    return { header, manifest: told.manifest ?? { tables: [], sequences: [] }, bytes };
  } finally {
    await client.end();
    // Where its folder is none, there is nothing to remove either.
    await fs.rm(partial, { force: true }).catch(() => undefined);
  }
}

async function headerOf(client: pg.Client): Promise<BackupHeader> {
  const { rows } = await client.query<{ known: boolean; taken_at: Date; next: string }>(
    `SELECT to_regclass('public._prisma_migrations') IS NOT NULL AND to_regclass('public.volume') IS NOT NULL AS known,
       now() AS taken_at, pg_snapshot_xmax(pg_current_snapshot())::text AS next`,
  );
  const [row] = rows;
  if (row?.known !== true)
    throw new BackupError('this is no database of Holdfast: it has none of its tables');
  return {
    product: 'holdfast',
    format: FORMAT,
    takenAt: row.taken_at.toISOString(),
    migrations: await appliedMigrations(client),
    nextTransactionId: Number(row.next),
  };
}

async function* framesOf(
  client: pg.Client,
  header: BackupHeader,
  told: { manifest?: BackupManifest },
): AsyncGenerator<Buffer> {
  yield frame('H', json(header));
  const tables: TableSum[] = [];
  for (const table of await tablesOf(client)) {
    yield frame('T', json(table));
    const sum = new RunningSum(table.name);
    const rows = client.query(copyStreams.to(`COPY ${copyTarget(table)} TO STDOUT`));
    for await (const chunk of rows) {
      // The cast: without an encoding a stream of bytes gives buffers.
      const bytes = chunk as Buffer;
      sum.add(bytes);
      yield frame('D', bytes);
    }
    tables.push(sum.total());
  }
  told.manifest = { tables, sequences: await sequencesOf(client) };
  yield frame('E', json(told.manifest));
}

/** Read last: a sequence is not part of a transaction, and must not be behind the rows. */
async function sequencesOf(client: pg.Client): Promise<BackupManifest['sequences']> {
  const { rows } = await client.query<{ name: string; last: string | null }>(
    `SELECT sequencename AS name, last_value::text AS last FROM pg_sequences WHERE schemaname = 'public' ORDER BY 1`,
  );
  return rows.map(({ name, last }) => ({ name, last: last === null ? null : Number(last) }));
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value), 'utf8');
}

async function exists(file: string): Promise<boolean> {
  return fs.access(file).then(
    () => true,
    () => false,
  );
}

/** Errors that the caller can fix by choosing another place. */
const WRONG_PLACE: Readonly<Record<string, string>> = {
  EACCES: 'its folder does not let this user write',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'what should be its folder is none',
  EROFS: 'its folder can only be read',
};

async function opened(partial: string): Promise<fs.FileHandle> {
  try {
    return await fs.open(partial, 'wx', 0o600);
  } catch (error) {
    const isCoded = typeof error === 'object' && error !== null && 'code' in error;
    const why = WRONG_PLACE[isCoded ? String(error.code) : ''];
    if (why === undefined) throw error;
    throw new BackupError(`the backup can't be written to ${path.dirname(partial)}: ${why}`, {
      cause: error,
    });
  }
}

/** A rename lasts once its folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await fs.open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
