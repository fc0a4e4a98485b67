import { Controller, Get, Query } from '@nestjs/common';
import { CurrentTenant } from '../platform/request.js';
import { Route } from '../platform/route.decorator.js';
import { ListQuery, writtenPage } from '../platform/schemas.js';
import type { Tenant } from '../platform/tenant.js';
import { VolumePage } from './volume.schemas.js';
import type { VolumeView } from './volume.view.js';
import { VolumesService } from './volumes.service.js';

/** Volumes wherever they are: a fleet of clusters is looked at as one. */
@Controller('api/v1/volumes')
export class AllVolumesController {
  constructor(private readonly volumes: VolumesService) {}

  @Get()
  @Route({ access: 'volume:read', summary: 'List volumes of all clusters', answer: VolumePage })
  async list(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    return writtenPage<VolumeView>(await this.volumes.listWritten(tenant, undefined, query));
  }
}
