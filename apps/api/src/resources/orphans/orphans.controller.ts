import { Controller, Delete, Get, Param, Query } from '@nestjs/common';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { noteOnly } from '../dry-runs/planned-effects.js';
import { OrphanDto, OrphanPage, OrphanPath } from './orphan.schemas.js';
import { OrphansService } from './orphans.service.js';

@Controller('api/v1/clusters/:clusterId/orphans')
export class OrphansController {
  constructor(private readonly orphans: OrphansService) {}

  @Get()
  @Route({
    access: 'node:read',
    summary: 'List copies on disks that belong to no replica',
    answer: OrphanPage,
    refuses: ['cluster.not_found'],
  })
  async list(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() query: ListQuery,
  ) {
    return pageView(await this.orphans.list(tenant, clusterId, query), (view) => view);
  }

  @Get(':orphanId')
  @Route({ access: 'node:read', summary: 'Read an orphan', answer: OrphanDto, refuses: ['orphan.not_found'] })
  get(@CurrentTenant() tenant: Tenant, @Param() path: OrphanPath) {
    return this.orphans.get(tenant, path);
  }

  @Delete(':orphanId')
  @Route({
    access: 'node:write',
    summary: 'Remove an orphan and its data from its disk',
    dryRun: noteOnly('the copy and its data are removed for good'),
    answer: OrphanDto,
    status: 202,
    refuses: ['orphan.not_found', 'disk.not_ready'],
  })
  delete(@CurrentTenant() tenant: Tenant, @Param() path: OrphanPath) {
    return this.orphans.delete(tenant, path);
  }
}
