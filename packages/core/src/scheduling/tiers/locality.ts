import type { NodeId } from '../../model/ids.js';
import type { StorageDisk } from '../../model/node.js';
import type { PlacementRequest } from '../framework/placement-request.js';

/**
 * Best-effort data locality: of the winning tier's disks, those on the volume's own node, where it has no live copy
 * yet. One that is leaving or not running still counts as a copy, so that locality never makes a second one.
 */
export function preferLocal(
  request: PlacementRequest,
  candidates: readonly StorageDisk[],
): readonly StorageDisk[] {
  const nodeId = preferredNodeId(request);
  if (nodeId === undefined) return candidates;
  const local = candidates.filter((disk) => disk.nodeId === nodeId);
  return local.length > 0 ? local : candidates;
}

/** The node that goes first where it can, or `undefined` where none does. */
export function preferredNodeId({ localNodeId, replicas }: PlacementRequest): NodeId | undefined {
  if (localNodeId === undefined) return undefined;
  const hasLocalCopy = replicas.some(
    ({ nodeId, failedAt }) => nodeId === localNodeId && failedAt === undefined,
  );
  return hasLocalCopy ? undefined : localNodeId;
}
