import type { OrganizationId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';
import { asJson } from '../sql/table.js';
import { type ListRequest, listRows, mapPage, type Page } from './list-rows.js';

export type AuditEntry = {
  organizationId: OrganizationId;
  actor: { kind: string; id: string };
  /** What was done: the method and the route. */
  action: string;
  target: { kind: string; id: string };
  requestId: string;
  detail: Record<string, unknown>;
  at: Date;
};

/** Written in the transaction of the change, so that neither is there without the other. */
export function writeAuditEntry(sql: Sql, entry: AuditEntry): Promise<void> {
  return insertAuditEntries(sql, [entry]);
}

export async function insertAuditEntries(sql: Sql, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await sql.query(
    `INSERT INTO audit_entry (organization_id, actor_kind, actor_id, action, target_kind, target_id, request_id,
       detail, at)
     SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
       $8::jsonb[], $9::timestamptz[])`,
    [
      entries.map(({ organizationId }) => organizationId),
      entries.map(({ actor }) => actor.kind),
      entries.map(({ actor }) => actor.id),
      entries.map(({ action }) => action),
      entries.map(({ target }) => target.kind),
      entries.map(({ target }) => target.id),
      entries.map(({ requestId }) => requestId),
      entries.map(({ detail }) => asJson(detail)),
      entries.map(({ at }) => at),
    ],
  );
}

export type StoredAuditEntry = AuditEntry & { id: number };

const FIELDS = {
  id: { sql: 'a.id', type: 'number' },
  actorId: { sql: 'a.actor_id', type: 'text' },
  action: { sql: 'a.action', type: 'text' },
  targetKind: { sql: 'a.target_kind', type: 'text' },
  targetId: { sql: 'a.target_id', type: 'text' },
  requestId: { sql: 'a.request_id', type: 'text' },
  at: { sql: 'a.at', type: 'time' },
} as const;

type AuditRow = {
  id: number;
  organization_id: OrganizationId;
  actor_kind: string;
  actor_id: string;
  action: string;
  target_kind: string;
  target_id: string;
  request_id: string;
  detail: Record<string, unknown>;
  at: Date;
};

/** Newest first, unless the request says otherwise. */
export async function listAuditEntries(sql: Sql, request: ListRequest): Promise<Page<StoredAuditEntry>> {
  const page = await listRows<AuditRow>(
    sql,
    {
      columns: 'a.*',
      from: 'audit_entry a',
      key: FIELDS.id,
      fields: FIELDS,
      defaultSort: '-id',
      where: { text: 'true', values: [] },
    },
    request,
  );
  return mapPage(page, (row) => ({
    id: row.id,
    organizationId: row.organization_id,
    actor: { kind: row.actor_kind, id: row.actor_id },
    action: row.action,
    target: { kind: row.target_kind, id: row.target_id },
    requestId: row.request_id,
    detail: row.detail,
    at: row.at,
  }));
}
