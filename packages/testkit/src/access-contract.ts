/** What every implementation of the `AccessStore` port promises, as a suite of tests over the use cases that need it. */
import type { OrganizationRole } from '@holdfast/access/permissions.js';
import type { AccessStore } from '@holdfast/control/ports/access-store.js';
import { changeMemberRole, removeMember } from '@holdfast/control/use-cases/change-member.js';
import { changeSetting } from '@holdfast/control/use-cases/change-setting.js';
import { changeGrant, endGrant, grantCluster } from '@holdfast/control/use-cases/grant-cluster.js';
import { inviteMember, withdrawInvitation } from '@holdfast/control/use-cases/invite-member.js';
import {
  asId,
  type ClusterId,
  type GrantId,
  type InvitationId,
  type OrganizationId,
  type UserId,
} from '@holdfast/core/model/ids.js';
import { expect, test } from '@jest/globals';
import { NOON, testId } from './builders.js';

export type AccessUnderTest = {
  readonly access: AccessStore;
  readonly organizationId: OrganizationId;
  /** Another one, that a cluster may be granted to. */
  readonly otherOrganizationId: OrganizationId;
  readonly clusterId: ClusterId;
  /** Adds a member with this number, whose address is `user-<number>@example.test`. */
  addMember(number: number, role: OrganizationRole): Promise<UserId>;
  /** Addresses that are invited, in order. */
  invited(): Promise<string[]>;
  /** Types of events, the oldest first. */
  events(): Promise<string[]>;
};

const UNLIMITED_GRANT = {
  provisionedBytes: null,
  volumes: null,
  runningRebuilds: null,
  nodeTags: [],
  diskTags: [],
};
const PURGE_IS_OFF = { name: 'disable-snapshot-purge', value: true };

const clock = { now: () => NOON };

type Make = () => Promise<AccessUnderTest>;

/** @param make an organization without members */
export function accessContract(make: Make): void {
  membersContract(make);
  grantsContract(make);
  settingsContract(make);
}

function membersContract(make: Make): void {
  test('of two owners who step down at once the second is refused, as the last one', async () => {
    const { access, addMember } = await make();
    const owners = [await addMember(1, 'owner'), await addMember(2, 'owner')];
    const changes = await Promise.allSettled(
      owners.map((userId) => changeMemberRole({ access }, { userId, byRole: 'owner', role: 'member' })),
    );
    const refused = changes.flatMap((change) => (change.status === 'rejected' ? [change.reason] : []));
    expect(refused).toMatchObject([{ code: 'member.last_owner' }]);
  });

  test('a member changes under its version only, and a removed one is there no more', async () => {
    const { access, addMember } = await make();
    await addMember(1, 'owner');
    const userId = await addMember(2, 'viewer');
    const asked = { userId, byRole: 'owner', ifVersion: 1 } as const;
    await changeMemberRole({ access }, { ...asked, role: 'admin' });
    await expect(removeMember({ access }, asked)).rejects.toMatchObject({ code: 'request.stale' });
    await removeMember({ access }, { userId, byRole: 'owner' });
    await expect(removeMember({ access }, { userId, byRole: 'owner' })).rejects.toMatchObject({
      code: 'member.not_found',
    });
  });

  test('an invitation takes the place of an earlier one, and ends with the right of its maker', async () => {
    const { access, organizationId, addMember, invited } = await make();
    await addMember(1, 'owner');
    const userId = await addMember(2, 'admin');
    const by = { organizationId, userId, role: 'admin' } as const;
    const invite = (number: number, email: string) =>
      inviteMember(
        { access, clock },
        {
          id: asId<InvitationId>(testId(number)),
          secret: `secret ${number}`,
          email,
          role: 'member',
          validHours: 24,
          by,
        },
      );
    await invite(70, 'a@example.test');
    expect((await invite(71, 'a@example.test')).expiresAt.getTime() - NOON.getTime()).toBe(24 * 3_600_000);
    await invite(72, 'b@example.test');
    expect(await invited()).toEqual(['a@example.test', 'b@example.test']);
    await expect(invite(73, 'user-1@example.test')).rejects.toMatchObject({ code: 'member.exists' });
    await withdrawInvitation({ access }, asId(testId(72)));
    await expect(withdrawInvitation({ access }, asId(testId(72)))).rejects.toMatchObject({
      code: 'invitation.not_found',
    });
    await changeMemberRole({ access }, { userId, byRole: 'owner', role: 'member' });
    expect(await invited()).toEqual([]);
    await expect(invite(74, 'c@example.test')).rejects.toMatchObject({ code: 'auth.forbidden' });
  });
}

