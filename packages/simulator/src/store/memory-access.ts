/** Members, invitations and settings in memory. Changes run one at a time, which is what locks come to. */
import { endedWith, type LeftKind, mayHaveMade } from '@holdfast/access/left-behind.js';
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
import type { MemoryStore } from './memory-store.js';

export type MemoryMember = Member & { readonly email: string };

type StoredGrant = Grant & { readonly madeBy: UserId };

type Rows = {
  readonly members: Map<UserId, MemoryMember>;
  readonly invitations: Map<InvitationId, Invitation>;
  readonly grants: Map<GrantId, StoredGrant>;
};

/** One organization, with the clusters of a store. */
export class MemoryAccess implements AccessStore {
  private rows: Rows = { members: new Map(), invitations: new Map(), grants: new Map() };
  private last: Promise<unknown> = Promise.resolve();

  /** @param others organizations that grants may be given to */
  constructor(
    private readonly store: MemoryStore,
    private readonly others: readonly OrganizationId[] = [],
  ) {}

  addMember(member: MemoryMember): void {
    this.rows.members.set(member.userId, member);
  }

  get members(): readonly MemoryMember[] {
    return [...this.rows.members.values()];
  }

  get invitations(): readonly Invitation[] {
    return [...this.rows.invitations.values()];
  }

  change<T>(work: (transaction: AccessTransaction) => Promise<T>): Promise<T> {
    const done = this.last.then(() => this.run(work));
    // The next one runs whether this one has failed or not.
    this.last = done.catch(() => undefined);
    return done;
  }

  private async run<T>(work: (transaction: AccessTransaction) => Promise<T>): Promise<T> {
    const rows: Rows = {
      members: new Map(this.rows.members),
      invitations: new Map(this.rows.invitations),
      grants: new Map(this.rows.grants),
    };
    const transaction = new MemoryTransaction(rows, this.store, this.others);
    const result = await work(transaction);
    this.rows = rows;
    transaction.storeSettings();
    return result;
  }
}

class MemoryTransaction implements AccessTransaction {
  private readonly changed: [ClusterId, SettingChange][] = [];

  constructor(
    private readonly rows: Rows,
    private readonly store: MemoryStore,
    private readonly others: readonly OrganizationId[],
  ) {}

  async lockOwners(): Promise<UserId[]> {
    return [...this.rows.members.values()].filter(({ role }) => role === 'owner').map(({ userId }) => userId);
  }

  async member(userId: UserId): Promise<Member | undefined> {
    return this.rows.members.get(userId);
  }

  async hasMember(email: string): Promise<boolean> {
    return [...this.rows.members.values()].some((member) => member.email === email);
  }

  async setMemberRole(userId: UserId, role: OrganizationRole): Promise<void> {
    const member = this.rows.members.get(userId);
    if (member === undefined) return;
    this.rows.members.set(userId, { ...member, role, version: member.version + 1 });
    this.endLeftBehind(userId);
  }

  async removeMember(userId: UserId): Promise<void> {
    this.rows.members.delete(userId);
    this.endLeftBehind(userId);
  }

  async mayStill(kind: LeftKind, userId: UserId): Promise<boolean> {
    return mayHaveMade(kind, this.rows.members.get(userId)?.role);
  }

  async putInvitation(invitation: Invitation): Promise<void> {
    const { invitations } = this.rows;
    for (const { id, email } of [...invitations.values()]) {
      if (email === invitation.email) invitations.delete(id);
    }
    invitations.set(invitation.id, invitation);
  }

  async deleteInvitation(id: InvitationId): Promise<boolean> {
    return this.rows.invitations.delete(id);
  }

  async hasCluster(clusterId: ClusterId): Promise<boolean> {
    return this.store.storedSettings(clusterId) !== undefined;
  }

  async organizationExists(id: OrganizationId): Promise<boolean> {
    return this.others.includes(id);
  }

  async grant({ clusterId, grantId }: GrantKey): Promise<Grant | undefined> {
    const found = this.rows.grants.get(grantId);
    return found?.clusterId === clusterId ? found : undefined;
  }

  async addGrant(grant: NewGrant): Promise<boolean> {
    const { clusterId, organizationId } = grant;
    const isThere = [...this.rows.grants.values()].some(
      (other) => other.clusterId === clusterId && other.organizationId === organizationId,
    );
    if (isThere) return false;
    this.rows.grants.set(grant.id, { ...grant, used: { provisionedBytes: 0, volumes: 0 }, version: 1 });
    return true;
  }

  async patchGrant(grant: Grant, change: GrantPatch & { readonly madeBy: UserId }): Promise<void> {
    const { madeBy, nodeTags = grant.nodeTags, diskTags = grant.diskTags, ...limits } = change;
    const given = Object.entries(limits).filter(([, value]) => value !== undefined);
    this.rows.grants.set(grant.id, {
      ...grant,
      madeBy,
      nodeTags,
      diskTags,
      limits: { ...grant.limits, ...Object.fromEntries(given) },
      version: grant.version + 1,
    });
  }

  async deleteGrant(id: GrantId): Promise<boolean> {
    if ((this.rows.grants.get(id)?.used.volumes ?? 0) > 0) return false;
    this.rows.grants.delete(id);
    return true;
  }

  async lockSettings(clusterId: ClusterId): Promise<StoredSettings | undefined> {
    return this.store.storedSettings(clusterId);
  }

  async storeSetting(clusterId: ClusterId, change: SettingChange): Promise<void> {
    this.changed.push([clusterId, change]);
  }

  /** Once the work has succeeded: the store of clusters has no transaction that could be rolled back. */
  storeSettings(): void {
    for (const [clusterId, change] of this.changed) this.store.storeSetting(clusterId, change);
  }

  private endLeftBehind(userId: UserId): void {
    const kinds = endedWith(this.rows.members.get(userId)?.role);
    for (const { id, invitedBy, role } of [...this.rows.invitations.values()]) {
      const kind = role === 'owner' ? "owner's invitation" : 'invitation';
      if (invitedBy === userId && kinds.includes(kind)) this.rows.invitations.delete(id);
    }
    if (!kinds.includes('grant')) return;
    for (const grant of [...this.rows.grants.values()].filter(({ madeBy }) => madeBy === userId)) {
      const limits = { ...grant.limits, volumes: 0, provisionedBytes: 0 };
      this.rows.grants.set(grant.id, { ...grant, limits, version: grant.version + 1 });
    }
  }
}
