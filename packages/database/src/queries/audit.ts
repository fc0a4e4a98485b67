import type { OrganizationId } from '@holdfast/core/model/ids.js';
import { AUDIT_COLUMNS, type AuditRow } from '../audit/entry-hash.js';
import type { FieldChanges } from '../audit/target-row.js';
import type { Sql } from '../sql/scope.js';
import { asJson } from '../sql/table.js';
import { type ListRequest, listRows, type Page } from './list-rows.js';

export type AuditEntry = {
  organizationId: OrganizationId;
  actor: { kind: string; id: string };
  /** The action: method and route. */
  action: string;
  target: { kind: string; id: string };
  requestId: string;
  detail: Record<string, unknown>;
  at: Date;
  /** Where the request came from; empty: the control plane itself. */
  address: string;
  /** Of the trace that the request belongs to; empty: none. */
  traceId: string;
  /** The code that it was refused with; left out: it was done. */
  reason?: string | undefined;
  /** True: it was tried and rolled back. */
  isDry?: boolean | undefined;
  /** Fields of the target that changed, without secrets. */
  changes?: FieldChanges | undefined;
};

/** Written in the transaction of the change, so that neither exists without the other. */
export function writeAuditEntry(sql: Sql, entry: AuditEntry): Promise<void> {
  return insertAuditEntries(sql, [entry]);
}

export async function insertAuditEntries(sql: Sql, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await sql.query(
    `INSERT INTO audit_entry (organization_id, actor_kind, actor_id, action, target_kind, target_id, request_id,
       detail, at, address, trace_id, result, reason, before, after)
     SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
       $8::jsonb[], $9::timestamptz[], $10::text[], $11::text[], $12::text[], $13::text[], $14::jsonb[], $15::jsonb[])`,
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
      entries.map(({ address }) => address),
      entries.map(({ traceId }) => traceId),
      entries.map(resultOf),
      entries.map(({ reason = '' }) => reason),
      entries.map(({ changes }) => asJson(changes?.before)),
      entries.map(({ changes }) => asJson(changes?.after)),
    ],
  );
}

function resultOf({ reason, isDry }: AuditEntry): 'done' | 'refused' | 'dry' {
  if (reason !== undefined) return 'refused';
  return isDry === true ? 'dry' : 'done';
}

export type StoredAuditEntry = AuditRow & {
  /** Its place in the chain, and the hash there; null: it is not sealed yet. */
  sequence: number | null;
  hash: string | null;
};

const FIELDS = {
  id: { sql: 'e.id', type: 'number' },
  actorKind: { sql: 'e.actor_kind', type: 'text' },
  actorId: { sql: 'e.actor_id', type: 'text' },
  address: { sql: 'e.address', type: 'text' },
  action: { sql: 'e.action', type: 'text' },
  targetKind: { sql: 'e.target_kind', type: 'text' },
  targetId: { sql: 'e.target_id', type: 'text' },
  result: { sql: 'e.result', type: 'text' },
  reason: { sql: 'e.reason', type: 'text' },
  requestId: { sql: 'e.request_id', type: 'text' },
  traceId: { sql: 'e.trace_id', type: 'text' },
  at: { sql: 'e.at', type: 'time' },
} as const;

/** Newest first, unless the request says otherwise. */
export function listAuditEntries(sql: Sql, request: ListRequest): Promise<Page<StoredAuditEntry>> {
  return listRows<StoredAuditEntry>(
    sql,
    {
      columns: `${AUDIT_COLUMNS}, l.sequence, l.hash`,
      from: 'audit_entry e LEFT JOIN audit_link l ON l.entry_id = e.id',
      key: FIELDS.id,
      fields: FIELDS,
      defaultSort: '-id',
      where: { text: 'true', values: [] },
    },
    request,
  );
}
