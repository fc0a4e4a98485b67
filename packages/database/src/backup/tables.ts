/** The tables of the control plane's database as a backup sees them. */
import { Bug } from '@holdfast/core/model/faults.js';
import pg from 'pg';
import type { BackupTable, Migration } from './contents.js';

/** Prisma's bookkeeping, which the migrations write themselves, and the mark of a restore that has not ended. */
const NOT_OURS = ['_prisma_migrations', 'restore_under_way'];

/** All tables, each behind those that its rows refer to. */
export async function tablesOf(client: pg.Client): Promise<BackupTable[]> {
  const { rows } = await client.query<BackupTable>(
    `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> ALL($1)
       AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     GROUP BY c.relname ORDER BY c.relname`,
    [NOT_OURS],
  );
  return inOrder(rows, await referencesOf(client));
}

type Reference = { from: string; to: string };

async function referencesOf(client: pg.Client): Promise<Reference[]> {
  const { rows } = await client.query<Reference>(
    `SELECT DISTINCT f.relname AS from, t.relname AS to FROM pg_constraint k
     JOIN pg_class f ON f.oid = k.conrelid JOIN pg_class t ON t.oid = k.confrelid
     WHERE k.contype = 'f' AND k.conrelid <> k.confrelid`,
  );
  return rows;
}

function inOrder(tables: readonly BackupTable[], references: readonly Reference[]): BackupTable[] {
  const left = new Map(tables.map((table) => [table.name, table]));
  const ordered: BackupTable[] = [];
  while (left.size > 0) {
    const next = [...left.values()].find(({ name }) =>
      references.every(({ from, to }) => from !== name || !left.has(to)),
    );
    if (next === undefined) throw new Bug(`the tables ${[...left.keys()]} refer to each other in a circle`);
    left.delete(next.name);
    ordered.push(next);
  }
  return ordered;
}

/** The table with its columns, as COPY names them. */
export function copyTarget({ name, columns }: BackupTable): string {
  const list = columns.map((column) => pg.escapeIdentifier(column)).join(', ');
  return `public.${pg.escapeIdentifier(name)} (${list})`;
}

/** Migrations that were applied, in order. */
export async function appliedMigrations(client: pg.Client): Promise<Migration[]> {
  const { rows } = await client.query<Migration>(
    `SELECT migration_name AS name, checksum FROM public._prisma_migrations
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`,
  );
  return rows;
}

/** Row-level security hides rows from most roles. It must raise an error instead of leaving rows out. */
export const SEE_ALL_ROWS = 'SET row_security = off';
