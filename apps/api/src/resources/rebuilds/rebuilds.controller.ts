import { Body, Controller, Get, Param, Patch, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { IfMatch, tagged } from '../../http/request.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { PatchRebuildBody, RebuildDto, RebuildPage, RebuildPath } from './rebuild.schemas.js';
import { REBUILD_CHANGE } from './rebuild-actions.js';
import { RebuildsService } from './rebuilds.service.js';

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
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() path: RebuildPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, await this.rebuilds.get(tenant, path));
  }

  @Patch(':rebuildId')
  @Route({
    access: 'rebuild:write',
    summary: 'Pause, resume or throttle a rebuild; user writes still reach its target',
    answer: RebuildDto,
    refuses: [...REBUILD_CHANGE],
  })
  async patch(
    @CurrentTenant() tenant: Tenant,
    @Param() path: RebuildPath,
    @Body() body: PatchRebuildBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, await this.rebuilds.tune(tenant, path, body, ifVersion));
  }
}
