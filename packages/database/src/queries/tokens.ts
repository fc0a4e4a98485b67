import type { OrganizationRole } from '@holdfast/access/permissions.js';
import type { ClusterId, OrganizationId, ProjectId, TokenId, UserId } from '@holdfast/core/model/ids.js';
import { hashSecret } from '../credentials.js';
import { withPlainRows } from '../plain/plain-rows.js';
import type { Pool } from '../sql/pool.js';
import { queryUnscoped, type Sql } from '../sql/scope.js';
import { type ListRequest, listRows } from './list-rows.js';

export type TokenKind = 'session' | 'api';

/** Inputs of a token's roles. */
export type TokenRoles = {
  token_role: OrganizationRole;
  member_role: OrganizationRole | null;
  /** Roles by project, where the one in the organization does not allow everything anyhow. */
  project_roles: Record<string, string>;
};

/** The holder of a token, as `find_token` returns it. */
export type TokenHolder = {
  token_id: TokenId;
  /** Of the secret that it was found by: another one, once the token is rotated. */
  secret_hash: string;
  kind: TokenKind;
  organization_id: OrganizationId;
  user_id: UserId | null;
  project_id: ProjectId | null;
  expires_at: Date | null;
} & TokenRoles &
  TokenLimitsRow;

/** Limits of a token beside its role: uses and networks; null: none. */
export type TokenLimitsRow = {
  read_only: boolean;
  actions: string[] | null;
  cluster_ids: ClusterId[] | null;
  project_ids: ProjectId[] | null;
  address_ranges: string[] | null;
};

export type SignInCandidate = {
  user_id: UserId;
  password_hash: string | null;
  organization_id: OrganizationId;
  role: OrganizationRole;
};

export type TokenRow = {
  id: TokenId;
  kind: TokenKind;
  name: string;
  role: OrganizationRole;
  user_id: UserId | null;
  project_id: ProjectId | null;
  expires_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
  parent_id: TokenId | null;
  made_from: string;
} & TokenLimitsRow;

/** One of the two questions that may be asked without an organization. Asked for every request. */
export async function findToken(pool: Pool, secret: string): Promise<TokenHolder | undefined> {
  const sql = `SELECT t.*, $1 AS secret_hash, CASE WHEN t.user_id IS NULL OR t.member_role IN ('owner', 'admin') THEN '{}'
       ELSE project_roles_of(t.user_id, t.organization_id) END AS project_roles
     FROM find_token($1) t`;
  return (await queryUnscoped<TokenHolder>(pool, sql, [hashSecret(secret)]))[0];
}

/** If left out, the user's oldest organization. */
export async function findSignIn(
  pool: Pool,
  wanted: { email: string; organizationId: OrganizationId | undefined },
): Promise<SignInCandidate | undefined> {
  const sql = 'SELECT * FROM find_sign_in($1) WHERE $2::uuid IS NULL OR organization_id = $2 LIMIT 1';
  const values = [wanted.email, wanted.organizationId ?? null];
  return (await queryUnscoped<SignInCandidate>(pool, sql, values))[0];
}

/** Has the account still the password that was checked? For the transaction of a session, once that has locked its user. */
export async function hasPassword(
  sql: Sql,
  { email, userId, hash }: { email: string; userId: UserId; hash: string },
): Promise<boolean> {
  const found = 'SELECT FROM find_sign_in($1) WHERE user_id = $2 AND password_hash = $3 LIMIT 1';
  return (await sql.query(found, [email, userId, hash])).rowCount === 1;
}

/** Is the token still there? Until the end of the transaction it stays. */
export async function holdToken(sql: Sql, tokenId: TokenId): Promise<boolean> {
  return (await sql.query('SELECT FROM token WHERE id = $1 FOR KEY SHARE', [tokenId])).rowCount === 1;
}

export async function noteTokenUse(sql: Sql, tokenId: TokenId, now: Date): Promise<void> {
  await sql.query('UPDATE token SET last_used_at = greatest(last_used_at, $2) WHERE id = $1', [tokenId, now]);
}

export type NewToken = {
  id: TokenId;
  organizationId: OrganizationId;
  kind: TokenKind;
  name: string;
  secret: string;
  role: OrganizationRole;
  userId: UserId | undefined;
  projectId: ProjectId | undefined;
  expiresAt: Date | undefined;
  /** The token that it is made with, and ends with. */
  parentId: TokenId | undefined;
  readOnly: boolean;
  actions: readonly string[] | undefined;
  clusterIds: readonly ClusterId[] | undefined;
  projectIds: readonly ProjectId[] | undefined;
  addressRanges: readonly string[] | undefined;
  madeFrom: string;
  now: Date;
};

/** The limits of a token that has none. */
export const NO_LIMITS = {
  parentId: undefined,
  readOnly: false,
  actions: undefined,
  clusterIds: undefined,
  projectIds: undefined,
  addressRanges: undefined,
  madeFrom: '',
} as const satisfies Partial<NewToken>;

