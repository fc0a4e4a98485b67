import { StorageFault } from '@holdfast/core/model/faults.js';
import type { AlertId, ClusterId } from '@holdfast/core/model/ids.js';
import { type AlertRow, findAlert, listAlerts } from '@holdfast/database/queries/alerts.js';
import type { Page } from '@holdfast/database/queries/list-rows.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { requireCluster } from '../clusters/require-cluster.js';
import { AlertDto, AlertPage, AlertPath, alertView } from './alert.schemas.js';

@Controller('api/v1/clusters/:clusterId/alerts')
export class AlertsController {
  @Get()
  @Route({
    access: 'alert:read',
    summary: 'List alerts, present and resolved',
    answer: AlertPage,
    refuses: ['cluster.not_found'],
  })
  async list(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() query: ListQuery,
  ) {
    return pageView(await readAlerts(tenant, clusterId, query), alertView);
  }

  @Get(':alertId')
  @Route({ access: 'alert:read', summary: 'Read an alert', answer: AlertDto, refuses: ['alert.not_found'] })
  async get(@CurrentTenant() tenant: Tenant, @Param() path: AlertPath) {
    return alertView(await tenant.read((sql) => requireAlert(sql, path)));
  }
}

export function readAlerts(tenant: Tenant, clusterId: ClusterId, query: ListQuery): Promise<Page<AlertRow>> {
  return tenant.read(async (sql) => {
    await requireCluster(sql, clusterId);
    return listAlerts(sql, clusterId, query);
  });
}

export async function requireAlert(
  sql: Sql,
  key: { clusterId: ClusterId; alertId: AlertId },
): Promise<AlertRow> {
  const found = await findAlert(sql, key);
  if (found !== undefined) return found;
  throw new StorageFault('alert.not_found', { publicMessage: `there is no alert ${key.alertId}` });
}
