import { Body, Controller, Param, Post } from '@nestjs/common';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { PlacementsService } from './placements.service.js';
import { SimulateBody, SimulationDto } from './simulation.schemas.js';

@Controller('api/v1/clusters/:clusterId/placements')
export class PlacementsController {
  constructor(private readonly placements: PlacementsService) {}

  @Post('simulate')
  @Route({
    access: 'placement:simulate',
    summary: 'Simulate new volumes, added or lost hardware, drains and settings. Changes nothing.',
    answer: SimulationDto,
    refuses: ['cluster.not_found', 'fleet.inconsistent', 'compute.busy', 'compute.too_costly'],
  })
  simulate(@CurrentTenant() tenant: Tenant, @Param() path: ClusterPath, @Body() body: SimulateBody) {
    return this.placements.simulate(tenant, path.clusterId, body);
  }
}
