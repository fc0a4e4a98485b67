import { Body, Controller, Delete, Get, Param, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { etagOf, IfMatch } from '../../http/request.js';
import {
  RecurringSnapshotBody,
  RecurringSnapshotDto,
  RecurringSnapshotPage,
  RecurringSnapshotPath,
  type RecurringSnapshotView,
} from '../volumes/recurring-snapshot.schemas.js';
import { VolumePath } from '../volumes/volume.schemas.js';
import { type FoundRecurringSnapshot, RecurringSnapshotsService } from './recurring-snapshots.service.js';

@Controller('api/v1/clusters/:clusterId/volumes/:volumeId/recurring-snapshots')
export class RecurringSnapshotsController {
  constructor(private readonly recurring: RecurringSnapshotsService) {}

  @Get()
  @Route({
    access: 'volume:read',
    summary: "List a volume's recurring snapshots",
    answer: RecurringSnapshotPage,
    refuses: ['volume.not_found'],
  })
  async list(@CurrentTenant() tenant: Tenant, @Param() path: VolumePath) {
    return { items: await this.recurring.list(tenant, path), nextCursor: null };
  }

  @Get(':recurringName')
  @Route({
    access: 'volume:read',
    summary: 'Read a recurring snapshot',
    answer: RecurringSnapshotDto,
    refuses: ['volume.not_found', 'recurring_snapshot.not_found'],
  })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() path: RecurringSnapshotPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, await this.recurring.get(tenant, path));
  }

  @Put(':recurringName')
  @Route({
    access: 'volume:write',
    summary: 'Create or change a recurring snapshot of a volume',
    answer: RecurringSnapshotDto,
    refuses: ['volume.not_found', 'volume.deleting', 'recurring_snapshot.not_found'],
  })
  async put(
    @CurrentTenant() tenant: Tenant,
    @Param() path: RecurringSnapshotPath,
    @Body() body: RecurringSnapshotBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, await this.recurring.set(tenant, path, body, ifVersion));
  }

  @Delete(':recurringName')
  @Route({
    access: 'volume:write',
    summary: 'Delete a recurring snapshot; its snapshots stay',
    answer: RecurringSnapshotDto,
    refuses: ['volume.not_found', 'volume.deleting', 'recurring_snapshot.not_found'],
  })
  delete(
    @CurrentTenant() tenant: Tenant,
    @Param() path: RecurringSnapshotPath,
    @IfMatch() ifVersion: number | undefined,
  ) {
    return this.recurring.delete(tenant, path, ifVersion);
  }
}

function tagged(reply: FastifyReply, { view, version }: FoundRecurringSnapshot): RecurringSnapshotView {
  void reply.header('etag', etagOf(version));
  return view;
}
