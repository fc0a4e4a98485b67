/** Rows of nodes that are gone for good: what is revoked at once, and what is deleted in the end. */
import type { NodeId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';

/** From now on no request of the node's agent is believed. */
export async function revokeForgotten(sql: Sql, nodeId: NodeId): Promise<void> {
  await sql.query('UPDATE node_identity SET revoked_at = now() WHERE node_id = $1 AND revoked_at IS NULL', [
    nodeId,
  ]);
}

/** Observations and orphans of the node are deleted with its row. */
export async function removeNodeRows(sql: Sql, nodeId: NodeId): Promise<void> {
  await sql.query('DELETE FROM disk WHERE node_id = $1', [nodeId]);
  await sql.query('DELETE FROM node_identity WHERE node_id = $1', [nodeId]);
  await sql.query('DELETE FROM node WHERE id = $1', [nodeId]);
}
