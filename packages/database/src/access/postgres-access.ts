import type { LeftKind } from '@holdfast/access/left-behind.js';
import type { OrganizationRole } from '@holdfast/access/permissions.js';
import type {
  AccessStore,
  AccessTransaction,
  Grant,
  GrantKey,
  GrantPatch,
  Invitation,
  Member,
  NewGrant,
  SettingChange,
  StoredSettings,
} from '@holdfast/control/ports/access-store.js';
import type { ClusterId, GrantId, InvitationId, OrganizationId, UserId } from '@holdfast/core/model/ids.js';
import { hasCluster } from '../queries/clusters.js';
import { createGrant, deleteGrant, findGrant, organizationExists, patchGrant } from '../queries/grants.js';
import { createInvitation, deleteInvitation } from '../queries/invitations.js';
import { type Ended, mayStill } from '../queries/left-behind.js';
import { findMember, hasMember, lockOwners, removeMember, setMemberRole } from '../queries/members.js';
import { type Scope, type Sql, transaction } from '../sql/scope.js';
import { lockSettings, storeSetting } from './setting-rows.js';

/** A transaction on Postgres, in the scope of one organization. The caller begins and ends it. */
export class PostgresAccess implements AccessTransaction {
  /** @param onEnded hears, in the same transaction, of what has ended with a member's right */
  constructor(
    private readonly sql: Sql,
    private readonly organizationId: OrganizationId,
    private readonly onEnded: (ended: readonly Ended[]) => Promise<void>,
  ) {}

  lockOwners(): Promise<UserId[]> {
    return lockOwners(this.sql);
  }

  member(userId: UserId): Promise<Member | undefined> {
    return findMember(this.sql, userId);
  }

  hasMember(email: string): Promise<boolean> {
    return hasMember(this.sql, email);
  }

  async setMemberRole(userId: UserId, role: OrganizationRole): Promise<void> {
    const { organizationId } = this;
    await this.onEnded(await setMemberRole(this.sql, { organizationId, userId }, role));
  }

  async removeMember(userId: UserId): Promise<void> {
    const { organizationId } = this;
    await this.onEnded(await removeMember(this.sql, { organizationId, userId }));
  }

  mayStill(kind: LeftKind, userId: UserId): Promise<boolean> {
    const { organizationId } = this;
    return mayStill(this.sql, kind, { organizationId, userId });
  }

  putInvitation(invitation: Invitation, secret: string): Promise<void> {
    return createInvitation(this.sql, { ...invitation, secret });
  }

  deleteInvitation(id: InvitationId): Promise<boolean> {
    return deleteInvitation(this.sql, id);
  }

  hasCluster(clusterId: ClusterId): Promise<boolean> {
    return hasCluster(this.sql, clusterId);
  }

  organizationExists(id: OrganizationId): Promise<boolean> {
    return organizationExists(this.sql, id);
  }

  grant(key: GrantKey): Promise<Grant | undefined> {
    return findGrant(this.sql, key);
  }

  addGrant(grant: NewGrant): Promise<boolean> {
    return createGrant(this.sql, grant);
  }

  patchGrant(grant: Grant, change: GrantPatch & { readonly madeBy: UserId }): Promise<void> {
    return patchGrant(this.sql, grant, change);
  }

  deleteGrant(id: GrantId): Promise<boolean> {
    return deleteGrant(this.sql, id);
  }

  lockSettings(clusterId: ClusterId): Promise<StoredSettings | undefined> {
    return lockSettings(this.sql, clusterId);
  }

  storeSetting(clusterId: ClusterId, change: SettingChange): Promise<void> {
    return storeSetting(this.sql, clusterId, change);
  }
}

/** For changes that no request of a user makes: what ends with a member's right is not noted. */
export function postgresAccess(scope: Scope, organizationId: OrganizationId): AccessStore {
  return {
    change: (work) =>
      transaction(scope, (sql) => work(new PostgresAccess(sql, organizationId, async () => undefined))),
  };
}
