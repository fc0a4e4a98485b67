import { asId, type ClusterId, type ProjectId } from '@holdfast/core/model/ids.js';
import { describe, expect, test } from '@jest/globals';
import { type AccessFacts, decideAccess, isAllowedWithin } from './decide-access.js';
import {
  ACTIONS,
  type Action,
  changesNothing,
  isAllowed,
  isAllowedInProject,
  ORGANIZATION_ROLES,
  PROJECT_ROLES,
  type ProjectRole,
  permissionOf,
  projectRoleWithin,
  weakerRole,
} from './permissions.js';

const MINE = asId<ProjectId>('01a1fd5b-0000-7000-8000-000000000001');
const OTHER = asId<ProjectId>('01a1fd5b-0000-7000-8000-000000000002');

const CLUSTER = asId<ClusterId>('01a1fd5b-0000-7000-8000-000000000003');

const UNLIMITED: AccessFacts['limits'] = {
  readOnly: false,
  actions: undefined,
  clusterIds: undefined,
  projectIds: undefined,
};

/** A member without a role in any project, with a token that has no limits. */
function facts(part: Partial<AccessFacts> = {}, inMine?: ProjectRole): AccessFacts {
  return {
    role: 'member',
    projectRoles: new Map(inMine === undefined ? [] : [[MINE, inMine]]),
    limits: UNLIMITED,
    ...part,
  };
}

/** `all`, the projects, or why not. */
function outcome(given: AccessFacts, action: Action): string {
  const access = decideAccess(given, action);
  if (access.kind === 'refuse') return access.why;
  return access.projectIds?.map((id) => (id === MINE ? 'mine' : id)).join() ?? 'all';
}

describe('decideAccess', () => {
  test.each<{ name: string; given: AccessFacts; action: Action; want: string }>([
    { name: 'an operator, volumes', given: facts({ role: 'operator' }), action: 'volume:write', want: 'all' },
    {
      name: 'a viewer, volumes',
      given: facts({ role: 'viewer' }),
      action: 'volume:write',
      want: 'this needs the role operator, or operator in a project; yours is viewer',
    },
    {
      name: 'a viewer who is an operator in one project',
      given: facts({ role: 'viewer' }, 'operator'),
      action: 'volume:write',
      want: 'mine',
    },
    {
      name: 'the same, reading',
      given: facts({ role: 'viewer' }, 'operator'),
      action: 'volume:read',
      want: 'all',
    },
    { name: 'a member in its project', given: facts({}, 'viewer'), action: 'volume:read', want: 'mine' },
    {
      name: 'a member with too weak a role',
      given: facts({}, 'viewer'),
      action: 'volume:write',
      want: 'this needs the role operator, or operator in a project; yours is member',
    },
    { name: 'a member, clusters', given: facts({}, 'viewer'), action: 'cluster:read', want: 'mine' },
    { name: 'a member of no project, clusters', given: facts(), action: 'cluster:read', want: '' },
    {
      name: 'an admin of a project, nodes',
      given: facts({}, 'admin'),
      action: 'node:write',
      want: 'this needs the role admin; yours is member',
    },
    {
      name: 'an owner with a token for reading',
      given: facts({ role: 'owner', limits: { ...UNLIMITED, readOnly: true } }),
      action: 'volume:write',
      want: 'this token is for reading only',
    },
    {
      name: 'an owner with a token for reading, reading',
      given: facts({ role: 'owner', limits: { ...UNLIMITED, readOnly: true } }),
      action: 'volume:read',
      want: 'all',
    },
    {
      name: 'an owner with a token for one action',
      given: facts({ role: 'owner', limits: { ...UNLIMITED, actions: ['volume:read'] } }),
      action: 'node:read',
      want: 'this token is for volume:read only, and this needs node:read',
    },
  ])('$name: $want', ({ given, action, want }) => {
    expect(outcome(given, action)).toBe(want);
  });

  test.each<{ limits: Partial<AccessFacts['limits']>; action: Action; want: string }>([
    {
      limits: { projectIds: [MINE] },
      action: 'member:write',
      want: 'this token is limited to projects, and this is about the whole organization',
    },
    {
      limits: { clusterIds: [CLUSTER] },
      action: 'audit:read',
      want: 'this token is limited to clusters, and this is about the whole organization',
    },
    {
      limits: { projectIds: [MINE] },
      action: 'node:write',
      want: 'this token is limited to projects, and this is about a whole cluster, which all projects share',
    },
    { limits: { clusterIds: [CLUSTER] }, action: 'node:write', want: 'all' },
    { limits: { projectIds: [MINE] }, action: 'node:read', want: 'all' },
    { limits: { projectIds: [MINE] }, action: 'volume:write', want: 'all' },
  ])("an owner's token limited by $limits, $action: $want", ({ limits, action, want }) => {
    expect(outcome(facts({ role: 'owner', limits: { ...UNLIMITED, ...limits } }), action)).toBe(want);
  });

  test('a refusal by role says whom to ask', () => {
    const access = decideAccess(facts(), 'organization:write');
    expect(access).toMatchObject({ cures: ['ask an owner of the organization for the role owner'] });
  });

  test('a role in one project says nothing of another one', () => {
    expect(isAllowedWithin(facts({}, 'operator'), 'volume:write', MINE)).toBe(true);
    expect(isAllowedWithin(facts({}, 'operator'), 'volume:write', OTHER)).toBe(false);
  });
});

describe('the table of permissions', () => {
  test('a stronger role may do all that a weaker one may', () => {
    for (const action of ACTIONS) {
      const may = ORGANIZATION_ROLES.map((role) => isAllowed(role, action));
      expect([action, may]).toEqual([action, [...may].sort()]);
      const mayInProject = PROJECT_ROLES.map((role) => isAllowedInProject(role, action));
      expect([action, mayInProject]).toEqual([action, [...mayInProject].sort()]);
    }
  });

  test('viewers and members change nothing but what is their own', () => {
    const changing = ACTIONS.filter((action) => !changesNothing(action));
    expect(changing.filter((action) => isAllowed('viewer', action))).toEqual(['token:own']);
    expect(changing.filter((action) => isAllowedInProject('viewer', action))).toEqual([]);
  });

  test("what changes a cluster or more and no project's role allows is about a whole", () => {
    const open = ACTIONS.filter(
      (action) => !changesNothing(action) && permissionOf(action).whole === undefined,
    );
    expect(open.filter((action) => permissionOf(action).project === undefined)).toEqual([
      // Of one project; the organization's own is looked at where it is set.
      'quota:write',
      'token:own',
    ]);
  });

  test('a token takes of a role in a project what its own role has not', () => {
    expect(projectRoleWithin('admin', 'operator')).toBe('operator');
    expect(projectRoleWithin('viewer', 'operator')).toBe('viewer');
    expect(projectRoleWithin('viewer', 'member')).toBeUndefined();
    expect(projectRoleWithin('admin', 'owner')).toBe('admin');
    expect(weakerRole('member', 'owner')).toBe('member');
  });
});
