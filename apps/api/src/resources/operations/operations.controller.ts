import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { AnyOperationPath, OperationDto, OperationPage, OperationPath } from './operation.schemas.js';
import { readOperation, readOperations } from './read-operation.js';

/** Operations of one cluster, and of all: an id alone is enough to follow one. */
@Controller('api/v1')
export class OperationsController {
  @Get('operations')
  @Route({ access: 'event:read', summary: 'List operations of all clusters', answer: OperationPage })
  async listAll(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    return pageView(await readOperations(tenant, undefined, query), (view) => view);
  }

  @Get('operations/:operationId')
  @Route({
    access: 'event:read',
    summary: 'Read an operation of any cluster',
    answer: OperationDto,
    mayWait: true,
    refuses: ['operation.not_found'],
  })
  async find(@CurrentTenant() tenant: Tenant, @Param() path: AnyOperationPath) {
    return (await readOperation(tenant, path)).view;
  }

  @Get('clusters/:clusterId/operations')
  @Route({
    access: 'event:read',
    summary: 'List operations, running and past',
    answer: OperationPage,
    refuses: ['cluster.not_found'],
  })
  async list(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() query: ListQuery,
  ) {
    return pageView(await readOperations(tenant, clusterId, query), (view) => view);
  }

  @Get('clusters/:clusterId/operations/:operationId')
  @Route({
    access: 'event:read',
    summary: 'Read an operation',
    answer: OperationDto,
    mayWait: true,
    refuses: ['operation.not_found'],
  })
  async get(@CurrentTenant() tenant: Tenant, @Param() path: OperationPath) {
    return (await readOperation(tenant, path)).view;
  }
}
