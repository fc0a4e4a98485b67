/**
 * Sign-ins of programs without a browser (RFC 8628): a program has a secret and shows a short code, which its user approves.
 * All of it needs the system scope: the program belongs to no organization yet. Secrets are kept as hashes.
 */

import type { OrganizationRole } from '@holdfast/access/permissions.js';
import type { OrganizationId, UserId } from '@holdfast/core/model/ids.js';
import { hashSecret } from '../credentials.js';
import type { Sql } from '../sql/scope.js';

export type NewDeviceLogin = {
  readonly secret: string;
  readonly userCode: string;
  /** Name and address of the program: shown to the user who approves. */
  readonly name: string;
  readonly address: string;
  readonly expiresAt: Date;
};

/** Open at once from one address: more than its users need, and few enough that a stranger fills no table. */
const OF_ADDRESS_MAX = 50;

/** Returns false when too many of the address are open. */
export async function createDeviceLogin(sql: Sql, login: NewDeviceLogin): Promise<boolean> {
  const open = await sql.query(
    'SELECT FROM device_login WHERE address = $1 AND expires_at > now() LIMIT $2',
    [login.address, OF_ADDRESS_MAX],
  );
  if (open.rowCount >= OF_ADDRESS_MAX) return false;
  await sql.query(
    'INSERT INTO device_login (secret_hash, user_code, name, address, expires_at) VALUES ($1, $2, $3, $4, $5)',
    [hashSecret(login.secret), login.userCode, login.name, login.address, login.expiresAt],
  );
  return true;
}

export type WaitingDeviceLogin = Pick<NewDeviceLogin, 'name' | 'address'>;

/** One that waits for its user; `undefined`: there is none of that code. */
export async function findDeviceLogin(
  sql: Sql,
  userCode: string,
  now: Date,
): Promise<WaitingDeviceLogin | undefined> {
  const { rows } = await sql.query<WaitingDeviceLogin>(
    'SELECT name, address FROM device_login WHERE user_code = $1 AND expires_at > $2 AND user_id IS NULL',
    [userCode, now],
  );
  return rows[0];
}

export type Approver = {
  readonly userId: UserId;
  readonly organizationId: OrganizationId;
  readonly role: OrganizationRole;
};

/** Returns the approval; `undefined`: it has ended, or another user was faster. */
export async function approveDeviceLogin(
  sql: Sql,
  userCode: string,
  { userId, organizationId, role }: Approver,
  now: Date,
): Promise<WaitingDeviceLogin | undefined> {
  const { rows } = await sql.query<WaitingDeviceLogin>(
    `UPDATE device_login SET user_id = $2, organization_id = $3, role = $4
     WHERE user_code = $1 AND expires_at > $5 AND user_id IS NULL RETURNING name, address`,
    [userCode, userId, organizationId, role, now],
  );
  return rows[0];
}

/** `waiting`: its user has not approved it yet. `undefined`: there is no such sign-in, or it is over. */
export async function takeDeviceLogin(
  sql: Sql,
  secret: string,
  now: Date,
): Promise<(Approver & { readonly name: string }) | 'waiting' | undefined> {
  const hash = hashSecret(secret);
  const { rows } = await sql.query<Approver & { name: string }>(
    `DELETE FROM device_login WHERE secret_hash = $1 AND expires_at > $2 AND user_id IS NOT NULL
     RETURNING user_id AS "userId", organization_id AS "organizationId", role, name`,
    [hash, now],
  );
  if (rows[0] !== undefined) return rows[0];
  const { rowCount } = await sql.query(
    'SELECT FROM device_login WHERE secret_hash = $1 AND expires_at > $2',
    [hash, now],
  );
  return rowCount === 1 ? 'waiting' : undefined;
}
