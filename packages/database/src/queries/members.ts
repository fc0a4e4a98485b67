/** Who belongs to an organization and to its projects, with which role: reads and writes of plain rows. */

import type { OrganizationRole, ProjectRole } from '@holdfast/access/permissions.js';
import type { OrganizationId, ProjectId, UserId } from '@holdfast/core/model/ids.js';
import { withPlainRows } from '../plain/plain-rows.js';
import type { Sql } from '../sql/scope.js';
import { type Ended, endLeftBehind } from './left-behind.js';
import { type ListRequest, listRows } from './list-rows.js';

type Person = {
  userId: UserId;
  /** To be shown: of an account of the organization's provider it is what that says, and of no account otherwise. */
  email: string;
  name: string;
  isServiceAccount: boolean;
  /** The organization's provider vouches for it. It has no password, and belongs to this organization only. */
  isManaged: boolean;
};
type Membership<Role> = Person & { role: Role; version: number; createdAt: Date };
export type MemberRow = Membership<OrganizationRole>;
export type ProjectMemberRow = Membership<ProjectRole>;

const PERSON = { select: { email: true, providerEmail: true, name: true, serviceOf: true } } as const;
const MEMBER = { role: true, version: true, createdAt: true } as const;

const FIELDS = {
  id: { sql: 'm.user_id', type: 'id' },
  email: { sql: 'coalesce(u.provider_email, u.email)', type: 'text' },
  role: { sql: 'm.role', type: 'text' },
  createdAt: { sql: 'm.created_at', type: 'time' },
} as const;

/** @param where the rows of one project; left out: all */
function listFrom<Row extends Record<string, unknown>>(
  sql: Sql,
  table: 'membership' | 'project_membership',
  request: ListRequest,
  where: { text: string; values: readonly unknown[] } = { text: 'true', values: [] },
) {
  return listRows<Row>(
    sql,
    {
      columns: `m.user_id AS "userId", coalesce(u.provider_email, u.email) AS email, u.name,
        u.service_of IS NOT NULL AS "isServiceAccount", u.managed_by IS NOT NULL AS "isManaged", m.role, m.version,
        m.created_at AS "createdAt"`,
      from: `${table} m JOIN app_user u ON u.id = m.user_id`,
      key: FIELDS.id,
      fields: FIELDS,
      defaultSort: 'email',
      where,
    },
    request,
  );
}

export function listMembers(sql: Sql, request: ListRequest) {
  return listFrom<MemberRow>(sql, 'membership', request);
}

export function listProjectMembers(sql: Sql, projectId: ProjectId, request: ListRequest) {
  const where = { text: 'm.project_id = $1', values: [projectId] };
  return listFrom<ProjectMemberRow>(sql, 'project_membership', request, where);
}

/** A user joins by invitation, one by one. */
const MEMBERSHIPS_MAX = 200;

export type OwnMembership = { id: OrganizationId; name: string; role: OrganizationRole };

/** The organizations that a user belongs to, by name. As the system only. Served by the index of members by user. */
export async function listMemberships(sql: Sql, userId: UserId): Promise<OwnMembership[]> {
  const { rows } = await sql.query<OwnMembership>(
    `SELECT o.id, o.name, m.role FROM membership m JOIN organization o ON o.id = m.organization_id
     WHERE m.user_id = $1 ORDER BY o.name, o.id LIMIT $2`,
    [userId, MEMBERSHIPS_MAX],
  );
  return rows;
}

export function findMember(sql: Sql, userId: UserId): Promise<MemberRow | undefined> {
  return withPlainRows(sql, async ({ membership }) => {
    // Row-level security leaves the memberships of one organization.
    const row = await membership.findFirst({ where: { userId }, select: { ...MEMBER, user: PERSON } });
    if (row === null) return undefined;
    const { user, role, ...rest } = row;
    // The column's CHECK knows these roles only.
    return { userId, ...person(user), ...rest, role: role as OrganizationRole };
  });
}

type StoredPerson = { email: string; providerEmail: string | null; name: string; serviceOf: string | null };

function person({ email, providerEmail, name, serviceOf }: StoredPerson) {
  const isServiceAccount = serviceOf !== null;
  return { email: providerEmail ?? email, name, isServiceAccount, isManaged: providerEmail !== null };
}

/** Does the user of this address belong to the organization? */
export function hasMember(sql: Sql, email: string): Promise<boolean> {
  return withPlainRows(
    sql,
    async ({ membership }) => (await membership.count({ where: { user: { email } } })) > 0,
  );
}

export type MemberKey = { readonly organizationId: OrganizationId; readonly userId: UserId };

/** The organization's owners. They stay so until the transaction ends. */
export async function lockOwners(sql: Sql): Promise<UserId[]> {
  const { rows } = await sql.query<{ user_id: UserId }>(
    `SELECT user_id FROM membership WHERE role = 'owner' ORDER BY user_id FOR UPDATE`,
  );
  return rows.map(({ user_id }) => user_id);
}

/** Changes a member's role, and ends what it has made and may not make with the new one. */
export async function setMemberRole(sql: Sql, member: MemberKey, role: OrganizationRole): Promise<Ended[]> {
  await withPlainRows(sql, async ({ membership }) => {
    await membership.updateMany({ where: member, data: { role, version: { increment: 1 } } });
  });
  return endLeftBehind(sql, member);
}

/**
 * Ends the membership, with the user's tokens and sessions in the organization and what else it leaves behind there. An account of
 * this organization only is gone then.
 */
export async function removeMember(sql: Sql, member: MemberKey): Promise<Ended[]> {
  const { organizationId, userId } = member;
  await withPlainRows(sql, async ({ membership, token, user }) => {
    await token.deleteMany({ where: { organizationId, userId } });
    const ofThisOnly = [{ serviceOf: { not: null } }, { managedBy: { not: null } }];
    await user.deleteMany({ where: { id: userId, OR: ofThisOnly } });
    await membership.deleteMany({ where: member });
  });
  return endLeftBehind(sql, member);
}

export type ProjectMemberKey = { projectId: ProjectId; userId: UserId };

export function findProjectMember(
  sql: Sql,
  { projectId, userId }: ProjectMemberKey,
): Promise<ProjectMemberRow | undefined> {
  return withPlainRows(sql, async ({ projectMembership }) => {
    const row = await projectMembership.findUnique({
      where: { projectId_userId: { projectId, userId } },
      select: { ...MEMBER, membership: { select: { user: PERSON } } },
    });
    if (row === null) return undefined;
    const { membership, role, ...rest } = row;
    // The column's CHECK knows these roles only.
    return { userId, ...person(membership.user), ...rest, role: role as ProjectRole };
  });
}

/** Gives a member of the organization a role in the project, or another one. */
export function setProjectRole(
  sql: Sql,
  key: ProjectMemberKey,
  given: { organizationId: OrganizationId; role: ProjectRole; now: Date },
): Promise<void> {
  const { organizationId, role, now } = given;
  return withPlainRows(sql, async ({ projectMembership }) => {
    await projectMembership.upsert({
      where: { projectId_userId: key },
      create: { ...key, organizationId, role, createdAt: now },
      update: { role, version: { increment: 1 } },
    });
  });
}

/** Returns false when the user has no role there. */
export function removeProjectMember(sql: Sql, key: ProjectMemberKey): Promise<boolean> {
  return withPlainRows(sql, async ({ projectMembership }) => {
    const { count } = await projectMembership.deleteMany({ where: key });
    return count === 1;
  });
}
