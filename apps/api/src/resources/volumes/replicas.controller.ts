import { requestReplicaRemoval } from '@holdfast/control/use-cases/request-replica-removal.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { Body, Controller, Delete, Get, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { etagOf, IfMatch } from '../../http/request.js';
import { replicaRemoval } from '../dry-runs/planned-effects.js';
import { MoveBody, MovePlanDto, wishOf } from './move.schemas.js';
import { ReplicaDto, ReplicaPage, ReplicaPath, VolumePath } from './volume.schemas.js';
import { type ReplicaView, replicaView } from './volume.view.js';
import { VolumesService } from './volumes.service.js';

@Controller('api/v1/clusters/:clusterId/volumes/:volumeId/replicas')
export class ReplicasController {
  constructor(private readonly volumes: VolumesService) {}

  /** All of them at once: a volume has at most a few dozen. */
  @Get()
  @Route({
    access: 'volume:read',
    summary: "List a volume's copies",
    answer: ReplicaPage,
    refuses: ['volume.not_found'],
  })
  async list(@CurrentTenant() tenant: Tenant, @Param() path: VolumePath) {
    const { replicas } = await this.volumes.get(tenant, path);
    return { items: replicas.map(replicaView), nextCursor: null };
  }

  @Get(':replicaId')
  @Route({
    access: 'volume:read',
    summary: 'Read one copy',
    answer: ReplicaDto,
    refuses: ['volume.not_found', 'replica.not_found'],
  })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() path: ReplicaPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReplicaView> {
    const { volume, replicas } = await this.volumes.get(tenant, path);
    // A copy changes with its volume, whose version `If-Match` compares when one is dropped or moved.
    void reply.header('etag', etagOf(volume.version));
    const found = replicas.find(({ replica }) => replica.id === path.replicaId);
    if (found === undefined) {
      throw new StorageFault('replica.not_found', { publicMessage: `there is no replica ${path.replicaId}` });
    }
    return replicaView(found);
  }

  @Post(':replicaId/move-plan')
  @Route({
    access: 'volume:write',
    summary: 'Plan the move of a copy: its target, or the reasons against it. Changes nothing.',
    answer: MovePlanDto,
    refuses: ['volume.not_found', 'replica.not_found', 'node.not_found', 'disk.not_found'],
  })
  planMove(@CurrentTenant() tenant: Tenant, @Param() path: ReplicaPath, @Body() body: MoveBody) {
    return this.volumes.planMove(tenant, path, wishOf(path.replicaId, body));
  }

  @Delete(':replicaId')
  @Route({
    access: 'volume:write',
    summary: 'Drop one copy; a replacement is built',
    dryRun: replicaRemoval,
    answer: ReplicaDto,
    status: 202,
    refuses: ['volume.not_found', 'replica.not_found', 'replica.last_healthy_copy'],
  })
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param() path: ReplicaPath,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReplicaView> {
    const view = await this.get(tenant, path, reply);
    await requestReplicaRemoval(tenant.volumePorts, {
      volumeId: path.volumeId,
      replicaId: path.replicaId,
      ifVersion,
    });
    return { ...view, intent: 'remove' };
  }
}
