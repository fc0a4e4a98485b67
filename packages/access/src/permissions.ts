/**
 * The table of who may do what. The API refuses by it, `docs/permissions.md` is written from it, the console gives its
 * reasons, and the tests ask every route as every role.
 *
 * A user has one role in an organization, and may have further ones in single projects of it. A role may do what those
 * before it may.
 */
import { asId, type ProjectId } from '@holdfast/core/model/ids.js';

/** Roles in an organization. A `member` has the rights of its projects' roles, and of the rest sees what they need. */
export const ORGANIZATION_ROLES = ['member', 'viewer', 'operator', 'admin', 'owner'] as const;
export type OrganizationRole = (typeof ORGANIZATION_ROLES)[number];

/** Roles in one project. */
export const PROJECT_ROLES = ['viewer', 'operator', 'admin'] as const;
export type ProjectRole = (typeof PROJECT_ROLES)[number];

export type Permission = {
  /** The least role in the organization. */
  readonly organization: OrganizationRole;
  /** The least role in a project, for what is in it; left out: a project's roles do not allow it. */
  readonly project?: ProjectRole;
  /** What a user may do with it, after "may". */
  readonly allows: string;
  /** True: it changes nothing, so that tokens for reading may do it. */
  readonly isReading: boolean;
  /**
   * What it reads or changes as a whole, so that a token that sees a part of it only may not do it; left out: it is done to
   * single objects, of which those outside the token's limits are not there.
   */
  readonly whole?: Whole;
};

/** `cluster`: nodes, disks and settings, which the volumes of all projects share. */
export type Whole = 'organization' | 'cluster';

const reads = (organization: OrganizationRole, allows: string, project?: ProjectRole): Permission => ({
  organization,
  allows,
  isReading: true,
  ...(project === undefined ? {} : { project }),
});
const writes = (organization: OrganizationRole, allows: string, project?: ProjectRole): Permission => ({
  ...reads(organization, allows, project),
  isReading: false,
});

const ofAll = (whole: Whole, permission: Permission): Permission => ({ ...permission, whole });

/** Names of actions are API, because tokens are limited to some of them: add freely, never rename one. */
export const PERMISSIONS = {
  'organization:read': reads('member', 'see the organization and who one is in it'),
  'organization:write': ofAll(
    'organization',
    writes('owner', 'rename the organization, and create further ones'),
  ),
  'member:read': ofAll(
    'organization',
    reads('viewer', 'see who belongs to the organization, and who is invited'),
  ),
  'member:write': ofAll(
    'organization',
    writes(
      'admin',
      'invite users, have service accounts, change their roles and remove them; owners by owners only',
    ),
  ),
  'sign-in-provider:read': ofAll(
    'organization',
    reads('admin', 'see by which provider users sign in to the organization'),
  ),
  'sign-in-provider:write': ofAll(
    'organization',
    writes('admin', 'say by which provider users sign in to the organization'),
  ),
  'project:read': reads('member', 'see projects, and who has a role in them', 'viewer'),
  'project:write': ofAll('organization', writes('admin', 'create and delete projects')),
  'project:manage': writes('admin', 'rename a project, and say who has which role in it', 'admin'),
  'quota:read': reads('viewer', 'see quotas and how much of them is used', 'viewer'),
  'quota:write': writes('admin', "set quotas; the organization's own by owners only"),
  'token:own': writes('member', "have tokens and sessions of one's own, and end them"),
  'audit:read': ofAll('organization', reads('admin', 'read who changed what')),
  'grant:read': reads('viewer', 'see which organizations may place volumes in a cluster, and what they use'),
  'grant:write': ofAll(
    'cluster',
    writes('admin', 'let another organization place volumes in a cluster, within limits, and end that'),
  ),
  // An address may hold a secret of its receiver's.
  'webhook:read': ofAll('organization', reads('admin', 'see webhooks and what was delivered')),
  'webhook:write': ofAll(
    'organization',
    writes('admin', 'create, change and delete webhooks, and deliver again'),
  ),
  'cluster:read': reads('member', 'see clusters'),
  'cluster:write': ofAll(
    'cluster',
    writes('admin', "create, rename and delete clusters, and see all users' tokens"),
  ),
  'node:read': reads('member', 'see nodes and disks'),
  'node:write': ofAll('cluster', writes('admin', 'change, drain and delete nodes and disks')),
  'volume:read': reads('viewer', 'see volumes, their replicas and snapshots', 'viewer'),
  'volume:write': writes('operator', 'create, change, attach and delete volumes and snapshots', 'operator'),
  // It keeps the process busy for a moment, so it is for those who may also create what they ask about.
  'placement:simulate': reads('operator', 'ask what-ifs about the whole fleet'),
  'rebuild:read': reads('viewer', 'see rebuilds', 'viewer'),
  'rebuild:write': writes('operator', 'pause, slow, prefer and cancel rebuilds', 'operator'),
  'alert:read': reads('viewer', 'see alerts and silences'),
  'alert:write': ofAll('cluster', writes('operator', 'silence alerts, and end silences')),
  'setting:read': reads('member', "see a cluster's settings"),
  'setting:write': ofAll('cluster', writes('admin', "change a cluster's settings")),
  'event:read': reads('viewer', 'see what happened, and follow it', 'viewer'),
} as const satisfies Record<string, Permission>;

