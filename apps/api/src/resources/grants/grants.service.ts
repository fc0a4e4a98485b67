import { assertVersion } from '@holdfast/control/use-cases/use-case.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ClusterId, type GrantId, type OrganizationId } from '@holdfast/core/model/ids.js';
import {
  createGrant,
  deleteGrant,
  findGrant,
  type GrantLimits,
  type GrantPatch,
  type GrantRow,
  listGrants,
  listReceivedGrants,
  organizationExists,
  patchGrant,
} from '@holdfast/database/queries/grants.js';
import type { ListRequest } from '@holdfast/database/queries/list-rows.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import { holdRight } from '../../access/hold-right.js';
import type { Tenant } from '../../access/tenant.js';
import { requireCluster } from '../clusters/require-cluster.js';

export type GrantKey = { clusterId: ClusterId; grantId: GrantId };
export type GrantGiven = GrantLimits & {
  organizationId: OrganizationId;
  nodeTags: readonly string[];
  diskTags: readonly string[];
};

/** What can be done with grants. REST and GraphQL are two thin adapters over it. */
export function grantsOf(tenant: Tenant, clusterId: ClusterId, request: ListRequest) {
  return tenant.read(async (sql) => {
    await requireCluster(sql, clusterId);
    return listGrants(sql, clusterId, request);
  });
}

export function receivedGrants(tenant: Tenant, request: ListRequest) {
  return tenant.readGranted((sql) => listReceivedGrants(sql, request));
}

export function readGrant(tenant: Tenant, key: GrantKey): Promise<GrantRow> {
  return tenant.read((sql) => requireGrant(sql, key));
}

export function makeGrant(tenant: Tenant, clusterId: ClusterId, given: GrantGiven): Promise<GrantRow> {
  const grantId = asId<GrantId>(tenant.newId());
  const { organizationId, nodeTags, diskTags, ...limits } = given;
  return tenant.write(async (sql) => {
    await requireCluster(sql, clusterId);
    await assertMayReceive(sql, tenant, organizationId);
    await holdRight(sql, tenant, 'grant');
    const made = await createGrant(sql, {
      id: grantId,
      clusterId,
      ownerOrganizationId: tenant.actor.organizationId,
      organizationId,
      limits,
      nodeTags,
      diskTags,
      createdAt: tenant.now,
      madeBy: tenant.actor.userId,
    });
    if (!made) {
      throw new StorageFault('grant.exists', {
        publicMessage: `the organization ${organizationId} has a grant of this cluster already`,
        cures: ['change that one'],
      });
    }
    return requireGrant(sql, { clusterId, grantId });
  });
}

export function changeGrant(
  tenant: Tenant,
  key: GrantKey,
  { patch, ifVersion }: { patch: GrantPatch; ifVersion: number | undefined },
): Promise<GrantRow> {
  return tenant.write(async (sql) => {
    const grant = await requireGrant(sql, key);
    assertVersion(grant.version, ifVersion);
    if (Object.values(patch).every((value) => value === undefined)) return grant;
    await holdRight(sql, tenant, 'grant');
    await patchGrant(sql, grant, { ...patch, madeBy: tenant.actor.userId });
    return requireGrant(sql, key);
  });
}

export function endGrant(tenant: Tenant, key: GrantKey, ifVersion: number | undefined): Promise<void> {
  return tenant.write(async (sql) => {
    const { version, used } = await requireGrant(sql, key);
    assertVersion(version, ifVersion);
    if (await deleteGrant(sql, key.grantId)) return;
    throw new StorageFault('grant.in_use', {
      publicMessage: `${used.volumes} volumes are in the cluster by this grant`,
      cures: [
        'set its limit of volumes to 0, so that there are no new ones',
        'have its organization delete them',
      ],
    });
  });
}

async function requireGrant(sql: Sql, key: GrantKey): Promise<GrantRow> {
  await requireCluster(sql, key.clusterId);
  const found = await findGrant(sql, key);
  if (found !== undefined) return found;
  throw new StorageFault('grant.not_found', { publicMessage: `there is no grant ${key.grantId}` });
}

async function assertMayReceive(sql: Sql, { actor }: Tenant, organizationId: OrganizationId): Promise<void> {
  const detail =
    organizationId === actor.organizationId
      ? "is the cluster's own organization, which needs no grant"
      : (await organizationExists(sql, organizationId))
        ? undefined
        : `there is no organization ${organizationId}`;
  if (detail === undefined) return;
  throw new StorageFault('request.invalid', {
    publicMessage: `organizationId: ${detail}`,
    errors: [{ pointer: '/organizationId', detail }],
  });
}
