import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { CurrentTenant } from '../platform/request.js';
import { Route } from '../platform/route.decorator.js';
import { ListQuery, pageView } from '../platform/schemas.js';
import type { Tenant } from '../platform/tenant.js';
import { NoBody } from '../volumes/volume.schemas.js';
import { RebuildDto, RebuildPage, RebuildPath } from './rebuild.schemas.js';
import { RebuildsService } from './rebuilds.service.js';

@Controller('api/v1/clusters/:clusterId/rebuilds')
export class RebuildsController {
  constructor(private readonly rebuilds: RebuildsService) {}

  @Get()
  @Route({ access: 'rebuild:read', summary: 'List rebuilds: running, queued and past', answer: RebuildPage })
  async list(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() query: ListQuery,
  ) {
    return pageView(await this.rebuilds.list(tenant, clusterId, query), (view) => view);
  }

  @Get(':rebuildId')
  @Route({ access: 'rebuild:read', summary: 'Read a rebuild', answer: RebuildDto })
  get(@CurrentTenant() tenant: Tenant, @Param() path: RebuildPath) {
    return this.rebuilds.get(tenant, path);
  }

  @Post(':rebuildId/cancel')
  @Route({ access: 'rebuild:write', summary: 'Cancel a rebuild', answer: RebuildDto })
  cancel(@CurrentTenant() tenant: Tenant, @Param() path: RebuildPath, @Body() _body: NoBody) {
    return this.rebuilds.cancel(tenant, path);
  }
}
