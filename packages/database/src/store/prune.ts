import type { ClusterId, OrganizationId } from '@holdfast/core/model/ids.js';
import { sealOrganization } from '../audit/seal.js';
import { type Scope, type Sql, transaction } from '../sql/scope.js';
import { loadSettings } from './load-views.js';

/** Expired tokens stay visible for a while, so that users see why something stopped working. */
const EXPIRED_TOKENS_KEPT_DAYS = 7;
/** Retention of deliveries, and the number of the newest ones kept for each webhook. */
const DELIVERIES_KEPT_DAYS = 14;
const DELIVERIES_KEPT_MAX = 2_000;
/** Rows of one kind per run: a first run after a long pause must not hold locks for minutes. The next run takes the rest. */
const ROWS_MAX = 50_000;

/** How many rows were deleted. */
export type Pruned = {
  events: number;
  rebuilds: number;
  operations: number;
  auditEntries: number;
  tokens: number;
  deliveries: number;
  alerts: number;
  /** Invitations, first links and sign-ins of programs that were not used in time. */
  invitations: number;
  /** Counts of sign-ins and requests whose window has ended. */
  counts: number;
};

type Cluster = { id: ClusterId; organization_id: OrganizationId };

/** Deletes rows that are older than the settings of their cluster keep them. */
export async function pruneHistory(system: Scope, now: Date): Promise<Pruned> {
  const { rows: clusters } = await transaction(system, (sql) =>
    sql.query<Cluster>('SELECT id, organization_id FROM cluster ORDER BY id'),
  );
  const pruned: Pruned = {
    events: 0,
    rebuilds: 0,
    operations: 0,
    auditEntries: 0,
    tokens: 0,
    deliveries: 0,
    alerts: 0,
    invitations: 0,
    counts: 0,
  };
  const auditDays = new Map<OrganizationId, number>();
  for (const { id, organization_id } of clusters) {
    await transaction(system, async (sql) => {
      const { settings } = await loadSettings(sql, id);
      const eventsBefore = daysBefore(now, settings['event-retention-days']);
      pruned.events += await deleteOlder(sql, 'event', id, eventsBefore);
      pruned.alerts += await deleteOlder(sql, 'alert', id, eventsBefore);
      await deleteOlder(sql, 'silence', id, eventsBefore);
      const ended = daysBefore(now, settings['rebuild-retention-days']);
      pruned.rebuilds += await deleteOlder(sql, 'rebuild', id, ended);
      pruned.operations += await deleteOlder(sql, 'ended_operation', id, ended);
      const known = auditDays.get(organization_id);
      auditDays.set(organization_id, longest(known, settings['audit-retention-days']));
    });
  }
  for (const [organizationId, days] of auditDays) {
    if (days === 0) continue;
    // Only linked entries may be deleted.
    await sealOrganization(system, organizationId);
    pruned.auditEntries += await transaction(system, (sql) =>
      pruneAudit(sql, organizationId, daysBefore(now, days)),
    );
  }
  pruned.tokens = await transaction(system, (sql) => deleteTokens(sql, now));
  pruned.deliveries = await transaction(system, (sql) => deleteDeliveries(sql, now));
  pruned.invitations = await transaction(system, (sql) => deleteInvitations(sql, now));
  pruned.counts = await transaction(system, (sql) => deleteCounts(sql, now));
  await transaction(system, deleteRepeatedNotes);
  return pruned;
}

/** An organization's log is kept as long as any of its clusters requires; 0 keeps it for ever. */
function longest(known: number | undefined, days: number): number {
  if (known === undefined) return days;
  return known === 0 || days === 0 ? 0 : Math.max(known, days);
}

function daysBefore(now: Date, days: number): Date {
  return new Date(now.getTime() - days * 24 * 3_600_000);
}

