/** Rights of the caller to objects that outlive its request, and audit entries for those that end when the rights are lost. */

import type { LeftKind } from '@holdfast/access/left-behind.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { writeAuditEntry } from '@holdfast/database/queries/audit.js';
import { type Ended, mayStill } from '@holdfast/database/queries/left-behind.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import type { Tenant } from './tenant.js';

/** Maximum number of ids in an audit entry; the count covers all. */
const NAMED_MAX = 50;

/**
 * To be called where an object is created that works on after the request: checks that the caller still has the right, and locks it until
 * the transaction ends.
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

/** Writes audit entries for objects that have ended with a member's right, one for each kind. */
export async function noteEnded(sql: Sql, tenant: Tenant, ended: readonly Ended[]): Promise<void> {
  for (const { kind, ids } of ended) {
    const entry = tenant.auditEntry();
    const detail = { ...entry.detail, ended: kind, count: ids.length, ids: ids.slice(0, NAMED_MAX) };
    await writeAuditEntry(sql, { ...entry, detail });
  }
}
