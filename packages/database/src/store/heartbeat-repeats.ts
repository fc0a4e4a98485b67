/**
 * Stores heartbeats of many nodes that say nothing new, in one transaction and four statements at most
 * (docs/adr/0344-repeated-reports.md).
 *
 * Rows that another transaction holds are left out and not waited for: one node's lock must not delay the liveness of the others.
 * Such a node has to send its whole report, which waits for that lock alone.
 */
import type { HeartbeatRepeat } from '@holdfast/core/model/agent-protocol.js';
import type { DiskStamp } from '@holdfast/core/model/disk-stamp.js';
import type { DiskId, NodeId } from '@holdfast/core/model/ids.js';
import { isEnough, judgeRepeatedStamp, type RepeatClaim } from '@holdfast/core/policy/repeated-reports.js';
import { type DiskRow, readDisk } from '../rows/disk-row.js';
import { type NodeRow, readNode } from '../rows/node-row.js';
import { type Scope, type Sql, transaction, unsyncedTransaction } from '../sql/scope.js';
import { asJson } from '../sql/table.js';

export type RepeatedHeartbeat = RepeatClaim & {
  readonly stamps: HeartbeatRepeat['stamps'];
  /** Milliseconds since it was received, now. It is stored as of then, so that a wait for others prolongs no node's life. */
  readonly ageMs: () => number;
};

/** Stamps that are stored, of a node whose claim was enough. */
export type StoredRepeat = { readonly stamps: { diskId: DiskId; stampId: string | null }[] };

type Row = NodeRow & {
  report_id: string | null;
  key_hash: string;
  revoked: boolean;
  agent_protocol: number | null;
  oldest_protocol: number | null;
  unanswered_at: Date | null;
  stale: boolean;
};

/** Nodes that are not in the answer have to send their whole reports. */
export function recordRepeats(
  system: Scope,
  repeats: readonly RepeatedHeartbeat[],
): Promise<Map<NodeId, StoredRepeat>> {
  // A time that is lost with Postgres' machine is that of a silence that counts for nothing; a stamp that was confirmed must stay.
  const run = repeats.some(({ stamps }) => stamps.length > 0) ? transaction : unsyncedTransaction;
  return run(system, async (sql) => {
    const byNode = new Map(repeats.map((repeat) => [repeat.nodeId, repeat]));
    const { rows } = await lockNodes(sql, [...byNode.keys()]);
    const enough = rows.flatMap((row) => {
      const repeat = byNode.get(row.id);
      return repeat !== undefined && isEnough(readKnown(row), repeat) ? [repeat] : [];
    });
    const stored = await storeStamps(sql, enough);
    await storeTimes(
      sql,
      enough.filter(({ nodeId }) => stored.has(nodeId)),
    );
    return stored;
  });
}

function lockNodes(sql: Sql, nodeIds: readonly NodeId[]) {
  return sql.query<Row>(
    `SELECT n.*, i.key_hash, i.revoked_at IS NOT NULL AS revoked,
       (SELECT agent_protocol FROM version_floor) AS oldest_protocol,
       EXISTS (SELECT FROM stale_report s WHERE s.node_id = n.id) AS stale
     FROM node n JOIN node_identity i ON i.node_id = n.id AND i.cluster_id = n.cluster_id AND i.name = n.name
     WHERE n.id = ANY($1) ORDER BY n.id FOR NO KEY UPDATE OF n SKIP LOCKED`,
    [nodeIds],
  );
}

function readKnown(row: Row): Parameters<typeof isEnough>[0] {
  return {
    ...readNode(row),
    reportId: row.report_id ?? undefined,
    keyHash: row.key_hash,
    isRevoked: row.revoked,
    isForgotten: row.forget !== null,
    protocol: row.agent_protocol ?? undefined,
    oldestProtocol: row.oldest_protocol ?? undefined,
    unansweredAt: row.unanswered_at ?? undefined,
    isStale: row.stale,
  };
}

/** @returns the nodes of which no disk has to be judged with its whole report */
async function storeStamps(
  sql: Sql,
  repeats: readonly RepeatedHeartbeat[],
): Promise<Map<NodeId, StoredRepeat>> {
  const asked = repeats.flatMap(({ stamps }) => stamps.map(({ diskId }) => diskId));
  if (asked.length === 0) return new Map(repeats.map(({ nodeId }) => [nodeId, { stamps: [] }]));
  const { rows } = await sql.query<DiskRow & { now: Date }>(
    'SELECT *, now() AS now FROM disk WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED',
    [asked],
  );
  const disks = new Map<string, DiskRow & { now: Date }>(rows.map((row) => [row.id, row]));
  const advanced: { id: DiskId; stamp: DiskStamp }[] = [];
  const stored = new Map<NodeId, StoredRepeat>();
  for (const { nodeId, bootId, stamps } of repeats) {
    const confirmed: StoredRepeat['stamps'] = [];
    const isJudged = stamps.every(({ diskId, stamp }) => {
      const row = disks.get(diskId);
      // Held by another transaction, or gone. The agent says it again, and a row that is gone makes the report stale.
      if (row === undefined) return true;
      const verdict = judgeRepeatedStamp(readDisk(row), stamp, { nodeId, bootId, now: row.now });
      if (verdict?.kind === 'advanced') advanced.push({ id: row.id, stamp: verdict.stamp });
      if (verdict !== undefined) confirmed.push({ diskId, stampId: stamp.id });
      return verdict !== undefined;
    });
    if (isJudged) stored.set(nodeId, { stamps: confirmed });
  }
  if (advanced.length > 0) {
    await sql.query(
      `UPDATE disk d SET stamp = x.stamp FROM jsonb_to_recordset($1::jsonb) AS x(id uuid, stamp jsonb) WHERE d.id = x.id`,
      [asJson(advanced)],
    );
  }
  return stored;
}

/** Times go by Postgres' clock, as those of whole reports do (docs/adr/0142-liveness-by-one-clock.md). */
async function storeTimes(sql: Sql, repeats: readonly RepeatedHeartbeat[]): Promise<void> {
  if (repeats.length === 0) return;
  await sql.query(
    `UPDATE node n SET last_heartbeat_at = CASE WHEN n.last_heartbeat_at > now() THEN x.at ELSE greatest(n.last_heartbeat_at, x.at) END
     FROM (SELECT id, now() - age_ms * interval '1 millisecond' AS at FROM unnest($1::uuid[], $2::double precision[]) AS r(id, age_ms)) x
     WHERE n.id = x.id`,
    [repeats.map(({ nodeId }) => nodeId), repeats.map(({ ageMs }) => ageMs())],
  );
}
