import { capacityTrend } from '@holdfast/core/policy/capacity-trend.js';
import { spaceLimits } from '@holdfast/core/policy/disk-space.js';
import { findCapacityHistory } from '@holdfast/database/queries/capacity.js';
import { loadSettings } from '@holdfast/database/store/load-views.js';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { CapacityQuery, ClusterCapacityDto, capacityView } from './capacity.schemas.js';
import { ClusterPath } from './cluster.schemas.js';
import { requireCluster } from './require-cluster.js';

/** History used by a forecast, in days. */
const FORECAST_DAYS = 30;

@Controller('api/v1/clusters/:clusterId/capacity')
export class CapacityController {
  @Get()
  @Route({
    access: 'cluster:read',
    summary: "Read the history and the forecast of a cluster's capacity",
    answer: ClusterCapacityDto,
    refuses: ['cluster.not_found'],
  })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() { days }: CapacityQuery,
  ) {
    return tenant.read(async (sql) => {
      await requireCluster(sql, clusterId);
      const { settings } = await loadSettings(sql, clusterId);
      const shown = await findCapacityHistory(sql, clusterId, { days, now: tenant.now });
      const looked = await findCapacityHistory(sql, clusterId, { days: FORECAST_DAYS, now: tenant.now });
      return capacityView(shown, capacityTrend(looked.samples, spaceLimits(settings)));
    });
  }
}
