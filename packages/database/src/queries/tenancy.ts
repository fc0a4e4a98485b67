import { asId, type OrganizationId, type ProjectId, type UserId } from '@holdfast/core/model/ids.js';
import { withPlainRows } from '../plain/plain-rows.js';
import { conflict } from '../sql/errors.js';
import type { Sql } from '../sql/scope.js';
import { type ListRequest, listRows, type Page } from './list-rows.js';

/** A row that users name and change. */
type NamedRow<Id> = { id: Id; name: string; version: number; createdAt: Date };
export type OrganizationRow = NamedRow<OrganizationId>;
export type ProjectRow = NamedRow<ProjectId>;

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
): Promise<Page<Row>> {
  return listRows<Row>(
    sql,
    {
      columns: 'id, name, version, created_at AS "createdAt"',
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

export function findOrganization(sql: Sql, id: OrganizationId): Promise<OrganizationRow | undefined> {
  return withPlainRows(sql, async ({ organization }) => {
    const row = await organization.findUnique({ where: { id } });
    return row === null ? undefined : { ...row, id };
  });
}

/** The organization that was made first, which runs the installation; undefined before there is one. As the system only. */
export function findFirstOrganizationId(sql: Sql): Promise<OrganizationId | undefined> {
  return withPlainRows(sql, async ({ organization }) => {
    const orderBy = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];
    const row = await organization.findFirst({ orderBy, select: { id: true } });
    return row === null ? undefined : asId<OrganizationId>(row.id);
  });
}

export function listProjects(sql: Sql, request: ListRequest) {
  return listNamed<ProjectRow>(sql, 'project', request);
}

export function findProject(sql: Sql, id: ProjectId): Promise<ProjectRow | undefined> {
  return withPlainRows(sql, async ({ project }) => {
    const row = await project.findUnique({ where: { id } });
    return row === null ? undefined : { ...row, id };
  });
}

/** Is the project there? Without an id: the only one, where there is only one. Asked for each new volume. */
export async function findProjectId(sql: Sql, id: ProjectId | undefined): Promise<ProjectId | undefined> {
  const { rows } = await sql.query<{ id: ProjectId }>(
    'SELECT id FROM project WHERE $1::uuid IS NULL OR id = $1 LIMIT 2',
    [id ?? null],
  );
  return rows.length === 1 ? rows[0]?.id : undefined;
}

/** More than these fit in no message, and no recovery needs more. */
const OLDEST_PROJECTS_MAX = 1_000;

/** The organization's projects, the oldest first. */
export async function oldestProjects(sql: Sql): Promise<{ id: ProjectId; name: string }[]> {
  const { rows } = await sql.query<{ id: ProjectId; name: string }>(
    'SELECT id, name FROM project ORDER BY created_at, id LIMIT $1',
    [OLDEST_PROJECTS_MAX],
  );
  return rows;
}

export function createProject(
  sql: Sql,
  project: { id: ProjectId; organizationId: OrganizationId; name: string; createdAt: Date },
): Promise<void> {
  return withPlainRows(sql, async (rows) => {
    await rows.project.create({ data: project });
  });
}

/** Renames an object that was read at a version. */
type Renaming<Id> = { id: Id; name: string; fromVersion: number };

export function renameProject(sql: Sql, { id, name, fromVersion }: Renaming<ProjectId>): Promise<void> {
  return withPlainRows(sql, async ({ project }) => {
    const where = { id, version: fromVersion };
    requireOne(await project.updateMany({ where, data: { name, version: { increment: 1 } } }));
  });
}

/** Another request was faster: the caller decides again. */
function requireOne({ count }: { count: number }): void {
  if (count !== 1) throw conflict('another request has changed it meanwhile');
}

/** Returns false when it still holds volumes. Tokens whose volumes would go there end with it. */
export async function deleteProject(sql: Sql, id: ProjectId): Promise<boolean> {
  // Locked against volumes that are being created in it.
  const { rows } = await sql.query<{ is_used: boolean }>(
    'SELECT EXISTS (SELECT FROM volume v WHERE v.project_id = p.id) AS is_used FROM project p WHERE p.id = $1 FOR UPDATE',
    [id],
  );
  if (rows[0]?.is_used === true) return false;
  await withPlainRows(sql, ({ project }) => project.deleteMany({ where: { id } }));
  return true;
}

export function renameOrganization(
  sql: Sql,
  { id, name, fromVersion }: Renaming<OrganizationId>,
): Promise<void> {
  return withPlainRows(sql, async ({ organization }) => {
    const where = { id, version: fromVersion };
    requireOne(await organization.updateMany({ where, data: { name, version: { increment: 1 } } }));
  });
}

/** Makes an organization with its first owner. Needs the system scope: no user belongs to it yet. */
export function createOrganization(
  sql: Sql,
  { id, name, ownerId, createdAt }: { id: OrganizationId; name: string; ownerId: UserId; createdAt: Date },
): Promise<void> {
  return withPlainRows(sql, async ({ organization, membership }) => {
    await organization.create({ data: { id, name, createdAt } });
    await membership.create({ data: { organizationId: id, userId: ownerId, role: 'owner', createdAt } });
  });
}

/**
 * Changes a password that was checked. Returns false when it has changed by now, or was removed.
 *
 * The lock conflicts with those that new tokens take of their user: a token that is being made exists when this returns, or comes
 * after the commit, and its maker then sees that the password has changed.
 */
export async function setPasswordHash(
  sql: Sql,
  userId: UserId,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  await sql.query('SELECT FROM app_user WHERE id = $1 FOR UPDATE', [userId]);
  return withPlainRows(sql, async ({ user }) => {
    const where = { id: userId, passwordHash: from };
    return (await user.updateMany({ where, data: { passwordHash: to } })).count === 1;
  });
}
