/** Who the agents of nodes are: which key a node's certificates are for. */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ClusterId, type NodeId, type OrganizationId } from '@holdfast/core/model/ids.js';
import { decideJoin, type JoinFacts } from '@holdfast/core/policy/decide-join.js';
import { systemRandom } from '../clock-and-random.js';
import { mayStill } from '../queries/left-behind.js';
import { type Scope, type Sql, snapshot, transaction } from '../sql/scope.js';
import { insertEvent } from '../store/events.js';
import { loadVersionFloor } from '../version-floor.js';
import { type JoinToken, lockJoinToken, noteJoin } from './join-tokens.js';

export type NodeIdentity = {
  nodeId: NodeId;
  organizationId: OrganizationId;
  clusterId: ClusterId;
  name: string;
  keyHash: string;
  revokedAt: Date | undefined;
};

type IdentityRow = {
  node_id: NodeId;
  organization_id: OrganizationId;
  cluster_id: ClusterId;
  name: string;
  key_hash: string;
  revoked_at: Date | null;
};

export async function findIdentity(system: Scope, nodeId: NodeId): Promise<NodeIdentity | undefined> {
  const { rows } = await snapshot(system, (sql) =>
    sql.query<IdentityRow>('SELECT * FROM node_identity WHERE node_id = $1', [nodeId]),
  );
  return rows.map(readIdentity)[0];
}

/** Content of an agent's certificate request, once its signature is checked. */
export type JoinRequest = {
  name: string;
  keyHash: string;
  tokenSecret: string | undefined;
  /** Secret of the agent's control address: shows that it is the agent of a node that has no identity yet. */
  controlSecret: string | undefined;
  agentClock: Date;
  /** Version of the agents' protocol that it speaks; `undefined`: not stated. */
  protocol: number | undefined;
  now: Date;
  /** End of the certificate that it is to have. */
  notAfter: Date;
};

/**
 * Notes that the key is the node's from now on, or that its certificate is renewed. The same request again renews, so that an
 * answer that was lost costs nothing.
 *
 * @throws StorageFault with the reason why it may not have the name
 */
export function joinNode(
  system: Scope,
  request: JoinRequest,
): Promise<Pick<NodeIdentity, 'nodeId' | 'clusterId'>> {
  return transaction(system, async (sql) => {
    const { name, keyHash, tokenSecret, agentClock, protocol, now } = request;
    const token = tokenSecret === undefined ? undefined : await findUsableToken(sql, tokenSecret);
    const own = await lockIdentity(sql, 'key_hash = $1', [keyHash]);
    if (own !== undefined && own.name !== name) throw otherName(own.name);
    const clusterId = own?.cluster_id ?? token?.clusterId;
    const known = clusterId === undefined ? NOTHING : await findKnown(sql, clusterId, request);
    const oldestProtocol = (await loadVersionFloor(sql))?.agentProtocol;
    const { isBeingForgotten } = known;
    const caller = { name, now, agentClock, protocol, oldestProtocol, token };
    const facts = { ...caller, isBeingForgotten, known: known.facts };
    const decision = decideJoin(facts);
    if (decision.kind === 'refuse') {
      const { code, why, cures } = decision;
      throw new StorageFault(code, { publicMessage: why, cures });
    }
    if (clusterId === undefined) throw otherName(name);
    const nodeId = known.nodeId ?? asId<NodeId>(systemRandom.id());
    if (decision.kind === 'renew') await noteRenewal(sql, nodeId, request.notAfter);
    else await noteJoined(sql, { ...request, nodeId, clusterId }, token);
    return { nodeId, clusterId };
  });
}

/** A token, locked, and whether its maker may have made it still. */
async function findUsableToken(sql: Sql, secret: string) {
  const token = await lockJoinToken(sql, secret);
  if (token === undefined) return undefined;
  const { organizationId, madeBy } = token;
  return { ...token, isMakerEntitled: await mayStill(sql, 'join token', { organizationId, userId: madeBy }) };
}