export function createToken(sql: Sql, { secret, now, ...given }: NewToken): Promise<void> {
  const { actions, clusterIds, projectIds, addressRanges, ...token } = given;
  const lists = { actions, clusterIds, projectIds, addressRanges };
  // A list that is left out stays null, which is no limit; an empty one would allow nothing.
  const limits = Object.fromEntries(
    Object.entries(lists).flatMap(([name, list]) => (list === undefined ? [] : [[name, [...list]]])),
  );
  const { userId = null, projectId = null, expiresAt = null, parentId = null } = token;
  return withPlainRows(sql, async (rows) => {
    const nullable = { userId, projectId, expiresAt, parentId };
    const data = { ...token, ...nullable, ...limits, secretHash: hashSecret(secret), createdAt: now };
    await rows.token.create({ data });
  });
}

/** Owner of the tokens: one user; `undefined`: all users of the organization. Of one kind, or of any. */
export type TokenOwner = {
  userId: UserId | undefined;
  kind?: TokenKind;
  /** Of these only the token itself, those that were made with it, and so on; left out: all. */
  madeWith?: TokenId;
};

const FIELDS = {
  id: { sql: 't.id', type: 'id' },
  name: { sql: 't.name', type: 'text' },
  kind: { sql: 't.kind', type: 'text' },
  userId: { sql: `coalesce(t.user_id, '00000000-0000-0000-0000-000000000000')`, type: 'id' },
  createdAt: { sql: 't.created_at', type: 'time' },
} as const;

/** The owner's tokens, by the values of `ownedValues`. */
const OWNED = `($1::uuid IS NULL OR t.user_id = $1) AND ($2::text IS NULL OR t.kind = $2)
  AND ($3::uuid IS NULL OR t.id IN (
    WITH RECURSIVE made AS (
      SELECT $3::uuid AS id UNION SELECT child.id FROM token child JOIN made m ON child.parent_id = m.id
    ) SELECT id FROM made))`;

function ownedValues({ userId, kind, madeWith }: TokenOwner): unknown[] {
  return [userId ?? null, kind ?? null, madeWith ?? null];
}

export function listTokens(sql: Sql, owner: TokenOwner, request: ListRequest) {
  return listRows<TokenRow>(
    sql,
    {
      columns: 't.*',
      from: 'token t',
      key: FIELDS.id,
      fields: FIELDS,
      defaultSort: '-createdAt',
      where: { text: OWNED, values: ownedValues(owner) },
    },
    request,
  );
}

export async function findTokenById(
  sql: Sql,
  owner: TokenOwner,
  tokenId: TokenId,
): Promise<TokenRow | undefined> {
  const { rows } = await sql.query<TokenRow>(`SELECT * FROM token t WHERE ${OWNED} AND t.id = $4`, [
    ...ownedValues(owner),
    tokenId,
  ]);
  return rows[0];
}

/** True if the token was made with the other one, directly or through others. */
export async function isMadeWith(sql: Sql, tokenId: TokenId, ancestorId: TokenId): Promise<boolean> {
  const { rowCount } = await sql.query(
    `WITH RECURSIVE ancestor AS (
       SELECT parent_id AS id FROM token WHERE id = $1
       UNION SELECT t.parent_id FROM token t JOIN ancestor a ON t.id = a.id
     ) SELECT FROM ancestor WHERE id = $2`,
    [tokenId, ancestorId],
  );
  return rowCount > 0;
}

/** Returns false when there is no such token. It stops working at once. */
export async function deleteToken(sql: Sql, owner: TokenOwner, tokenId: TokenId): Promise<boolean> {
  // Its row does not name the token with which its parent was made.
  if (owner.madeWith !== undefined && (await findTokenById(sql, owner, tokenId)) === undefined) return false;
  return withPlainRows(sql, async ({ token }) => {
    const { count } = await token.deleteMany({ where: { ...owned(owner), id: tokenId } });
    return count === 1;
  });
}

/** Replaces the secret; the old one stops working at once. Returns false when there is no such token. */
export function replaceTokenSecret(
  sql: Sql,
  owner: TokenOwner,
  tokenId: TokenId,
  secret: string,
): Promise<boolean> {
  return withPlainRows(sql, async ({ token }) => {
    const where = { ...owned(owner), id: tokenId, NOT: { kind: 'session' } };
    const { count } = await token.updateMany({ where, data: { secretHash: hashSecret(secret) } });
    return count === 1;
  });
}

function owned({ userId, kind }: TokenOwner) {
  return { ...(userId === undefined ? {} : { userId }), ...(kind === undefined ? {} : { kind }) };
}

/** Ends the user's sessions in all organizations but one: a holder of the old password is signed out. */
export function endOtherSessions(sql: Sql, userId: UserId, kept: TokenId): Promise<void> {
  return withPlainRows(sql, async ({ token }) => {
    await token.deleteMany({ where: { userId, kind: 'session', NOT: { id: kept } } });
  });
}

/** Gives a session another secret; the old one stops working at once. */
export function replaceSessionSecret(sql: Sql, id: TokenId, secret: string): Promise<void> {
  return withPlainRows(sql, async ({ token }) => {
    await token.updateMany({ where: { id, kind: 'session' }, data: { secretHash: hashSecret(secret) } });
  });
}

/** Of the secrets with these hashes those that still let their holders in, with the roles that they have now. */
export async function findLiveRoles(
  pool: Pool,
  secretHashes: readonly string[],
): Promise<Map<string, TokenRoles>> {
  const sql = 'SELECT * FROM live_secrets($1)';
  const rows = await queryUnscoped<{ secret_hash: string } & TokenRoles>(pool, sql, [secretHashes]);
  return new Map(rows.map(({ secret_hash, ...roles }) => [secret_hash, roles]));
}
