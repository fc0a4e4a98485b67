import type { NodeId } from '@holdfast/core/model/ids.js';
import { isNodeReady } from '@holdfast/core/model/node.js';
import { observationKey, type Transaction } from './tables.js';

/** Deletes a node that is gone for good, with its disks and orphans, by the rules of Postgres. */
export function deleteNode(
  transaction: Transaction,
  nodeId: NodeId,
): 'deleted' | 'gone' | 'holds-replicas' | 'ready' {
  const { nodes, disks, orphans, observations, replicas, volumes } = transaction.tables;
  const node = nodes.get(nodeId);
  if (node === undefined) return 'gone';
  if (replicas.by('node', nodeId).length + volumes.by('holder', nodeId).length > 0) return 'holds-replicas';
  if (isNodeReady(node)) return 'ready';
  for (const { id } of disks.by('node', nodeId)) transaction.remove(disks, id);
  for (const { id } of orphans.by('node', nodeId)) transaction.remove(orphans, id);
  for (const { volumeId } of observations.by('node', nodeId))
    transaction.remove(observations, observationKey(volumeId, nodeId));
  transaction.remove(nodes, nodeId);
  return 'deleted';
}
