import type { ClusterId, OrganizationId, ProjectId, TokenId, UserId } from '@holdfast/core/model/ids.js';
import { hashSecret } from '../credentials.js';
import type { Pool } from '../sql/pool.js';
import { queryUnscoped, type Sql } from '../sql/scope.js';
import { type ListRequest, listRows } from './list-rows.js';
import type { MemberRole } from './tenancy.js';

export type TokenKind = 'session' | 'api';

/** The holder of a token, as `find_token` tells it. */
export type TokenHolder = {
  token_id: TokenId;
  kind: TokenKind;
  organization_id: OrganizationId;
  user_id: UserId | null;
  project_id: ProjectId | null;
  token_role: MemberRole;
  member_role: MemberRole | null;
  expires_at: Date | null;
} & TokenLimitsRow;

/** What a token may be used for beside its role, and from where; null: no such limit. */
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
  role: MemberRole;
};

export type TokenRow = {
  id: TokenId;
  kind: TokenKind;
  name: string;
  role: MemberRole;
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
  const rows = await queryUnscoped<TokenHolder>(pool, 'SELECT * FROM find_token($1)', [hashSecret(secret)]);
  return rows[0];
}

export async function findSignIn(pool: Pool, email: string): Promise<SignInCandidate | undefined> {
  const sql = 'SELECT * FROM find_sign_in($1) LIMIT 1';
  return (await queryUnscoped<SignInCandidate>(pool, sql, [email]))[0];
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
  role: MemberRole;
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

export async function createToken(sql: Sql, token: NewToken): Promise<void> {
  await sql.query(
    `INSERT INTO token (id, organization_id, kind, name, secret_hash, role, user_id, project_id,
       expires_at, created_at, parent_id, read_only, actions, cluster_ids, project_ids, address_ranges, made_from)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    [
      token.id,
      token.organizationId,
      token.kind,
      token.name,
      hashSecret(token.secret),
      token.role,
      token.userId ?? null,
      token.projectId ?? null,
      token.expiresAt ?? null,
      token.now,
      token.parentId ?? null,
      token.readOnly,
      token.actions ?? null,
      token.clusterIds ?? null,
      token.projectIds ?? null,
      token.addressRanges ?? null,
      token.madeFrom,
    ],
  );
}

/** Owner of the tokens: one user; `undefined`: all users of the organization. Of one kind, or of any. */
export type TokenOwner = { userId: UserId | undefined; kind?: TokenKind };

const FIELDS = {
  id: { sql: 't.id', type: 'id' },
  name: { sql: 't.name', type: 'text' },
  kind: { sql: 't.kind', type: 'text' },
  createdAt: { sql: 't.created_at', type: 'time' },
} as const;

const OWNED = '($1::uuid IS NULL OR t.user_id = $1)';
/** The owner's tokens of one kind. */
const OWNED_OF_KIND = `${OWNED} AND ($2::text IS NULL OR t.kind = $2)`;

export function listTokens(sql: Sql, owner: TokenOwner, request: ListRequest) {
  return listRows<TokenRow>(
    sql,
    {
      columns: 't.*',
      from: 'token t',
      key: FIELDS.id,
      fields: FIELDS,
      defaultSort: '-createdAt',
      where: { text: OWNED_OF_KIND, values: [owner.userId ?? null, owner.kind ?? null] },
    },
    request,
  );
}

export async function findTokenById(
  sql: Sql,
  owner: TokenOwner,
  tokenId: TokenId,
): Promise<TokenRow | undefined> {
  const { rows } = await sql.query<TokenRow>(`SELECT * FROM token t WHERE ${OWNED} AND t.id = $2`, [
    owner.userId ?? null,
    tokenId,
  ]);
  return rows[0];
}

/** Returns false when there is no such token. It stops working at once. */
export async function deleteToken(sql: Sql, owner: TokenOwner, tokenId: TokenId): Promise<boolean> {
  const { rowCount } = await sql.query(`DELETE FROM token t WHERE ${OWNED_OF_KIND} AND t.id = $3`, [
    owner.userId ?? null,
    owner.kind ?? null,
    tokenId,
  ]);
  return rowCount === 1;
}

/** Replaces the secret; the old one stops working at once. Returns false when there is no such token. */
export async function replaceTokenSecret(
  sql: Sql,
  owner: TokenOwner,
  tokenId: TokenId,
  secret: string,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `UPDATE token t SET secret_hash = $3 WHERE ${OWNED} AND t.id = $2 AND t.kind <> 'session'`,
    [owner.userId ?? null, tokenId, hashSecret(secret)],
  );
  return rowCount === 1;
}

/** Ends the user's sessions in all organizations but one: whoever knew the old password is out. */
export async function endOtherSessions(sql: Sql, userId: UserId, kept: TokenId): Promise<void> {
  await sql.query(`DELETE FROM token WHERE user_id = $1 AND kind = 'session' AND id <> $2`, [userId, kept]);
}

/** Of these tokens those that still let their holders in. */
export async function findLiveTokens(pool: Pool, tokenIds: readonly TokenId[]): Promise<Set<TokenId>> {
  const rows = await queryUnscoped<{ token_id: TokenId }>(pool, 'SELECT * FROM live_tokens($1)', [tokenIds]);
  return new Set(rows.map(({ token_id }) => token_id));
}
