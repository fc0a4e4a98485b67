import type { UnresponsiveNode } from '@holdfast/control/ports/unresponsive-agents.js';
import { MISSED_AFTER_MS } from '@holdfast/core/policy/node-liveness.js';
import { type NodeRow, readNode } from '../rows/node-row.js';
import { NODE_READY, NODE_UNANSWERING } from '../rows/readiness-sql.js';
import type { Sql } from '../sql/scope.js';
import { LISTENING_BREAK } from './listening.js';
import { announceNode } from './wake-up-set.js';

/** As core's `isMissed` has it, of all clusters whose heartbeats can be heard now. */
export async function listMissedNodes(sql: Sql, limit: number): Promise<UnresponsiveNode[]> {
  const { rows } = await sql.query<NodeRow & { missed_at: Date }>(
    `SELECT n.*, now() AS missed_at
     FROM cluster_listening l JOIN node n ON n.cluster_id = l.cluster_id
     WHERE l.at >= now() - ${LISTENING_BREAK} AND n.last_heartbeat_at >= l.since
       AND n.last_heartbeat_at <= now() - $1 * interval '1 millisecond' AND ${NODE_READY}
     ORDER BY ${NODE_UNANSWERING}, n.last_heartbeat_at DESC, n.id LIMIT $2`,
    [MISSED_AFTER_MS, limit],
  );
  return rows.map((row) => ({ node: readNode(row), at: row.missed_at }));
}

/**
 * One statement, which waits for a heartbeat that is being stored and judges the row as that leaves it. The first note stays, so
 * that it says since when. The version stays too: no decision depends on it.
 */
export async function noteUnanswered(sql: Sql, { node, at }: UnresponsiveNode): Promise<void> {
  const { rowCount } = await sql.query(
    `UPDATE node n SET unanswered_at = $2
     WHERE n.id = $1 AND n.last_heartbeat_at <= $2::timestamptz - $3 * interval '1 millisecond' AND NOT ${NODE_UNANSWERING}`,
    [node.id, at, MISSED_AFTER_MS],
  );
  if (rowCount !== 0) await announceNode(sql, node.id);
}
