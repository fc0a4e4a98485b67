import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ClusterId, type RebuildId } from '@holdfast/core/model/ids.js';
import { isEnded, type Operation, operationEnd } from '@holdfast/core/policy/operation.js';
import { type ListRequest, mapPage, type Page } from '@holdfast/database/queries/list-rows.js';
import { findOperation, listOperations } from '@holdfast/database/queries/operations.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import type { Tenant } from '../../access/tenant.js';
import { requireCluster } from '../clusters/require-cluster.js';
import { type RebuildOutlook, readOutlook } from '../rebuilds/read-outlook.js';
import { etaOf } from '../rebuilds/rebuild.view.js';
import { type OperationEnd, type OperationView, operationView } from './operation.schemas.js';

export type OperationKey = { readonly clusterId?: ClusterId | undefined; readonly operationId: string };
export type FoundOperation = { readonly operation: Operation; readonly view: OperationView };

/** @param clusterId left out: of all clusters that the caller sees */
export function readOperations(
  tenant: Tenant,
  clusterId: ClusterId | undefined,
  request: ListRequest,
): Promise<Page<OperationView>> {
  return tenant.read(async (sql) => {
    if (clusterId !== undefined) await requireCluster(sql, clusterId);
    const page = await listOperations(sql, clusterId, request);
    const endOf = await endsOf(sql, page.items, tenant.now);
    return mapPage(page, (operation) => operationView(operation, endOf(operation)));
  });
}

/** @throws StorageFault `operation.not_found` */
export function readOperation(tenant: Tenant, key: OperationKey): Promise<FoundOperation> {
  return tenant.read(async (sql) => {
    const operation = await findOperation(sql, key);
    if (operation === undefined) {
      throw new StorageFault('operation.not_found', {
        publicMessage: `there is no operation ${key.operationId}`,
      });
    }
    const endOf = await endsOf(sql, [operation], tenant.now);
    return { operation, view: operationView(operation, endOf(operation)) };
  });
}

/** Rebuilds have a forecast of their own, which includes the queue; for others the average rate gives the end. */
async function endsOf(
  sql: Sql,
  operations: readonly Operation[],
  now: Date,
): Promise<(operation: Operation) => OperationEnd | null> {
  const rebuilds = operations.filter((operation) => operation.kind === 'rebuild' && !isEnded(operation));
  const outlooks = new Map<ClusterId, RebuildOutlook>();
  for (const clusterId of new Set(rebuilds.map((operation) => operation.clusterId)))
    outlooks.set(clusterId, await readOutlook(sql, clusterId, now));
  return (operation) => {
    if (operation.kind !== 'rebuild') return isoEnd(operationEnd(operation, now));
    const outlook = outlooks.get(operation.clusterId);
    const rebuildId = asId<RebuildId>(operation.target.id);
    const rebuild = outlook?.active.find(({ id }) => id === rebuildId);
    return outlook === undefined || rebuild === undefined ? null : etaOf(rebuild, outlook, now);
  };
}

function isoEnd(end: ReturnType<typeof operationEnd>): OperationEnd | null {
  return end === undefined ? null : { p50: end.p50.toISOString(), p90: end.p90.toISOString() };
}