/** Tables of history, their owner, and the time that makes a row old. */
const HISTORY = {
  event: { owner: 'cluster_id', time: 'at' },
  rebuild: { owner: 'cluster_id', time: 'finished_at' },
  ended_operation: { owner: 'cluster_id', time: 'finished_at' },
  alert: { owner: 'cluster_id', time: 'resolved_at' },
  silence: { owner: 'cluster_id', time: 'ends_at' },
} as const;

async function deleteOlder(
  sql: Sql,
  table: keyof typeof HISTORY,
  ownerId: ClusterId | OrganizationId,
  before: Date,
): Promise<number> {
  const { owner, time } = HISTORY[table];
  const { rowCount } = await sql.query(
    `DELETE FROM ${table} WHERE id = ANY(ARRAY(
       SELECT id FROM ${table} WHERE ${owner} = $1 AND ${time} < $2 ORDER BY ${time} LIMIT $3))`,
    [ownerId, before, ROWS_MAX],
  );
  return rowCount;
}

/** The role may delete no entry: this function of the tables' owner does, and stores where the chain continues. */
async function pruneAudit(sql: Sql, organizationId: OrganizationId, before: Date): Promise<number> {
  const { rows } = await sql.query<{ pruned: number }>('SELECT prune_audit($1, $2, $3) AS pruned', [
    organizationId,
    before,
    ROWS_MAX,
  ]);
  return rows[0]?.pruned ?? 0;
}

/** Unused permissions with an end: invitations, first links, and programs' sign-ins. */
async function deleteInvitations(sql: Sql, now: Date): Promise<number> {
  let deleted = 0;
  for (const table of ['invitation', 'first_link', 'device_login']) {
    deleted += (await sql.query(`DELETE FROM ${table} WHERE expires_at < $1`, [now])).rowCount;
  }
  return deleted;
}

/** One row for each address that has failed to sign in, or organization: without this there would be more for ever. */
async function deleteCounts(sql: Sql, now: Date): Promise<number> {
  let deleted = 0;
  for (const table of ['sign_in_limit', 'request_permit']) {
    // A row that is being counted in is left to the next run, and so is what would wait for it.
    const ended = `SELECT key FROM ${table} WHERE expire < $1 LIMIT $2 FOR UPDATE SKIP LOCKED`;
    const statement = `DELETE FROM ${table} WHERE key = ANY(ARRAY(${ended}))`;
    deleted += (await sql.query(statement, [now.getTime(), ROWS_MAX])).rowCount;
  }
  return deleted;
}

/** For a node that no longer reports one note is enough: its next whole report deletes the rest. */
async function deleteRepeatedNotes(sql: Sql): Promise<void> {
  await sql.query(
    `DELETE FROM stale_report WHERE id = ANY(ARRAY(
       SELECT s.id FROM stale_report s
       WHERE EXISTS (SELECT FROM stale_report n WHERE n.node_id = s.node_id AND n.id > s.id) LIMIT $1))`,
    [ROWS_MAX],
  );
}

async function deleteTokens(sql: Sql, now: Date): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM token WHERE id IN (
       SELECT id FROM token WHERE expires_at < $1::timestamptz - interval '${EXPIRED_TOKENS_KEPT_DAYS} days'
       ORDER BY id LIMIT $2)`,
    [now, ROWS_MAX],
  );
  return rowCount;
}

/** Waiting deliveries stay. */
async function deleteDeliveries(sql: Sql, now: Date): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM webhook_delivery WHERE id = ANY(ARRAY(
       SELECT d.id FROM webhook w CROSS JOIN LATERAL (
         SELECT id, created_at, row_number() OVER (ORDER BY created_at DESC, id DESC) AS place
         FROM webhook_delivery WHERE webhook_id = w.id AND state <> 'waiting'
       ) d
       WHERE d.created_at < $1::timestamptz - interval '${DELIVERIES_KEPT_DAYS} days' OR d.place > ${DELIVERIES_KEPT_MAX}
       LIMIT $2))`,
    [now, ROWS_MAX],
  );
  return rowCount;
}