function grantsContract(make: Make): void {
  test('a cluster is granted once to another organization, under its version, and emptied with the right of its maker', async () => {
    const { access, organizationId, otherOrganizationId, clusterId, addMember } = await make();
    await addMember(1, 'owner');
    const userId = await addMember(2, 'admin');
    const by = { organizationId, userId };
    const key = { clusterId, grantId: asId<GrantId>(testId(80)) };
    const wish = { ...key, ...UNLIMITED_GRANT, organizationId: otherOrganizationId };
    const given = await grantCluster({ access, clock }, wish, by);
    expect(given).toMatchObject({ limits: { volumes: null }, used: { volumes: 0 }, version: 1 });
    const again = grantCluster({ access, clock }, { ...wish, grantId: asId<GrantId>(testId(81)) }, by);
    await expect(again).rejects.toMatchObject({ code: 'grant.exists' });
    const toItself = grantCluster({ access, clock }, { ...wish, organizationId }, by);
    await expect(toItself).rejects.toMatchObject({ code: 'request.invalid' });
    const patch = { volumes: 5 };
    expect(await changeGrant({ access }, key, { patch, by, ifVersion: 1 })).toMatchObject({
      limits: { volumes: 5, provisionedBytes: null },
      version: 2,
    });
    const stale = changeGrant({ access }, key, { patch, by, ifVersion: 1 });
    await expect(stale).rejects.toMatchObject({ code: 'request.stale' });
    await changeMemberRole({ access }, { userId, byRole: 'owner', role: 'member' });
    const late = changeGrant({ access }, key, { patch, by, ifVersion: undefined });
    await expect(late).rejects.toMatchObject({ code: 'auth.forbidden' });
    expect(await access.change((transaction) => transaction.grant(key))).toMatchObject({
      limits: { volumes: 0, provisionedBytes: 0 },
    });
    await endGrant({ access }, key, 3);
    await expect(endGrant({ access }, key, undefined)).rejects.toMatchObject({ code: 'grant.not_found' });
  });
}

function settingsContract(make: Make): void {
  test('a setting changes under its version, with an event, and one that contradicts another leaves all as it was', async () => {
    const { access, clusterId, events } = await make();
    const ports = { access, clock };
    await changeSetting(ports, clusterId, { name: 'auto-cleanup-system-generated-snapshot', value: false });
    await changeSetting(ports, clusterId, PURGE_IS_OFF);
    const before = await events();
    expect(before.at(-1)).toBe('SettingChanged');
    const contradicting = { name: 'auto-cleanup-system-generated-snapshot', value: true };
    await expect(changeSetting(ports, clusterId, contradicting)).rejects.toMatchObject({
      code: 'setting.invalid',
    });
    await expect(changeSetting(ports, clusterId, { ...PURGE_IS_OFF, ifVersion: 1 })).rejects.toMatchObject({
      code: 'request.stale',
    });
    expect(await events()).toEqual(before);
    await changeSetting(ports, clusterId, { name: PURGE_IS_OFF.name, value: undefined });
    await changeSetting(ports, clusterId, contradicting);
    await expect(changeSetting(ports, asId<ClusterId>(testId(999)), PURGE_IS_OFF)).rejects.toMatchObject({
      code: 'cluster.not_found',
    });
    await expect(
      changeSetting(ports, clusterId, { name: 'no-such', value: undefined }),
    ).rejects.toMatchObject({
      code: 'setting.not_found',
    });
  });
}
