import type { StorageDisk } from '../model/node.js';
import type { PlacementRequest } from './framework.js';

/**
 * Best-effort data locality: of the winning rung's disks, those on the volume's own node, where it has no live copy
 * yet. One that is leaving or not running still counts as a copy, so that locality never makes a second one.
 */
export function preferLocal(
  { localNodeId, replicas }: PlacementRequest,
  candidates: readonly StorageDisk[],
): readonly StorageDisk[] {
  if (localNodeId === undefined) return candidates;
  const hasLocalCopy = replicas.some(
    ({ nodeId, failedAt }) => nodeId === localNodeId && failedAt === undefined,
  );
  if (hasLocalCopy) return candidates;
  const local = candidates.filter(({ nodeId }) => nodeId === localNodeId);
  return local.length > 0 ? local : candidates;
}
