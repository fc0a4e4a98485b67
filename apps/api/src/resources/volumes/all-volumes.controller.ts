import { Controller, Get, Query } from '@nestjs/common';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { ListQuery, writtenPage } from '../../http/schemas.js';
import { VolumePage } from './volume.schemas.js';
import type { VolumeView } from './volume.view.js';
import { VolumesService } from './volumes.service.js';

/** Volumes of all clusters. */
@Controller('api/v1/volumes')
export class AllVolumesController {
  constructor(private readonly volumes: VolumesService) {}

  @Get()
  @Route({ access: 'volume:read', summary: 'List volumes of all clusters', answer: VolumePage })
  async list(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    return writtenPage<VolumeView>(await this.volumes.listWritten(tenant, undefined, query));
  }
}
