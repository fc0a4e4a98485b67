/**
 * Store of who belongs to an organization and what was given to them, and of a cluster's settings. A change is one transaction: what
 * it reads of members, rights and settings stays as it is until the transaction ends, so that of two changes that contradict each
 * other the second decides over what the first has left.
 */
import type { LeftKind } from '@holdfast/access/left-behind.js';
import type { OrganizationRole } from '@holdfast/access/permissions.js';
import type { ClusterEvent } from '@holdfast/core/model/event.js';
import type { ClusterId, GrantId, InvitationId, OrganizationId, UserId } from '@holdfast/core/model/ids.js';
import type { GrantedTags } from '@holdfast/core/model/volume.js';
import type { SettingValue } from '@holdfast/core/settings/effective.js';
import type { Clock } from './clock.js';

/** What decisions about a member depend on. */
export type Member = {
  readonly userId: UserId;
  readonly role: OrganizationRole;
  readonly isServiceAccount: boolean;
  /** The organization's provider vouches for it. */
  readonly isManaged: boolean;
  readonly version: number;
};

export type Invitation = {
  readonly id: InvitationId;
  readonly organizationId: OrganizationId;
  readonly email: string;
  readonly role: OrganizationRole;
  readonly invitedBy: UserId;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

/** Null: no limit. */
export type GrantLimits = {
  provisionedBytes: number | null;
  volumes: number | null;
  runningRebuilds: number | null;
};

/** What another organization may use of a cluster, and what it does. */
export type Grant = {
  id: GrantId;
  clusterId: ClusterId;
  ownerOrganizationId: OrganizationId;
  /** Whose volumes may be there. */
  organizationId: OrganizationId;
  limits: GrantLimits;
  used: { provisionedBytes: number; volumes: number };
  nodeTags: readonly string[];
  diskTags: readonly string[];
  version: number;
  createdAt: Date;
};
export type GrantKey = { readonly clusterId: ClusterId; readonly grantId: GrantId };
export type NewGrant = Omit<Grant, 'used' | 'version'> & { madeBy: UserId };

/** What is `undefined` stays. */
export type GrantPatch = {
  readonly [Name in keyof (GrantLimits & GrantedTags)]?: (GrantLimits & GrantedTags)[Name] | undefined;
};

/** What a cluster says of its settings, as it is stored: the others have their defaults. */
export type StoredSettings = {
  readonly version: number;
  readonly overrides: Readonly<Record<string, unknown>>;
};

export type SettingChange = {
  readonly name: string;
  /** `undefined`: back to the default. */
  readonly value: SettingValue | undefined;
  readonly at: Date;
  readonly events: readonly ClusterEvent[];
};

export interface AccessTransaction {
  /** The organization's owners. They stay so until the end of the transaction. */
  lockOwners(): Promise<UserId[]>;
  member(userId: UserId): Promise<Member | undefined>;
  hasMember(email: string): Promise<boolean>;
  /** Gives the member another role, and ends what it has made and may not have made with that one. */
  setMemberRole(userId: UserId, role: OrganizationRole): Promise<void>;
  /** Ends the membership, with the member's tokens and sessions and what else it leaves behind. */
  removeMember(userId: UserId): Promise<void>;
  /** May the member make such a thing at this moment? The answer stays so until the end of the transaction. */
  mayStill(kind: LeftKind, userId: UserId): Promise<boolean>;
  /** Stores an invitation in the place of an earlier one for the same address, whose secret stops working. */
  putInvitation(invitation: Invitation, secret: string): Promise<void>;
  /** @returns false when there is no such invitation */
  deleteInvitation(id: InvitationId): Promise<boolean>;
  /** Is it a cluster of the organization? */
  hasCluster(clusterId: ClusterId): Promise<boolean>;
  /** Is there such an organization, whoever asks? */
  organizationExists(id: OrganizationId): Promise<boolean>;
  /** A grant that the organization has given. */
  grant(key: GrantKey): Promise<Grant | undefined>;
  /** @returns false when the organization has a grant of the cluster already */
  addGrant(grant: NewGrant): Promise<boolean>;
  /** @param change with who changes it, and answers for it from then on */
  patchGrant(grant: Grant, change: GrantPatch & { readonly madeBy: UserId }): Promise<void>;
  /** @returns false while volumes are there by it */
  deleteGrant(id: GrantId): Promise<boolean>;
  /** Settings of a cluster, which wait for each other's changes and for bookings under the old ones. `undefined`: no such cluster. */
  lockSettings(clusterId: ClusterId): Promise<StoredSettings | undefined>;
  /** Stores the change with its events under the next version, and wakes the cluster and its volumes. */
  storeSetting(clusterId: ClusterId, change: SettingChange): Promise<void>;
}

export interface AccessStore {
  /** Runs the work in one transaction, which is rolled back where the work fails. */
  change<T>(work: (transaction: AccessTransaction) => Promise<T>): Promise<T>;
}

export type AccessPorts = { readonly access: AccessStore; readonly clock: Clock };
