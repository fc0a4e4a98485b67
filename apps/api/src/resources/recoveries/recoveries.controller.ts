import { planRecoveries, recoverVolume } from '@holdfast/control/use-cases/recover-volumes.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import type { RecoveryPlace } from '@holdfast/core/model/recovery.js';
import { oldestProjects } from '@holdfast/database/queries/tenancy.js';
import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { requireCluster } from '../clusters/require-cluster.js';
import { readVolume } from '../volumes/read-volume.js';
import { VolumeDto } from '../volumes/volume.schemas.js';
import { volumeView } from '../volumes/volume.view.js';
import {
  RecoverBody,
  RecoveriesDto,
  RecoveriesQuery,
  RecoveryPath,
  recoveryView,
} from './recovery.schemas.js';

/** Volumes missing in the database whose copies still exist on disks. */
@Controller('api/v1/clusters/:clusterId/recoveries')
export class RecoveriesController {
  @Get()
  @Route({
    access: 'node:write',
    summary: 'List volumes that can be recovered from orphans, and reasons why others can not',
    answer: RecoveriesDto,
    refuses: ['cluster.not_found'],
  })
  async list(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() { after, limit, fromClusterId }: RecoveriesQuery,
  ) {
    const place = await placeOf(tenant, clusterId);
    const plans = await planRecoveries(tenant.ports, { place, choice: { fromClusterId }, after, limit });
    const last = plans.length < limit ? undefined : plans.at(-1);
    return { items: plans.map(recoveryView), next: last?.volumeId ?? null };
  }

  @Post(':volumeId')
  @Route({
    access: 'node:write',
    summary: 'Recover a volume from its found copies',
    answer: VolumeDto,
    refuses: [
      'cluster.not_found',
      'recovery.not_found',
      'recovery.refused',
      'volume.name_taken',
      'volume.not_found',
      'quota.exceeded',
    ],
  })
  async recover(@CurrentTenant() tenant: Tenant, @Param() path: RecoveryPath, @Body() choice: RecoverBody) {
    const place = await placeOf(tenant, path.clusterId);
    await recoverVolume(tenant.ports, { place, volumeId: path.volumeId, choice });
    return volumeView(await readVolume(tenant, path), tenant.actor);
  }
}

function placeOf(tenant: Tenant, clusterId: ClusterId): Promise<RecoveryPlace> {
  return tenant.read(async (sql) => {
    await requireCluster(sql, clusterId);
    const { organizationId } = tenant.actor;
    return { clusterId, organizationId, projects: await oldestProjects(sql) };
  });
}
