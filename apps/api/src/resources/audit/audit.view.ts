import type { ChainReport } from '@holdfast/database/audit/verify.js';
import type { StoredAuditEntry } from '@holdfast/database/queries/audit.js';
import type { z } from 'zod';
import type { AuditVerificationDto, auditEntrySchema } from './audit.schemas.js';

export type AuditEntryView = z.infer<typeof auditEntrySchema>;

export function auditEntryView(row: StoredAuditEntry): AuditEntryView {
  return {
    id: row.id,
    actor: { kind: row.actor_kind, id: row.actor_id },
    address: row.address,
    action: row.action,
    target: { kind: row.target_kind, id: row.target_id },
    result: row.result,
    reason: row.reason,
    before: row.before,
    after: row.after,
    requestId: row.request_id,
    traceId: row.trace_id,
    detail: row.detail,
    at: row.at.toISOString(),
    sequence: row.sequence,
    hash: row.hash,
  };
}

export function verificationView(report: ChainReport): z.infer<typeof AuditVerificationDto.schema> {
  const { broken, through } = report;
  return {
    intact: broken === undefined,
    checked: report.checked,
    from: report.from,
    through,
    broken: broken === undefined ? null : { ...broken, entryId: broken.entryId ?? null },
    nextAfter: report.more ? through.sequence : null,
    unsealed: report.unsealed,
  };
}
