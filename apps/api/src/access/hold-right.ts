/** Rights of the caller to what outlives its request, and the audit log's word on what ends when they are lost. */

import type { LeftKind } from '@holdfast/access/left-behind.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { writeAuditEntry } from '@holdfast/database/queries/audit.js';
import { type Ended, mayStill } from '@holdfast/database/queries/left-behind.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import type { Tenant } from './tenant.js';

/** Named by their ids in an audit entry; of more the count says how many there were. */
const NAMED_MAX = 50;

/**
 * Asked where something is made that works on after the request: the right may have been lost since the request was let in, and must not be
 * lost before the transaction ends.
 *
 * @throws StorageFault `auth.forbidden`
 */
export async function holdRight(sql: Sql, { actor }: Tenant, kind: LeftKind): Promise<void> {
  if (await mayStill(sql, kind, actor)) return;
  throw new StorageFault('auth.forbidden', {
    publicMessage: 'your role in the organization was changed at the same moment',
    cures: ['ask an admin of the organization'],
  });
}

/** Tells the audit log what has ended with a member's right, one entry for each kind. */
export async function noteEnded(sql: Sql, tenant: Tenant, ended: readonly Ended[]): Promise<void> {
  for (const { kind, ids } of ended) {
    const entry = tenant.auditEntry();
    const detail = { ...entry.detail, ended: kind, count: ids.length, ids: ids.slice(0, NAMED_MAX) };
    await writeAuditEntry(sql, { ...entry, detail });
  }
}
