/** Grants: what an organization lets another one use of a cluster. */
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, GrantId, OrganizationId, UserId } from '@holdfast/core/model/ids.js';
import type {
  AccessPorts,
  AccessTransaction,
  Grant,
  GrantKey,
  GrantLimits,
  GrantPatch,
} from '../ports/access-store.js';
import { requireStill } from './require-still.js';
import { assertVersion } from './use-case.js';

/** The member who asks, and the organization whose cluster it is. */
export type Granter = { readonly organizationId: OrganizationId; readonly userId: UserId };

export type GrantWish = GrantKey &
  GrantLimits & {
    readonly organizationId: OrganizationId;
    readonly nodeTags: readonly string[];
    readonly diskTags: readonly string[];
  };

/** @throws StorageFault `cluster.not_found`, `request.invalid`, `auth.forbidden`, `grant.exists` */
export function grantCluster(
  { access, clock }: AccessPorts,
  { clusterId, grantId, organizationId, nodeTags, diskTags, ...limits }: GrantWish,
  by: Granter,
): Promise<Grant> {
  return access.change(async (transaction) => {
    await requireCluster(transaction, clusterId);
    await assertMayReceive(transaction, by, organizationId);
    await requireStill(transaction, 'grant', by.userId);
    const isMade = await transaction.addGrant({
      id: grantId,
      clusterId,
      ownerOrganizationId: by.organizationId,
      organizationId,
      limits,
      nodeTags,
      diskTags,
      createdAt: clock.now(),
      madeBy: by.userId,
    });
    if (!isMade) {
      throw new StorageFault('grant.exists', {
        publicMessage: `the organization ${organizationId} has a grant of this cluster already`,
        cures: ['change that one'],
      });
    }
    return requireGrant(transaction, { clusterId, grantId });
  });
}

/** @throws StorageFault `cluster.not_found`, `grant.not_found`, `request.stale`, `auth.forbidden`, `store.conflict` */
export function changeGrant(
  { access }: Pick<AccessPorts, 'access'>,
  key: GrantKey,
  { patch, by, ifVersion }: { patch: GrantPatch; by: Granter; ifVersion: number | undefined },
): Promise<Grant> {
  return access.change(async (transaction) => {
    const grant = await requireGrant(transaction, key);
    assertVersion(grant.version, ifVersion);
    if (Object.values(patch).every((value) => value === undefined)) return grant;
    await requireStill(transaction, 'grant', by.userId);
    await transaction.patchGrant(grant, { ...patch, madeBy: by.userId });
    return requireGrant(transaction, key);
  });
}

/** @throws StorageFault `cluster.not_found`, `grant.not_found`, `grant.in_use`, `request.stale` */
export function endGrant(
  { access }: Pick<AccessPorts, 'access'>,
  key: GrantKey,
  ifVersion: number | undefined,
): Promise<void> {
  return access.change(async (transaction) => {
    const { version, used } = await requireGrant(transaction, key);
    assertVersion(version, ifVersion);
    if (await transaction.deleteGrant(key.grantId)) return;
    throw new StorageFault('grant.in_use', {
      publicMessage: `${used.volumes} volumes are in the cluster by this grant`,
      cures: [
        'set its limit of volumes to 0, so that there are no new ones',
        'have its organization delete them',
      ],
    });
  });
}

async function requireCluster(transaction: AccessTransaction, clusterId: ClusterId): Promise<void> {
  if (await transaction.hasCluster(clusterId)) return;
  throw new StorageFault('cluster.not_found', { publicMessage: `there is no cluster ${clusterId}` });
}

async function requireGrant(transaction: AccessTransaction, key: GrantKey): Promise<Grant> {
  await requireCluster(transaction, key.clusterId);
  const found = await transaction.grant(key);
  if (found !== undefined) return found;
  throw grantNotFound(key.grantId);
}

export function grantNotFound(grantId: GrantId): StorageFault {
  return new StorageFault('grant.not_found', { publicMessage: `there is no grant ${grantId}` });
}

async function assertMayReceive(
  transaction: AccessTransaction,
  by: Granter,
  organizationId: OrganizationId,
): Promise<void> {
  const detail =
    organizationId === by.organizationId
      ? "is the cluster's own organization, which needs no grant"
      : (await transaction.organizationExists(organizationId))
        ? undefined
        : `there is no organization ${organizationId}`;
  if (detail === undefined) return;
  throw new StorageFault('request.invalid', {
    publicMessage: `organizationId: ${detail}`,
    errors: [{ pointer: '/organizationId', detail }],
  });
}
