import { patchNode } from '@holdfast/control/use-cases/patch-node.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { deleteNode, listDisks, listNodes } from '@holdfast/database/queries/nodes.js';
import { listZones } from '@holdfast/database/queries/zones.js';
import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { etagOf, IfMatch } from '../../http/request.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { requireCluster } from '../clusters/require-cluster.js';
import { nodeDeletion, placeChange } from '../dry-runs/planned-effects.js';
import { PlacementsService } from '../placements/placements.service.js';
import { DrainBody, DrainPlanDto } from './drain.schemas.js';
import { type DrainPlanView, drainPlanView } from './drain.view.js';
import { DiskPage, NodeDto, NodePage, NodePath, PatchNodeBody } from './node.schemas.js';
import { diskView, type NodeView, nodeView } from './node.view.js';
import { nodeNotFound, readNode } from './read-node.js';
import { ZonePage, zoneView } from './zone.schemas.js';

@Controller('api/v1/clusters/:clusterId')
export class NodesController {
  constructor(private readonly placements: PlacementsService) {}

  @Get('nodes')
  @Route({ access: 'node:read', summary: 'List nodes', answer: NodePage, refuses: ['cluster.not_found'] })
  async list(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() query: ListQuery,
  ) {
    return tenant.read(async (sql) => {
      await requireCluster(sql, clusterId);
      const page = await listNodes(sql, clusterId, query);
      return pageView(page, nodeView);
    });
  }

  @Get('nodes/:nodeId')
  @Route({ access: 'node:read', summary: 'Read a node', answer: NodeDto, refuses: ['node.not_found'] })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() path: NodePath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NodeView> {
    return this.read(tenant, path, reply);
  }

  @Patch('nodes/:nodeId')
  @Route({
    access: 'node:write',
    summary: 'Change the settings of a node',
    dryRun: placeChange,
    answer: NodeDto,
    refuses: ['cluster.not_found', 'node.not_found', 'node.last_ready'],
  })
  async patch(
    @CurrentTenant() tenant: Tenant,
    @Param() path: NodePath,
    @Body() patch: PatchNodeBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NodeView> {
    await patchNode(tenant.ports, { ...path, patch, ifVersion });
    return this.read(tenant, path, reply);
  }

  @Post('nodes/:nodeId/drain-plan')
  @Route({
    access: 'placement:simulate',
    summary: 'Plan a drain of the node: its moves and obstacles. Changes nothing.',
    answer: DrainPlanDto,
    refuses: [
      'cluster.not_found',
      'node.not_found',
      'node.last_ready',
      'fleet.inconsistent',
      'compute.busy',
      'compute.too_costly',
    ],
  })
  async drainPlan(
    @CurrentTenant() tenant: Tenant,
    @Param() path: NodePath,
    @Body() { policy }: DrainBody,
  ): Promise<DrainPlanView> {
    return drainPlanView(await this.placements.planDrain(tenant, { ...path, policy }));
  }

  @Delete('nodes/:nodeId')
  @Route({
    access: 'node:write',
    summary: 'Delete a stopped node without replicas and engines',
    dryRun: nodeDeletion,
    status: 204,
    refuses: ['node.not_found', 'node.in_use'],
  })
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param() path: NodePath,
    @IfMatch() ifVersion: number | undefined,
  ): Promise<void> {
    const result = await tenant.write((sql) => deleteNode(sql, { ...path, ifVersion }));
    if (result === 'gone') throw nodeNotFound(path);
    if (result === 'deleted') return;
    throw new StorageFault('node.in_use', {
      publicMessage:
        result === 'ready'
          ? 'its agent still runs and would register it again'
          : 'it still holds replicas or an engine',
      cures:
        result === 'ready'
          ? ['stop its agent first']
          : [
              'when it is gone for good, forget it, which gives its copies up: holdfast node forget',
              'when its agent runs, drain it with an evicting policy, and wait until it is empty',
            ],
    });
  }

  @Get('disks')
  @Route({
    access: 'node:read',
    summary: 'List the disks of all nodes',
    answer: DiskPage,
    refuses: ['cluster.not_found'],
  })
  async disks(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() query: ListQuery,
  ) {
    return tenant.read(async (sql) => {
      await requireCluster(sql, clusterId);
      const page = await listDisks(sql, { clusterId }, query);
      return pageView(page, diskView);
    });
  }

  @Get('zones')
  @Route({
    access: 'node:read',
    summary: 'Sum up the nodes, disks and replicas of each zone',
    answer: ZonePage,
    refuses: ['cluster.not_found'],
  })
  async zones(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() query: ListQuery,
  ) {
    return tenant.read(async (sql) => {
      await requireCluster(sql, clusterId);
      return pageView(await listZones(sql, clusterId, query), zoneView);
    });
  }

  private async read(tenant: Tenant, path: NodePath, reply: FastifyReply): Promise<NodeView> {
    const found = await readNode(tenant, path);
    void reply.header('etag', etagOf(found.node.version));
    return nodeView(found);
  }
}
