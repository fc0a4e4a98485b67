import { Body, Controller, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { CurrentTenant } from '../platform/request.js';
import { Route } from '../platform/route.decorator.js';
import { ListQuery, pageView } from '../platform/schemas.js';
import type { Tenant } from '../platform/tenant.js';
import { NoBody } from '../volumes/volume.schemas.js';
import { PatchRebuildBody, RebuildDto, RebuildPage, RebuildPath } from './rebuild.schemas.js';
import { RebuildsService } from './rebuilds.service.js';

/** Refusals of everything that changes a rebuild. */
const REBUILD_CHANGE = ['rebuild.not_found', 'rebuild.finished', 'volume.not_found'] as const;

@Controller('api/v1/clusters/:clusterId/rebuilds')
export class RebuildsController {
  constructor(private readonly rebuilds: RebuildsService) {}

  @Get()
  @Route({
    access: 'rebuild:read',
    summary: 'List rebuilds: running, queued and past',
    answer: RebuildPage,
    refuses: ['cluster.not_found'],
  })
  async list(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() query: ListQuery,
  ) {
    return pageView(await this.rebuilds.list(tenant, clusterId, query), (view) => view);
  }

  @Get(':rebuildId')
  @Route({
    access: 'rebuild:read',
    summary: 'Read a rebuild',
    answer: RebuildDto,
    refuses: ['rebuild.not_found'],
  })
  get(@CurrentTenant() tenant: Tenant, @Param() path: RebuildPath) {
    return this.rebuilds.get(tenant, path);
  }

  @Patch(':rebuildId')
  @Route({
    access: 'rebuild:write',
    summary: 'Pause, resume or slow a rebuild down; user writes still reach its target',
    answer: RebuildDto,
    refuses: [...REBUILD_CHANGE],
  })
  patch(@CurrentTenant() tenant: Tenant, @Param() path: RebuildPath, @Body() body: PatchRebuildBody) {
    return this.rebuilds.tune(tenant, path, body);
  }

  @Post(':rebuildId/pause')
  @Route({
    access: 'rebuild:write',
    summary: 'Hold a rebuild up',
    answer: RebuildDto,
    refuses: [...REBUILD_CHANGE],
  })
  pause(@CurrentTenant() tenant: Tenant, @Param() path: RebuildPath, @Body() _body: NoBody) {
    return this.rebuilds.tune(tenant, path, { paused: true });
  }

  @Post(':rebuildId/resume')
  @Route({
    access: 'rebuild:write',
    summary: 'Let a paused rebuild go on',
    answer: RebuildDto,
    refuses: [...REBUILD_CHANGE],
  })
  resume(@CurrentTenant() tenant: Tenant, @Param() path: RebuildPath, @Body() _body: NoBody) {
    return this.rebuilds.tune(tenant, path, { paused: false });
  }

  @Post(':rebuildId/cancel')
  @Route({
    access: 'rebuild:write',
    summary: 'Cancel a rebuild',
    answer: RebuildDto,
    refuses: [...REBUILD_CHANGE],
  })
  cancel(@CurrentTenant() tenant: Tenant, @Param() path: RebuildPath, @Body() _body: NoBody) {
    return this.rebuilds.cancel(tenant, path);
  }
}
