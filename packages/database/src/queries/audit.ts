import type { OrganizationId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';
import { asJson } from '../sql/table.js';

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
