import { orphanNotFound, requestOrphanRemoval } from '@holdfast/control/use-cases/request-orphan-removal.js';
import type { ClusterId, OrphanId } from '@holdfast/core/model/ids.js';
import { type ListRequest, mapPage, type Page } from '@holdfast/database/queries/list-rows.js';
import { findOrphan, listOrphans } from '@holdfast/database/queries/orphans.js';
import { Injectable } from '@nestjs/common';
import type { Tenant } from '../../access/tenant.js';
import { requireCluster } from '../clusters/require-cluster.js';
import { type OrphanView, orphanView } from './orphan.schemas.js';

type OrphanKey = { clusterId: ClusterId; orphanId: OrphanId };

/** Operations on orphans. REST and GraphQL are two thin adapters over it. */
@Injectable()
export class OrphansService {
  list(tenant: Tenant, clusterId: ClusterId, request: ListRequest): Promise<Page<OrphanView>> {
    return tenant.read(async (sql) => {
      await requireCluster(sql, clusterId);
      return mapPage(await listOrphans(sql, clusterId, request), orphanView);
    });
  }

  async get(tenant: Tenant, key: OrphanKey): Promise<OrphanView> {
    const found = await tenant.read((sql) => findOrphan(sql, key));
    if (found === undefined) throw orphanNotFound(key.orphanId);
    return orphanView(found);
  }

  /** The orphan after the request, or as it was if it is removed at once. */
  async delete(tenant: Tenant, key: OrphanKey): Promise<OrphanView> {
    const before = await this.get(tenant, key);
    await requestOrphanRemoval(tenant.ports, key);
    const found = await tenant.read((sql) => findOrphan(sql, key));
    return found === undefined ? { ...before, state: 'removing' } : orphanView(found);
  }
}
