import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, RebuildId } from '@holdfast/core/model/ids.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import { findRebuild, listQueuedRebuilds } from '@holdfast/database/queries/rebuilds.js';
import type { Tenant } from '../platform/tenant.js';
import { queuePositions } from './rebuild.view.js';

export type RebuildKey = { clusterId: ClusterId; rebuildId: RebuildId };

/** A rebuild, and the place in the queue of each that waits in its cluster. */
export type FoundRebuild = { rebuild: Rebuild; positions: ReadonlyMap<string, number> };

/** @throws StorageFault `rebuild.not_found` */
export function readRebuild(tenant: Tenant, key: RebuildKey): Promise<FoundRebuild> {
  return tenant.read(async (sql) => {
    const rebuild = await findRebuild(sql, key);
    if (rebuild === undefined) {
      throw new StorageFault('rebuild.not_found', { publicMessage: `there is no rebuild ${key.rebuildId}` });
    }
    return { rebuild, positions: queuePositions(await listQueuedRebuilds(sql, key.clusterId)) };
  });
}
