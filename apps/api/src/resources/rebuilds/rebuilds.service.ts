import { tuneRebuild } from '@holdfast/control/use-cases/tune-rebuild.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { type ListRequest, mapPage, type Page } from '@holdfast/database/queries/list-rows.js';
import { listRebuilds } from '@holdfast/database/queries/rebuilds.js';
import { Injectable } from '@nestjs/common';
import type { Tenant } from '../../access/tenant.js';
import { requireUsableCluster } from '../clusters/require-cluster.js';
import { readOutlook } from './read-outlook.js';
import { type RebuildKey, readRebuild } from './read-rebuild.js';
import type { PatchRebuildBody } from './rebuild.schemas.js';
import { type RebuildView, rebuildView } from './rebuild.view.js';

@Injectable()
export class RebuildsService {
  list(tenant: Tenant, clusterId: ClusterId, request: ListRequest): Promise<Page<RebuildView>> {
    return tenant.readGranted(async (sql) => {
      await requireUsableCluster(sql, clusterId);
      const page = await listRebuilds(sql, clusterId, request);
      const outlook = await readOutlook(sql, clusterId, tenant.now);
      return mapPage(page, (rebuild) => rebuildView(rebuild, outlook, tenant.now));
    });
  }

  async get(tenant: Tenant, key: RebuildKey): Promise<RebuildView> {
    const { rebuild, outlook } = await readRebuild(tenant, key);
    return rebuildView(rebuild, outlook, tenant.now);
  }

  async tune(
    tenant: Tenant,
    key: RebuildKey,
    body: PatchRebuildBody,
    ifVersion?: number,
  ): Promise<RebuildView> {
    const { volumeId } = (await readRebuild(tenant, key)).rebuild;
    await tuneRebuild(tenant.volumePorts, { volumeId, rebuildId: key.rebuildId, ifVersion, ...body });
    return this.get(tenant, key);
  }
}
