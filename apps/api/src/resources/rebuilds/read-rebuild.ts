import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, RebuildId } from '@holdfast/core/model/ids.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import { findRebuild } from '@holdfast/database/queries/rebuilds.js';
import type { Tenant } from '../../access/tenant.js';
import { type RebuildOutlook, readOutlook } from './read-outlook.js';

export type RebuildKey = { clusterId: ClusterId; rebuildId: RebuildId };

export type FoundRebuild = { rebuild: Rebuild; outlook: RebuildOutlook };

/** @throws StorageFault `rebuild.not_found` */
export function readRebuild(tenant: Tenant, key: RebuildKey): Promise<FoundRebuild> {
  return tenant.readGranted(async (sql) => {
    const rebuild = await findRebuild(sql, key);
    if (rebuild === undefined) {
      throw new StorageFault('rebuild.not_found', { publicMessage: `there is no rebuild ${key.rebuildId}` });
    }
    return { rebuild, outlook: await readOutlook(sql, key.clusterId, tenant.now) };
  });
}
