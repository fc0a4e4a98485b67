import { Controller, Get, Param } from '@nestjs/common';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { VolumePath } from './volume.schemas.js';
import { VolumeSettingPage } from './volume-setting.schemas.js';
import { VolumesService } from './volumes.service.js';

@Controller('api/v1/clusters/:clusterId/volumes/:volumeId/settings')
export class VolumeSettingsController {
  constructor(private readonly volumes: VolumesService) {}

  /** All of them at once: there are a few. One is changed by a PATCH of the volume. */
  @Get()
  @Route({
    access: 'volume:read',
    summary: 'List the effective settings of a volume, with their sources',
    answer: VolumeSettingPage,
    refuses: ['cluster.not_found', 'volume.not_found'],
  })
  async list(@CurrentTenant() tenant: Tenant, @Param() path: VolumePath) {
    return { items: await this.volumes.settings(tenant, path), nextCursor: null };
  }
}
