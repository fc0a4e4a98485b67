import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../platform/request.js';
import { Route } from '../platform/route.decorator.js';
import { ListQuery, pageView } from '../platform/schemas.js';
import type { Tenant } from '../platform/tenant.js';
import { NoBody, VolumeDto, VolumePath } from '../volumes/volume.schemas.js';
import { volumeView } from '../volumes/volume.view.js';
import { LAYER_CHANGE, VolumesService } from '../volumes/volumes.service.js';
import { CreateSnapshotBody, HashBody, SnapshotDto, SnapshotPage, SnapshotPath } from './snapshot.schemas.js';
import { SnapshotsService } from './snapshots.service.js';

@Controller('api/v1/clusters/:clusterId/volumes/:volumeId/snapshots')
export class SnapshotsController {
  constructor(
    private readonly snapshots: SnapshotsService,
    private readonly volumes: VolumesService,
  ) {}

  @Get()
  @Route({
    access: 'volume:read',
    summary: "List a volume's snapshots",
    answer: SnapshotPage,
    refuses: ['volume.not_found'],
  })
  async list(@CurrentTenant() tenant: Tenant, @Param() path: VolumePath, @Query() query: ListQuery) {
    return pageView(await this.snapshots.list(tenant, path, query), (view) => view);
  }

  @Post()
  @Route({
    access: 'volume:write',
    summary: 'Take a snapshot of an attached volume',
    answer: SnapshotDto,
    status: 201,
    refuses: [...LAYER_CHANGE, 'snapshot.name_taken', 'snapshot.limit_reached', 'snapshot.not_found'],
  })
  async create(
    @CurrentTenant() tenant: Tenant,
    @Param() path: VolumePath,
    @Body() body: CreateSnapshotBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const created = await this.snapshots.create(tenant, path, body.name);
    const { clusterId, volumeId } = path;
    const location = `/api/v1/clusters/${clusterId}/volumes/${volumeId}/snapshots/${created.id}`;
    void reply.header('location', location);
    return created;
  }

  @Post('purge')
  @Route({
    access: 'volume:write',
    summary: 'Take out deleted snapshots and what rebuilds have left behind',
    answer: VolumeDto,
    status: 202,
    refuses: [...LAYER_CHANGE],
  })
  async purge(@CurrentTenant() tenant: Tenant, @Param() path: VolumePath, @Body() _body: NoBody) {
    await this.snapshots.purge(tenant, path);
    return volumeView(await this.volumes.get(tenant, path), tenant.actor.role);
  }

  @Get(':snapshotId')
  @Route({
    access: 'volume:read',
    summary: 'Read a snapshot',
    answer: SnapshotDto,
    refuses: ['snapshot.not_found'],
  })
  get(@CurrentTenant() tenant: Tenant, @Param() path: SnapshotPath) {
    return this.snapshots.get(tenant, path);
  }

  @Delete(':snapshotId')
  @Route({
    access: 'volume:write',
    summary: 'Delete a snapshot; a purge follows',
    answer: SnapshotDto,
    status: 202,
    refuses: [...LAYER_CHANGE, 'snapshot.not_found', 'snapshot.in_use'],
  })
  delete(@CurrentTenant() tenant: Tenant, @Param() path: SnapshotPath) {
    return this.snapshots.delete(tenant, path);
  }

  @Post(':snapshotId/hash')
  @Route({
    access: 'volume:write',
    summary: 'Hash a snapshot on every copy; a damaged copy is rebuilt',
    answer: SnapshotDto,
    status: 202,
    refuses: [...LAYER_CHANGE, 'snapshot.not_found', 'snapshot.in_use'],
  })
  hash(@CurrentTenant() tenant: Tenant, @Param() path: SnapshotPath, @Body() { force }: HashBody) {
    return this.snapshots.hash(tenant, path, force === true);
  }
}
