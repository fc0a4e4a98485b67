/**
 * Sealing of the audit log: puts new entries into their organization's chain.
 *
 * Entries are written without a link, so that the writers of an organization do not wait for each other. Each leaves a row in
 * `audit_unsealed` in its own transaction, which is deleted in the transaction that makes its link: a process that dies leaves the
 * rest to the next run, and two processes alternate.
 */
import type { OrganizationId } from '@holdfast/core/model/ids.js';
import { type Scope, type Sql, transaction } from '../sql/scope.js';
import { AUDIT_COLUMNS, type AuditRow, nextLink, readHead } from './entry-hash.js';

/** Entries per transaction: hashed within some milliseconds. */
const BATCH = 500;
/** Batches of an organization per run, so that one with a long backlog does not delay the others. */
const BATCHES_MAX = 20;

/** Seals what all organizations have written. Returns how many entries. */
export async function sealAll(system: Scope): Promise<number> {
  const { rows } = await transaction(system, (sql) =>
    sql.query<{ organization_id: OrganizationId }>('SELECT DISTINCT organization_id FROM audit_unsealed'),
  );
  let sealed = 0;
  for (const { organization_id } of rows) sealed += await sealOrganization(system, organization_id);
  return sealed;
}

export async function sealOrganization(system: Scope, organizationId: OrganizationId): Promise<number> {
  let sealed = 0;
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const count = await transaction(system, (sql) => sealBatch(sql, organizationId));
    sealed += count;
    if (count < BATCH) break;
  }
  return sealed;
}

async function sealBatch(sql: Sql, organizationId: OrganizationId): Promise<number> {
  // One process at a time appends to a chain.
  await sql.query(`SELECT pg_advisory_xact_lock(hashtextextended('audit ' || $1::text, 0))`, [
    organizationId,
  ]);
  const { rows } = await sql.query<AuditRow>(
    `SELECT ${AUDIT_COLUMNS} FROM audit_unsealed u JOIN audit_entry e ON e.id = u.entry_id
     WHERE u.organization_id = $1 ORDER BY u.entry_id LIMIT ${BATCH}`,
    [organizationId],
  );
  if (rows.length === 0) return 0;
  let head = await readHead(sql, organizationId);
  const links = rows.map((row) => {
    head = nextLink(head, row);
    return { ...head, entryId: row.id };
  });
  const entryIds = links.map(({ entryId }) => entryId);
  await sql.query(
    `INSERT INTO audit_link (organization_id, sequence, entry_id, hash)
     SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::text[])`,
    [organizationId, links.map(({ sequence }) => sequence), entryIds, links.map(({ hash }) => hash)],
  );
  await sql.query('DELETE FROM audit_unsealed WHERE organization_id = $1 AND entry_id = ANY($2)', [
    organizationId,
    entryIds,
  ]);
  return rows.length;
}
