import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { snapshotDeletion } from '../dry-runs/planned-effects.js';
import { VolumePath } from '../volumes/volume.schemas.js';
import { LAYER_CHANGE } from '../volumes/volume-actions.js';
import { CreateSnapshotBody, SnapshotDto, SnapshotPage, SnapshotPath } from './snapshot.schemas.js';
import { SnapshotsService } from './snapshots.service.js';

@Controller('api/v1/clusters/:clusterId/volumes/:volumeId/snapshots')
export class SnapshotsController {
  constructor(private readonly snapshots: SnapshotsService) {}

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
    refuses: [
      ...LAYER_CHANGE,
      'snapshot.name_taken',
      'snapshot.limit_reached',
      'snapshot.not_found',
      'quota.exceeded',
    ],
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
    dryRun: snapshotDeletion,
    answer: SnapshotDto,
    status: 202,
    refuses: [...LAYER_CHANGE, 'snapshot.not_found', 'snapshot.in_use'],
  })
  delete(@CurrentTenant() tenant: Tenant, @Param() path: SnapshotPath) {
    return this.snapshots.delete(tenant, path);
  }
}
