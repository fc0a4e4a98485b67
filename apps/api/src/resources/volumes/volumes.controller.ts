import { operationId } from '@holdfast/core/policy/operation.js';
import type { CreationTiming } from '@holdfast/database/creation/cluster-batcher.js';
import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { etagOf, IfMatch, tagged } from '../../http/request.js';
import { ListQuery, NoBody, writtenPage } from '../../http/schemas.js';
import { begun } from '../actions/operation-address.js';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { volumeDeletion } from '../dry-runs/planned-effects.js';
import { deletionOperation } from '../operations/begun-operations.js';
import { PatchPlanDto } from './patch-plan.schemas.js';
import { SalvageAdviceDto } from './salvage.schemas.js';
import { specChange } from './spec-change-effects.js';
import {
  CloneBody,
  CreateVolumeBody,
  ExplanationDto,
  PatchVolumeBody,
  VerificationDto,
  VolumeDto,
  VolumePage,
  VolumePath,
} from './volume.schemas.js';
import { type VolumeView, verificationView, volumeView } from './volume.view.js';
import { VolumesService } from './volumes.service.js';

@Controller('api/v1/clusters/:clusterId/volumes')
export class VolumesController {
  constructor(private readonly volumes: VolumesService) {}

  @Get()
  @Route({
    access: 'volume:read',
    summary: 'List volumes',
    answer: VolumePage,
    refuses: ['cluster.not_found'],
  })
  async list(@CurrentTenant() tenant: Tenant, @Param() path: ClusterPath, @Query() query: ListQuery) {
    return writtenPage<VolumeView>(await this.volumes.listWritten(tenant, path.clusterId, query));
  }

  @Post()
  @Route({
    access: 'volume:write',
    summary: 'Create a volume and place its replicas',
    answer: VolumeDto,
    status: 201,
    refuses: ['cluster.not_found', 'volume.name_taken', 'fleet.inconsistent', 'quota.exceeded'],
  })
  async create(
    @CurrentTenant() tenant: Tenant,
    @Param() path: ClusterPath,
    @Body() body: CreateVolumeBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const created = await this.volumes.create(tenant, path.clusterId, body, (timing) => {
      void reply.header('server-timing', serverTiming(timing));
    });
    void reply.header('location', `/api/v1/clusters/${path.clusterId}/volumes/${created.volume.id}`);
    return tagged(reply, volumeView(created, tenant.actor));
  }

