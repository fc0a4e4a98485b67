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
export async function writeAuditEntry(sql: Sql, entry: AuditEntry): Promise<void> {
  await sql.query(
    `INSERT INTO audit_entry (organization_id, actor_kind, actor_id, action, target_kind, target_id, request_id,
       detail, at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      entry.organizationId,
      entry.actor.kind,
      entry.actor.id,
      entry.action,
      entry.target.kind,
      entry.target.id,
      entry.requestId,
      asJson(entry.detail),
      entry.at,
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
