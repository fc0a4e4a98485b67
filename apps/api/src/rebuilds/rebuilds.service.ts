import { cancelRebuild } from '@holdfast/control/use-cases/cancel-rebuild.js';
import { tuneRebuild } from '@holdfast/control/use-cases/tune-rebuild.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, RebuildId } from '@holdfast/core/model/ids.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import { type ListRequest, mapPage, type Page } from '@holdfast/database/queries/list-rows.js';
import { findRebuild, listQueuedRebuilds, listRebuilds } from '@holdfast/database/queries/rebuilds.js';
import { Injectable } from '@nestjs/common';
import { requireCluster } from '../clusters/require-cluster.js';
import type { Tenant } from '../platform/tenant.js';
import type { PatchRebuildBody } from './rebuild.schemas.js';
import { queuePositions, type RebuildView, rebuildView } from './rebuild.view.js';

type RebuildKey = { clusterId: ClusterId; rebuildId: RebuildId };

@Injectable()
export class RebuildsService {
  list(tenant: Tenant, clusterId: ClusterId, request: ListRequest): Promise<Page<RebuildView>> {
    return tenant.read(async (sql) => {
      await requireCluster(sql, clusterId);
      const page = await listRebuilds(sql, clusterId, request);
      const positions = queuePositions(await listQueuedRebuilds(sql, clusterId));
      return mapPage(page, (rebuild) => rebuildView(rebuild, positions, tenant.now));
    });
  }

  get(tenant: Tenant, key: RebuildKey): Promise<RebuildView> {
    return tenant.read(async (sql) => {
      const rebuild = await findRebuild(sql, key);
      if (rebuild === undefined) throw rebuildNotFound(key);
      const positions = queuePositions(await listQueuedRebuilds(sql, key.clusterId));
      return rebuildView(rebuild, positions, tenant.now);
    });
  }

  async cancel(tenant: Tenant, key: RebuildKey): Promise<RebuildView> {
    const { volumeId } = await this.find(tenant, key);
    await cancelRebuild(tenant.ports, { volumeId, rebuildId: key.rebuildId });
    return this.get(tenant, key);
  }

  async tune(tenant: Tenant, key: RebuildKey, body: PatchRebuildBody): Promise<RebuildView> {
    const { volumeId } = await this.find(tenant, key);
    await tuneRebuild(tenant.ports, { volumeId, rebuildId: key.rebuildId, ...body });
    return this.get(tenant, key);
  }

  private find(tenant: Tenant, key: RebuildKey): Promise<Rebuild> {
    return tenant.read(async (sql) => {
      const rebuild = await findRebuild(sql, key);
      if (rebuild === undefined) throw rebuildNotFound(key);
      return rebuild;
    });
  }
}

function rebuildNotFound({ rebuildId }: RebuildKey): StorageFault {
  return new StorageFault('rebuild.not_found', { publicMessage: `there is no rebuild ${rebuildId}` });
}
