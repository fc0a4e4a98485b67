import type { Grant, GrantKey, GrantLimits, GrantPatch } from '@holdfast/control/ports/access-store.js';
import {
  grantCluster,
  grantNotFound,
  changeGrant as requestChange,
  endGrant as requestEnd,
} from '@holdfast/control/use-cases/grant-cluster.js';
import { asId, type ClusterId, type GrantId, type OrganizationId } from '@holdfast/core/model/ids.js';
import { findGrant, listGrants, listReceivedGrants } from '@holdfast/database/queries/grants.js';
import type { ListRequest } from '@holdfast/database/queries/list-rows.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import { accessPorts } from '../../access/access-ports.js';
import type { Tenant } from '../../access/tenant.js';
import { requireCluster } from '../clusters/require-cluster.js';

export type GrantGiven = GrantLimits & {
  organizationId: OrganizationId;
  nodeTags: readonly string[];
  diskTags: readonly string[];
};

/** Operations on grants. REST and GraphQL are two thin adapters over it. */
export function grantsOf(tenant: Tenant, clusterId: ClusterId, request: ListRequest) {
  return tenant.read(async (sql) => {
    await requireCluster(sql, clusterId);
    return listGrants(sql, clusterId, request);
  });
}

export function receivedGrants(tenant: Tenant, request: ListRequest) {
  return tenant.readGranted((sql) => listReceivedGrants(sql, request));
}

export function readGrant(tenant: Tenant, key: GrantKey): Promise<Grant> {
  return tenant.read((sql) => requireGrant(sql, key));
}

export function makeGrant(tenant: Tenant, clusterId: ClusterId, given: GrantGiven): Promise<Grant> {
  const wish = { ...given, clusterId, grantId: asId<GrantId>(tenant.newId()) };
  return grantCluster(accessPorts(tenant), wish, tenant.actor);
}

export function changeGrant(
  tenant: Tenant,
  key: GrantKey,
  { patch, ifVersion }: { patch: GrantPatch; ifVersion: number | undefined },
): Promise<Grant> {
  return requestChange(accessPorts(tenant), key, { patch, by: tenant.actor, ifVersion });
}

export function endGrant(tenant: Tenant, key: GrantKey, ifVersion: number | undefined): Promise<void> {
  return requestEnd(accessPorts(tenant), key, ifVersion);
}

async function requireGrant(sql: Sql, key: GrantKey): Promise<Grant> {
  await requireCluster(sql, key.clusterId);
  const found = await findGrant(sql, key);
  if (found !== undefined) return found;
  throw grantNotFound(key.grantId);
}
