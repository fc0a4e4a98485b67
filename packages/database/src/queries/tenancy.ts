import type { OrganizationId, ProjectId, UserId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';
import { type ListRequest, listRows } from './list-rows.js';

export type MemberRole = 'owner' | 'admin' | 'operator' | 'viewer';

type OrganizationRow = { id: OrganizationId; name: string; created_at: Date };
type ProjectRow = { id: ProjectId; name: string; version: number; created_at: Date };
type MemberRow = { user_id: UserId; email: string; name: string; role: MemberRole; created_at: Date };

const NAMED_FIELDS = {
  id: { sql: 'id', type: 'id' },
  name: { sql: 'name', type: 'text' },
  createdAt: { sql: 'created_at', type: 'time' },
} as const;

/** All rows of a table, as far as the tenant sees them, in the order of their names. */
function listNamed<Row extends Record<string, unknown>>(
  sql: Sql,
  table: 'organization' | 'project',
  request: ListRequest,
) {
  return listRows<Row>(
    sql,
    {
      columns: '*',
      from: table,
      key: NAMED_FIELDS.id,
      fields: NAMED_FIELDS,
      defaultSort: 'name',
      where: { text: 'true', values: [] },
    },
    request,
  );
}

export function listOrganizations(sql: Sql, request: ListRequest) {
  return listNamed<OrganizationRow>(sql, 'organization', request);
}

export async function findOrganization(sql: Sql, id: OrganizationId): Promise<OrganizationRow | undefined> {
  const { rows } = await sql.query<OrganizationRow>('SELECT * FROM organization WHERE id = $1', [id]);
  return rows[0];
}

export function listProjects(sql: Sql, request: ListRequest) {
  return listNamed<ProjectRow>(sql, 'project', request);
}

export async function findProject(sql: Sql, id: ProjectId): Promise<ProjectRow | undefined> {
  const { rows } = await sql.query<ProjectRow>('SELECT * FROM project WHERE id = $1', [id]);
  return rows[0];
}

/** The project of an organization that has one only. */
export async function findOnlyProject(sql: Sql): Promise<ProjectId | undefined> {
  const { rows } = await sql.query<{ id: ProjectId }>('SELECT id FROM project LIMIT 2');
  return rows.length === 1 ? rows[0]?.id : undefined;
}

export async function createProject(
  sql: Sql,
  project: { id: ProjectId; organizationId: OrganizationId; name: string; now: Date },
): Promise<void> {
  await sql.query('INSERT INTO project (id, organization_id, name, created_at) VALUES ($1, $2, $3, $4)', [
    project.id,
    project.organizationId,
    project.name,
    project.now,
  ]);
}

const MEMBER_FIELDS = {
  id: { sql: 'm.user_id', type: 'id' },
  email: { sql: 'u.email', type: 'text' },
  role: { sql: 'm.role', type: 'text' },
  createdAt: { sql: 'm.created_at', type: 'time' },
} as const;

const MEMBERS = 'membership m JOIN app_user u ON u.id = m.user_id';

export function listMembers(sql: Sql, request: ListRequest) {
  return listRows<MemberRow>(
    sql,
    {
      columns: 'm.user_id, u.email, u.name, m.role, m.created_at',
      from: MEMBERS,
      key: MEMBER_FIELDS.id,
      fields: MEMBER_FIELDS,
      defaultSort: 'email',
      where: { text: 'true', values: [] },
    },
    request,
  );
}

export async function findMember(sql: Sql, userId: UserId): Promise<MemberRow | undefined> {
  const { rows } = await sql.query<MemberRow>(
    `SELECT m.user_id, u.email, u.name, m.role, m.created_at FROM ${MEMBERS} WHERE m.user_id = $1`,
    [userId],
  );
  return rows[0];
}

export async function setPasswordHash(sql: Sql, userId: UserId, passwordHash: string): Promise<void> {
  await sql.query('UPDATE app_user SET password_hash = $2 WHERE id = $1', [userId, passwordHash]);
}
