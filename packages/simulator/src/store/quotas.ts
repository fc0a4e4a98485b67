/** Quotas of the store in memory: usage is summed up anew with each commit, if there are limits at all. */

import {
  addedUse,
  NO_USE,
  passedQuota,
  type QuotaUse,
  quotaRefusal,
  useOfVolume,
} from '@holdfast/access/quota.js';
import type { Change } from '@holdfast/control/ports/store.js';
import { faultOf } from '@holdfast/control/use-cases/use-case.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, OrganizationId, ProjectId } from '@holdfast/core/model/ids.js';
import { isPreempted, type Rebuild } from '@holdfast/core/model/rebuild.js';
import type { RebuildQuota } from '@holdfast/core/model/views.js';
import type { Tables } from './tables.js';

type Use = ReadonlyMap<OrganizationId | ProjectId, QuotaUse>;

/** Usage of each organization and project; empty while nothing has a limit. */
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

/** Those that rebuilds of the cluster which wait or run count in. */
export function rebuildQuotas(tables: Tables, clusterId: ClusterId): RebuildQuota[] {
  return [...tables.quotas].flatMap(([id, { scope, limits }]) => {
    const { runningRebuilds: most } = limits;
    if (most === undefined) return [];
    const active = [...tables.rebuilds.by('state', 'queued'), ...tables.rebuilds.by('state', 'running')];
    const own = active.filter((rebuild) => countsIn(tables, rebuild, id));
    const volumeIds = own.flatMap((one) => (one.clusterId === clusterId ? [one.volumeId] : []));
    const elsewhere = own.filter((one) => one.clusterId !== clusterId && takesAPlace(one)).length;
    return volumeIds.length === 0 ? [] : [{ id, scope, most, elsewhere, volumeIds }];
  });
}

/** @throws StorageFault `store.conflict` when another cluster's admission has taken the last place meanwhile */
export function assertRebuildQuotas(tables: Tables, changes: readonly Change[]): void {
  const begun = changes.flatMap((change) => (begins(change) ? [tables.rebuilds.get(change.rebuildId)] : []));
  for (const [id, { limits }] of tables.quotas) {
    if (limits.runningRebuilds === undefined) continue;
    if (!begun.some((one) => one !== undefined && countsIn(tables, one, id))) continue;
    const running = tables.rebuilds.by('state', 'running').filter(takesAPlace);
    if (running.filter((one) => countsIn(tables, one, id)).length <= limits.runningRebuilds) continue;
    throw new StorageFault('store.conflict', {
      publicMessage: 'a quota of running rebuilds was used up meanwhile',
    });
  }
}

function begins(change: Change): change is Extract<Change, { kind: 'rebuild.patch' }> {
  if (change.kind !== 'rebuild.patch') return false;
  const { patch } = change;
  return (
    patch.state === 'running' || (Object.hasOwn(patch, 'preemptedAt') && patch.preemptedAt === undefined)
  );
}

function takesAPlace(rebuild: Rebuild): boolean {
  return rebuild.state === 'running' && !isPreempted(rebuild);
}

function countsIn(tables: Tables, { volumeId }: Rebuild, id: OrganizationId | ProjectId): boolean {
  const volume = tables.volumes.get(volumeId);
  return volume?.organizationId === id || volume?.projectId === id;
}