export type Action = keyof typeof PERMISSIONS;

/** Every action, as tokens are limited to some of them. */
export const ACTIONS = Object.keys(PERMISSIONS).filter(isAction);

export function isAction(text: string): text is Action {
  return Object.hasOwn(PERMISSIONS, text);
}

export function permissionOf(action: Action): Permission {
  return PERMISSIONS[action];
}

/** Does a role in the organization allow the action, in all its projects? */
export function isAllowed(role: OrganizationRole, action: Action): boolean {
  return isAtLeast(ORGANIZATION_ROLES, role, PERMISSIONS[action].organization);
}

/** Does a role in a project allow the action there? */
export function isAllowedInProject(role: ProjectRole, action: Action): boolean {
  const { project } = permissionOf(action);
  return project !== undefined && isAtLeast(PROJECT_ROLES, role, project);
}

/** Actions that change nothing. A what-if and an explanation are asked by POST and change nothing either. */
export function changesNothing(action: Action): boolean {
  return PERMISSIONS[action].isReading;
}

/** The weaker of two: a token never allows more than its owner's membership, nor than it was made for. */
export function weakerRole(a: OrganizationRole, b: OrganizationRole): OrganizationRole {
  return isAtLeast(ORGANIZATION_ROLES, a, b) ? b : a;
}

/** The strongest role that a user has anywhere: a token of it allows all that its user may. */
export function strongestRole(
  role: OrganizationRole,
  projectRoles: ReadonlyMap<ProjectId, ProjectRole>,
): OrganizationRole {
  const index = Math.max(...[role, ...projectRoles.values()].map((one) => ORGANIZATION_ROLES.indexOf(one)));
  return ORGANIZATION_ROLES[index] ?? role;
}

/** What is left of a project's role in a token of that role; `undefined`: nothing. */
export function projectRoleWithin(role: ProjectRole, tokenRole: OrganizationRole): ProjectRole | undefined {
  if (isAtLeast(ORGANIZATION_ROLES, tokenRole, role)) return role;
  return PROJECT_ROLES.find((known) => known === tokenRole);
}

function isAtLeast<Role extends string>(order: readonly Role[], role: Role, least: Role): boolean {
  return order.indexOf(role) >= order.indexOf(least);
}

/** Roles by project, of what a user or a program sent. */
export function projectRolesOf(roles: Readonly<Record<string, string>>): ReadonlyMap<ProjectId, ProjectRole> {
  return new Map(
    Object.entries(roles).flatMap(([projectId, text]) => {
      const role = PROJECT_ROLES.find((known) => known === text);
      return role === undefined ? [] : [[asId<ProjectId>(projectId), role] as const];
    }),
  );
}
