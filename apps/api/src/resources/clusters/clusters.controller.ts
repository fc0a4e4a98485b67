import { asId, type ClusterId, type NodeId } from '@holdfast/core/model/ids.js';
import { clusterRisk } from '@holdfast/core/policy/cluster-risk.js';
import { loadRiskFacts } from '@holdfast/database/queries/cluster-risk.js';
import {
  createCluster,
  deleteCluster,
  findCluster,
  listClusters,
  renameCluster,
} from '@holdfast/database/queries/clusters.js';
import { countReplicas } from '@holdfast/database/queries/replica-counts.js';
import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { etagOf, IfMatch } from '../../http/request.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { noCopies } from '../dry-runs/planned-effects.js';
import {
  ClusterDto,
  ClusterPage,
  ClusterPath,
  CreateClusterBody,
  PatchClusterBody,
} from './cluster.schemas.js';
import { type ClusterView, clusterView } from './cluster.view.js';
import { ReplicaCountsDto, ReplicaCountsQuery } from './replica-counts.schemas.js';
import { clusterNotFound, requireCluster } from './require-cluster.js';
import { ClusterRiskDto, riskView } from './risk.schemas.js';

@Controller('api/v1/clusters')
export class ClustersController {
  @Get()
  @Route({ access: 'cluster:read', summary: 'List clusters', answer: ClusterPage })
  async list(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    const page = await tenant.read((sql) => listClusters(sql, query));
    return pageView(page, clusterView);
  }

  @Post()
  @Route({
    access: 'cluster:write',
    summary: 'Create a cluster',
    answer: ClusterDto,
    status: 201,
    refuses: ['cluster.name_taken', 'cluster.not_found'],
  })
  async create(@CurrentTenant() tenant: Tenant, @Body() body: CreateClusterBody): Promise<ClusterView> {
    const id = asId<ClusterId>(tenant.newId());
    const { organizationId } = tenant.actor;
    await tenant.write((sql) => createCluster(sql, { id, organizationId, name: body.name, now: tenant.now }));
    return this.read(tenant, id);
  }

  @Get(':clusterId')
  @Route({
    access: 'cluster:read',
    summary: 'Read a cluster',
    answer: ClusterDto,
    refuses: ['cluster.not_found'],
  })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ClusterView> {
    const view = await this.read(tenant, clusterId);
    void reply.header('etag', etagOf(view.version));
    return view;
  }

  @Get(':clusterId/risk')
  @Route({
    access: 'cluster:read',
    summary: 'List volumes that are not healthy by cause, and whether work under way ends that',
    answer: ClusterRiskDto,
    refuses: ['cluster.not_found'],
  })
  async risk(@CurrentTenant() tenant: Tenant, @Param() { clusterId }: ClusterPath) {
    const facts = await tenant.read(async (sql) => {
      await requireCluster(sql, clusterId);
      return loadRiskFacts(sql, clusterId);
    });
    return riskView(clusterRisk(facts));
  }

  @Get(':clusterId/replica-counts')
  @Route({
    access: 'cluster:read',
    summary: 'Count the replicas on each disk and the volumes that each node serves',
    answer: ReplicaCountsDto,
    refuses: ['cluster.not_found'],
  })
  async replicaCounts(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() { nodeIds }: ReplicaCountsQuery,
  ) {
    return tenant.read(async (sql) => {
      await requireCluster(sql, clusterId);
      return countReplicas(
        sql,
        clusterId,
        nodeIds?.split(',').map((id) => asId<NodeId>(id)),
      );
    });
  }

  @Patch(':clusterId')
  @Route({
    access: 'cluster:write',
    summary: 'Rename a cluster',
    answer: ClusterDto,
    refuses: ['cluster.not_found', 'cluster.name_taken'],
  })
  async patch(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Body() { name }: PatchClusterBody,
    @IfMatch() ifVersion: number | undefined,
  ): Promise<ClusterView> {
    if (name !== undefined) {
      const found = await tenant.write((sql) => renameCluster(sql, { id: clusterId, name, ifVersion }));
      if (!found) throw clusterNotFound(clusterId);
    }
    return this.read(tenant, clusterId);
  }

  @Delete(':clusterId')
  @Route({
    access: 'cluster:write',
    summary: 'Delete an empty cluster',
    dryRun: noCopies,
    status: 204,
    refuses: ['cluster.not_found', 'cluster.not_empty'],
  })
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @IfMatch() ifVersion: number | undefined,
  ): Promise<void> {
    const found = await tenant.write((sql) => deleteCluster(sql, clusterId, ifVersion));
    if (!found) throw clusterNotFound(clusterId);
  }

  private async read(tenant: Tenant, clusterId: ClusterId): Promise<ClusterView> {
    const found = await tenant.read((sql) => findCluster(sql, clusterId));
    if (found === undefined) throw clusterNotFound(clusterId);
    return clusterView(found);
  }
}
