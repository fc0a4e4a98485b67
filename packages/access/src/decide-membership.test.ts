import { describe, expect, test } from '@jest/globals';
import { decideRoleChange, type RoleChange } from './decide-membership.js';

/** An owner makes a viewer an operator; another owner is there. Each case differs in what it names. */
const CHANGE: RoleChange = {
  byRole: 'owner',
  before: 'viewer',
  after: 'operator',
  otherOwners: 1,
  isServiceAccount: false,
  isManaged: false,
};

describe('decideRoleChange', () => {
  test.each<{ name: string; change: Partial<RoleChange>; want: string }>([
    { name: 'another role', change: {}, want: 'allow' },
    { name: 'the role as it is', change: { after: 'viewer' }, want: 'unchanged' },
    { name: 'a member who leaves', change: { after: undefined }, want: 'allow' },
    { name: 'an admin who makes an operator', change: { byRole: 'admin' }, want: 'allow' },
    {
      name: 'an admin who makes an owner',
      change: { byRole: 'admin', after: 'owner' },
      want: 'auth.forbidden',
    },
    {
      name: 'an admin who removes an owner',
      change: { byRole: 'admin', before: 'owner', after: undefined },
      want: 'auth.forbidden',
    },
    { name: 'an owner beside others who steps down', change: { before: 'owner' }, want: 'allow' },
    {
      name: 'the last owner who steps down',
      change: { before: 'owner', otherOwners: 0 },
      want: 'member.last_owner',
    },
    {
      name: 'the last owner who leaves',
      change: { before: 'owner', after: undefined, otherOwners: 0 },
      want: 'member.last_owner',
    },
    { name: 'a service account', change: { isServiceAccount: true }, want: 'allow' },
    {
      name: 'a service account as an owner',
      change: { isServiceAccount: true, after: 'owner' },
      want: 'member.no_owner',
    },
    { name: "an account of the organization's provider", change: { isManaged: true }, want: 'allow' },
    {
      name: "an account of the organization's provider as an owner",
      change: { isManaged: true, after: 'owner' },
      want: 'member.no_owner',
    },
    { name: 'a first owner', change: { before: undefined, after: 'owner', otherOwners: 0 }, want: 'allow' },
  ])('$name: $want', ({ change, want }) => {
    const decision = decideRoleChange({ ...CHANGE, ...change });
    expect(decision.kind === 'refuse' ? decision.code : decision.kind).toBe(want);
  });
});
