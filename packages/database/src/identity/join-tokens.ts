import type { ClusterId, JoinTokenId, OrganizationId, UserId } from '@holdfast/core/model/ids.js';
import { hashSecret } from '../credentials.js';
import { type ListRequest, listRows, mapPage, type Page } from '../queries/list-rows.js';
import type { Sql } from '../sql/scope.js';

/** Permission of an agent to join a cluster. */
export type JoinToken = {
  id: JoinTokenId;
  clusterId: ClusterId;
  /** Name given by its maker. */
  name: string;
  /** The node that it lets join, or join again; `undefined`: nodes of new names. */
  nodeName: string | undefined;
  uses: number;
  usesMax: number;
  expiresAt: Date | undefined;
  createdAt: Date;
  organizationId: OrganizationId;
  /** `undefined`: the installation made it. */
  madeBy: UserId | undefined;
};

export type NewJoinToken = Omit<JoinToken, 'organizationId'> & { secret: string };

export type JoinTokenRow = {
  id: JoinTokenId;
  cluster_id: ClusterId;
  name: string;
  node_name: string | null;
  uses: number;
  uses_max: number;
  expires_at: Date | null;
  created_at: Date;
  organization_id: OrganizationId;
  made_by: UserId | null;
};

const FIELDS = {
  id: { sql: 'j.id', type: 'id' },
  name: { sql: 'j.name', type: 'text' },
  nodeName: { sql: `coalesce(j.node_name, '')`, type: 'text' },
  createdAt: { sql: 'j.created_at', type: 'time' },
} as const;

const COLUMNS = `j.id, j.cluster_id, j.name, j.node_name, j.uses, j.uses_max, j.expires_at, j.created_at, j.organization_id,
  j.made_by`;

export async function listJoinTokens(
  sql: Sql,
  clusterId: ClusterId,
  request: ListRequest,
): Promise<Page<JoinToken>> {
  const page = await listRows<JoinTokenRow>(
    sql,
    {
      columns: COLUMNS,
      from: 'join_token j',
      key: FIELDS.id,
      fields: FIELDS,
      defaultSort: '-createdAt',
      where: { text: 'j.cluster_id = $1', values: [clusterId] },
    },
    request,
  );
  return mapPage(page, readJoinToken);
}

/** @returns false when there is no such cluster */
export async function insertJoinToken(sql: Sql, token: NewJoinToken): Promise<boolean> {
  const { rowCount } = await sql.query(
    `INSERT INTO join_token (id, organization_id, cluster_id, name, node_name, secret_hash, uses, uses_max, expires_at, created_at,
       made_by)
     SELECT $2, organization_id, id, $3, $4, $5, $6, $7, $8, $9, $10 FROM cluster WHERE id = $1`,
    [
      token.clusterId,
      token.id,
      token.name,
      token.nodeName ?? null,
      hashSecret(token.secret),
      token.uses,
      token.usesMax,
      token.expiresAt ?? null,
      token.createdAt,
      token.madeBy ?? null,
    ],
  );
  return rowCount === 1;
}

/** @returns false when there is no such token. Nodes that joined with it stay. */
export async function deleteJoinToken(
  sql: Sql,
  key: { clusterId: ClusterId; joinTokenId: JoinTokenId },
): Promise<boolean> {
  const { rowCount } = await sql.query('DELETE FROM join_token WHERE id = $1 AND cluster_id = $2', [
    key.joinTokenId,
    key.clusterId,
  ]);
  return rowCount === 1;
}

/** Finds a token by its secret, locked, so that of two joins at once the second sees the use of the first. */
export async function lockJoinToken(sql: Sql, secret: string): Promise<JoinToken | undefined> {
  const { rows } = await sql.query<JoinTokenRow>(
    `SELECT ${COLUMNS} FROM join_token j WHERE j.secret_hash = $1 FOR UPDATE`,
    [hashSecret(secret)],
  );
  return rows.map(readJoinToken)[0];
}

export async function noteJoin(sql: Sql, joinTokenId: JoinTokenId): Promise<void> {
  await sql.query('UPDATE join_token SET uses = uses + 1 WHERE id = $1', [joinTokenId]);
}

function readJoinToken(row: JoinTokenRow): JoinToken {
  return {
    id: row.id,
    clusterId: row.cluster_id,
    name: row.name,
    nodeName: row.node_name ?? undefined,
    uses: row.uses,
    usesMax: row.uses_max,
    expiresAt: row.expires_at ?? undefined,
    createdAt: row.created_at,
    organizationId: row.organization_id,
    madeBy: row.made_by ?? undefined,
  };
}