/** @returns false when the node has no identity, or it is revoked already */
export async function revokeIdentity(
  sql: Sql,
  key: { clusterId: ClusterId; nodeId: NodeId; now: Date },
): Promise<boolean> {
  const { clusterId, nodeId, now } = key;
  const { rows } = await sql.query<{ name: string }>(
    `UPDATE node_identity SET revoked_at = $3 WHERE node_id = $1 AND cluster_id = $2 AND revoked_at IS NULL
     RETURNING name`,
    [nodeId, clusterId, now],
  );
  const [revoked] = rows;
  if (revoked === undefined) return false;
  await insertEvent(sql, {
    clusterId,
    type: 'NodeIdentityRevoked',
    subject: { kind: 'node', id: nodeId },
    volumeId: undefined,
    message: `the certificate of node ${revoked.name} is revoked: its agent is not heard before it joins again`,
    at: now,
  });
  return true;
}

type Known = { facts: JoinFacts['known']; nodeId: NodeId | undefined; isBeingForgotten: boolean };

const NOTHING: Known = { facts: { kind: 'nothing' }, nodeId: undefined, isBeingForgotten: false };

async function findKnown(sql: Sql, clusterId: ClusterId, request: JoinRequest): Promise<Known> {
  const { name, keyHash, controlSecret, now } = request;
  const { rows: nodes } = await sql.query<{ id: NodeId; control_secret: string | null; forgotten: boolean }>(
    'SELECT id, control_secret, forget IS NOT NULL AS forgotten FROM node WHERE cluster_id = $1 AND name = $2',
    [clusterId, name],
  );
  const [node] = nodes;
  const isBeingForgotten = node?.forgotten === true;
  const identity = await lockIdentity(sql, 'cluster_id = $1 AND name = $2', [clusterId, name]);
  if (identity !== undefined) {
    const isUnused = node === undefined && identity.certificate_not_after < now;
    const isSameKey = identity.key_hash === keyHash;
    const isRevoked = identity.revoked_at !== null;
    const facts = { kind: 'identity', isSameKey, isRevoked, isUnused } as const;
    return { facts, nodeId: identity.node_id, isBeingForgotten };
  }
  if (node === undefined) return NOTHING;
  const provesSecret = node.control_secret === null || node.control_secret === controlSecret;
  return { facts: { kind: 'node', provesSecret }, nodeId: node.id, isBeingForgotten };
}

type LockedIdentity = IdentityRow & { certificate_not_after: Date };

async function lockIdentity(
  sql: Sql,
  where: 'key_hash = $1' | 'cluster_id = $1 AND name = $2',
  values: readonly string[],
): Promise<LockedIdentity | undefined> {
  const { rows } = await sql.query<LockedIdentity>(
    `SELECT * FROM node_identity WHERE ${where} FOR UPDATE`,
    values,
  );
  return rows[0];
}

async function noteRenewal(sql: Sql, nodeId: NodeId, notAfter: Date): Promise<void> {
  await sql.query(
    'UPDATE node_identity SET certificate_not_after = greatest(certificate_not_after, $2) WHERE node_id = $1',
    [nodeId, notAfter],
  );
}

async function noteJoined(
  sql: Sql,
  joined: JoinRequest & { nodeId: NodeId; clusterId: ClusterId },
  token: JoinToken | undefined,
): Promise<void> {
  const { nodeId, clusterId, name, keyHash, now, notAfter } = joined;
  await sql.query(
    `INSERT INTO node_identity (node_id, organization_id, cluster_id, name, key_hash, joined_at, certificate_not_after)
     SELECT $1, organization_id, id, $3, $4, $5, $6 FROM cluster WHERE id = $2
     ON CONFLICT (node_id) DO UPDATE SET key_hash = excluded.key_hash, joined_at = excluded.joined_at,
       certificate_not_after = excluded.certificate_not_after, revoked_at = NULL`,
    [nodeId, clusterId, name, keyHash, now, notAfter],
  );
  if (token !== undefined) await noteJoin(sql, token.id);
  await insertEvent(sql, {
    clusterId,
    type: 'NodeJoined',
    subject: { kind: 'node', id: nodeId },
    volumeId: undefined,
    message: `an agent has joined as node ${name}${token === undefined ? '' : ` by the join token ${token.name}`}`,
    at: now,
  });
}

function otherName(name: string): StorageFault {
  return new StorageFault('node.identity_refused', {
    publicMessage: `the key is known as that of node ${name}`,
    cures: ['give the agent the name that it had, or a state folder of its own'],
  });
}

function readIdentity(row: IdentityRow): NodeIdentity {
  return {
    nodeId: row.node_id,
    organizationId: row.organization_id,
    clusterId: row.cluster_id,
    name: row.name,
    keyHash: row.key_hash,
    revokedAt: row.revoked_at ?? undefined,
  };
}
