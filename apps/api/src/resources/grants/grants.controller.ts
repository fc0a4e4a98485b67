import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { IfMatch, tagged } from '../../http/request.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import {
  CreateGrantBody,
  GrantDto,
  GrantPage,
  GrantPath,
  grantView,
  PatchGrantBody,
  ReceivedGrantPage,
  receivedGrantView,
} from './grant.schemas.js';
import { changeGrant, endGrant, grantsOf, makeGrant, readGrant, receivedGrants } from './grants.service.js';

@Controller('api/v1')
export class GrantsController {
  @Get('grants')
  @Route({
    access: 'cluster:read',
    summary: 'List grants to the organization: clusters of others for its volumes',
    answer: ReceivedGrantPage,
  })
  async received(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    return pageView(await receivedGrants(tenant, query), receivedGrantView);
  }

  @Get('clusters/:clusterId/grants')
  @Route({
    access: 'grant:read',
    summary: 'List the grants of a cluster',
    answer: GrantPage,
    refuses: ['cluster.not_found'],
  })
  async list(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() query: ListQuery,
  ) {
    return pageView(await grantsOf(tenant, clusterId, query), grantView);
  }

  @Post('clusters/:clusterId/grants')
  @Route({
    access: 'grant:write',
    summary: 'Let another organization place volumes in a cluster',
    answer: GrantDto,
    status: 201,
    refuses: ['cluster.not_found', 'grant.exists', 'grant.not_found'],
  })
  async create(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Body() body: CreateGrantBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, grantView(await makeGrant(tenant, clusterId, body)));
  }

  @Get('clusters/:clusterId/grants/:grantId')
  @Route({
    access: 'grant:read',
    summary: 'Read a grant',
    answer: GrantDto,
    refuses: ['cluster.not_found', 'grant.not_found'],
  })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() path: GrantPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, grantView(await readGrant(tenant, path)));
  }

  @Patch('clusters/:clusterId/grants/:grantId')
  @Route({
    access: 'grant:write',
    summary: 'Change a grant; fields left out are unchanged, and volumes beyond a lowered limit stay',
    answer: GrantDto,
    refuses: ['cluster.not_found', 'grant.not_found'],
  })
  async patch(
    @CurrentTenant() tenant: Tenant,
    @Param() path: GrantPath,
    @Body() patch: PatchGrantBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, grantView(await changeGrant(tenant, path, { patch, ifVersion })));
  }

  @Delete('clusters/:clusterId/grants/:grantId')
  @Route({
    access: 'grant:write',
    summary: 'Delete a grant without volumes',
    status: 204,
    refuses: ['cluster.not_found', 'grant.not_found', 'grant.in_use'],
  })
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param() path: GrantPath,
    @IfMatch() ifVersion: number | undefined,
  ): Promise<void> {
    await endGrant(tenant, path, ifVersion);
  }
}