  @Get(':volumeId')
  @Route({
    access: 'volume:read',
    summary: 'Read a volume',
    answer: VolumeDto,
    refuses: ['volume.not_found'],
  })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() path: VolumePath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, volumeView(await this.volumes.get(tenant, path), tenant.actor));
  }

  @Patch(':volumeId')
  @Route({
    access: 'volume:write',
    summary: 'Change the desired state of a volume',
    answer: VolumeDto,
    dryRun: specChange,
    refuses: ['volume.not_found', 'volume.deleting', 'volume.attached', 'quota.exceeded'],
  })
  async patch(
    @CurrentTenant() tenant: Tenant,
    @Param() path: VolumePath,
    @Body() body: PatchVolumeBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, volumeView(await this.volumes.patch(tenant, path, body, ifVersion), tenant.actor));
  }

  @Post(':volumeId/patch-plan')
  @Route({
    access: 'volume:write',
    summary: 'Plan a change: the copies that it would remove or add. Changes nothing.',
    answer: PatchPlanDto,
    refuses: ['volume.not_found', 'volume.deleting', 'volume.attached'],
  })
  planPatch(@CurrentTenant() tenant: Tenant, @Param() path: VolumePath, @Body() body: PatchVolumeBody) {
    return this.volumes.planPatch(tenant, path, body);
  }

  @Delete(':volumeId')
  @Route({
    access: 'volume:write',
    summary: 'Delete a volume and its copies',
    answer: VolumeDto,
    dryRun: volumeDeletion,
    status: 202,
    mayWait: true,
    refuses: ['volume.not_found', 'volume.in_use', 'volume.attached'],
  })
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param() path: VolumePath,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const deleted = await this.volumes.delete(tenant, path, ifVersion);
    const operation = deletionOperation(deleted.volume);
    return begun(reply, volumeView(deleted, tenant.actor), { key: path, operation });
  }

  @Post(':volumeId/clone')
  @Route({
    access: 'volume:write',
    summary: 'Clone a volume from a snapshot of this one',
    answer: VolumeDto,
    status: 201,
    refuses: [
      'cluster.not_found',
      'volume.not_found',
      'volume.deleting',
      'volume.name_taken',
      'snapshot.not_found',
      'snapshot.in_use',
      'fleet.inconsistent',
      'quota.exceeded',
    ],
  })
  async clone(
    @CurrentTenant() tenant: Tenant,
    @Param() path: VolumePath,
    @Body() body: CloneBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const created = await this.volumes.clone(tenant, path, body);
    void reply.header('location', `/api/v1/clusters/${path.clusterId}/volumes/${created.volume.id}`);
    return tagged(reply, volumeView(created, tenant.actor));
  }

  @Get(':volumeId/salvage')
  @Route({
    access: 'volume:read',
    summary: 'Advise a salvage: the copies to continue with when too few answer',
    answer: SalvageAdviceDto,
    refuses: ['volume.not_found'],
  })
  async adviseSalvage(
    @CurrentTenant() tenant: Tenant,
    @Param() path: VolumePath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    // Before the advice: a salvage that names this version is then refused if anything of the volume has changed since.
    const { volume } = await this.volumes.get(tenant, path);
    void reply.header('etag', etagOf(volume.version));
    return this.volumes.adviseSalvage(tenant, path);
  }

  @Post(':volumeId/verify')
  @Route({
    access: 'volume:write',
    summary: 'Compare all copies of a volume',
    answer: VerificationDto,
    mayAccept: true,
    mayWait: true,
    refuses: [
      'volume.not_found',
      'volume.deleting',
      'volume.busy',
      'volume.attached',
      'request.rate_limited',
    ],
  })
  async verify(
    @CurrentTenant() tenant: Tenant,
    @Param() path: VolumePath,
    @Body() _body: NoBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const result = await this.volumes.verify(tenant, path);
    if (result.state !== 'running') return verificationView(result);
    const operation = operationId('verify', path.volumeId, result.requestedAt);
    return begun(reply.code(202), verificationView(result), { key: path, operation });
  }

  @Get(':volumeId/explain')
  @Route({
    access: 'volume:read',
    summary: "Explain the placement of a volume's copies",
    answer: ExplanationDto,
    refuses: ['volume.not_found', 'fleet.inconsistent', 'compute.busy', 'compute.too_costly'],
  })
  explain(@CurrentTenant() tenant: Tenant, @Param() path: VolumePath) {
    return this.volumes.explain(tenant, path);
  }

  /** Same as the GET, for clients that expect actions as POSTs; it changes nothing. */
  @Post(':volumeId/explain')
  @Route({
    access: 'volume:read',
    summary: "Explain the placement of a volume's copies",
    answer: ExplanationDto,
    refuses: ['volume.not_found', 'fleet.inconsistent', 'compute.busy', 'compute.too_costly'],
  })
  explainByPost(@CurrentTenant() tenant: Tenant, @Param() path: VolumePath, @Body() _body: NoBody) {
    return this.volumes.explain(tenant, path);
  }
}

/** Durations of a creation's steps, as shown by browsers and `curl -i` (W3C Server Timing). */
function serverTiming({ waitMs, decideMs, commitMs }: CreationTiming): string {
  const parts = { wait: waitMs, decide: decideMs, commit: commitMs };
  return Object.entries(parts)
    .map(([name, ms]) => `${name};dur=${ms.toFixed(3)}`)
    .join(', ');
}
