/** Quotas of the store in memory: what is used is added up anew with each commit, while there are limits at all. */
import { faultOf } from '@holdfast/control/use-cases/use-case.js';
import type { OrganizationId, ProjectId } from '@holdfast/core/model/ids.js';
import {
  addedUse,
  NO_USE,
  passedQuota,
  type QuotaUse,
  quotaRefusal,
  useOfVolume,
} from '@holdfast/core/policy/quota.js';
import type { Tables } from './tables.js';

type Use = ReadonlyMap<OrganizationId | ProjectId, QuotaUse>;

/** What each organization and project uses; empty while nothing has a limit. */
export function quotaUse(tables: Tables): Use {
  const use = new Map<OrganizationId | ProjectId, QuotaUse>();
  if (tables.quotas.size === 0) return use;
  for (const volume of tables.volumes.values()) {
    const snapshots = tables.snapshots.by('volume', volume.id).filter(({ origin }) => origin === 'user');
    const own = { ...useOfVolume(volume), snapshots: snapshots.length };
    for (const scope of [volume.organizationId, volume.projectId]) {
      use.set(scope, addedUse(use.get(scope) ?? NO_USE, own));
    }
  }
  return use;
}

/** @throws StorageFault `quota.exceeded` */
export function assertWithinQuotas(tables: Tables, before: Use): void {
  const after = quotaUse(tables);
  for (const [id, { scope, limits }] of tables.quotas) {
    const change = { before: before.get(id) ?? NO_USE, after: after.get(id) ?? NO_USE };
    const passed = passedQuota(scope, limits, change);
    if (passed !== undefined) throw faultOf(quotaRefusal(passed));
  }
}
