/** Service accounts: members of one organization without a password, for programs; they own tokens. */

import type { OrganizationRole } from '@holdfast/access/permissions.js';
import type { OrganizationId, UserId } from '@holdfast/core/model/ids.js';
import { withPlainRows } from '../plain/plain-rows.js';
import { conflict } from '../sql/errors.js';
import type { Sql } from '../sql/scope.js';
import { type Ended, endLeftBehind } from './left-behind.js';
import { type ListRequest, listRows, type Page } from './list-rows.js';

export type ServiceAccountRow = {
  id: UserId;
  name: string;
  role: OrganizationRole;
  /** Null: its tokens work. */
  disabledAt: Date | null;
  /** How many it has. */
  tokens: number;
  /** When one of them was last used; null: never. */
  lastUsedAt: Date | null;
  version: number;
  createdAt: Date;
};

const FIELDS = {
  id: { sql: 'u.id', type: 'id' },
  name: { sql: 'u.name', type: 'text' },
  role: { sql: 'm.role', type: 'text' },
  disabled: { sql: '(m.disabled_at IS NOT NULL)', type: 'boolean' },
  createdAt: { sql: 'u.created_at', type: 'time' },
} as const;

const SOURCE = {
  columns: `u.id, u.name, m.role, m.disabled_at AS "disabledAt", m.version, u.created_at AS "createdAt",
    (SELECT count(*)::int FROM token t WHERE t.user_id = u.id) AS tokens,
    (SELECT max(t.last_used_at) FROM token t WHERE t.user_id = u.id) AS "lastUsedAt"`,
  from: 'app_user u JOIN membership m ON m.user_id = u.id AND m.organization_id = u.service_of',
  key: FIELDS.id,
  fields: FIELDS,
  defaultSort: 'name',
};

export function listServiceAccounts(sql: Sql, request: ListRequest): Promise<Page<ServiceAccountRow>> {
  const where = { text: 'u.service_of = (SELECT current_organization_id())', values: [] };
  return listRows<ServiceAccountRow>(sql, { ...SOURCE, where }, request);
}

export async function findServiceAccount(sql: Sql, id: UserId): Promise<ServiceAccountRow | undefined> {
  const where = { text: 'u.service_of = (SELECT current_organization_id()) AND u.id = $1', values: [id] };
  const { items } = await listRows<ServiceAccountRow>(sql, { ...SOURCE, where }, { limit: 1 });
  return items[0];
}

export function countServiceAccounts(sql: Sql, organizationId: OrganizationId): Promise<number> {
  return withPlainRows(sql, ({ user }) => user.count({ where: { serviceOf: organizationId } }));
}

export type NewServiceAccount = {
  id: UserId;
  organizationId: OrganizationId;
  name: string;
  role: OrganizationRole;
  createdAt: Date;
};

export function createServiceAccount(
  sql: Sql,
  { id, organizationId, name, role, createdAt }: NewServiceAccount,
): Promise<void> {
  return withPlainRows(sql, async ({ user, membership }) => {
    // An address is what members are known by. This one can belong to no mailbox: the domain is reserved for that (RFC 2606).
    const email = `${id}@service-account.invalid`;
    await user.create({ data: { id, email, name, serviceOf: organizationId, createdAt } });
    await membership.create({ data: { organizationId, userId: id, role, createdAt } });
  });
}

export type ServiceAccountChange = {
  name?: string | undefined;
  role?: OrganizationRole | undefined;
  /** Null: enabled again. */
  disabledAt?: Date | null | undefined;
};

/** Another role, or none while it is disabled, ends what it has made and may no longer make. */
export async function changeServiceAccount(
  sql: Sql,
  {
    id,
    version,
    organizationId,
  }: Pick<ServiceAccountRow, 'id' | 'version'> & { organizationId: OrganizationId },
  { name, role, disabledAt }: ServiceAccountChange,
): Promise<Ended[]> {
  await withPlainRows(sql, async ({ user, membership }) => {
    if (name !== undefined) await user.updateMany({ where: { id }, data: { name } });
    const changes = {
      ...(role === undefined ? {} : { role }),
      ...(disabledAt === undefined ? {} : { disabledAt }),
    };
    const { count } = await membership.updateMany({
      where: { userId: id, version },
      data: { ...changes, version: { increment: 1 } },
    });
    if (count !== 1) throw conflict('another request has changed it meanwhile');
  });
  return endLeftBehind(sql, { organizationId, userId: id });
}
