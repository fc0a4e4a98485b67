import type { ReplicaAddress } from '@holdfast/core/model/agent-protocol.js';
import { Bug, StorageFault } from '@holdfast/core/model/faults.js';
import type { RebuildId, ReplicaId, SnapshotId } from '@holdfast/core/model/ids.js';
import type { StorageNode } from '@holdfast/core/model/node.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { Snapshot } from '@holdfast/core/model/snapshot.js';
import type { VolumeView } from '../ports/store.js';

/** A step names objects of the view it was planned from; anything else is a broken plan. */
export function replicaOf({ replicas }: VolumeView, replicaId: ReplicaId): Replica {
  const replica = replicas.find(({ id }) => id === replicaId);
  if (replica === undefined)
    throw new Bug(`the plan names replica ${replicaId}, which the volume does not have`);
  return replica;
}

export function rebuildOf({ rebuilds }: VolumeView, rebuildId: RebuildId): Rebuild {
  const rebuild = rebuilds.find(({ id }) => id === rebuildId);
  if (rebuild === undefined)
    throw new Bug(`the plan names rebuild ${rebuildId}, which the volume does not have`);
  return rebuild;
}

export function snapshotOf({ snapshots }: VolumeView, snapshotId: SnapshotId): Snapshot {
  const snapshot = snapshots.find(({ id }) => id === snapshotId);
  if (snapshot === undefined)
    throw new Bug(`the plan names snapshot ${snapshotId}, which the volume does not have`);
  return snapshot;
}

export function nodeOf({ fleet }: VolumeView, replica: Replica): StorageNode {
  const node = fleet.nodes.find(({ id }) => id === replica.nodeId);
  if (node === undefined) throw new Bug(`replica ${replica.id} is on a node that the cluster does not have`);
  return node;
}

/**
 * Where an engine reaches a replica, and with which secret.
 *
 * @param secretOf makes the secret of the replica's key, for that engine
 * @throws StorageFault `agent.unreachable` when its agent never registered
 */
export function addressOf(
  view: VolumeView,
  replica: Replica,
  secretOf: (key: string) => string,
): ReplicaAddress {
  const node = nodeOf(view, replica);
  const { controlUrl, nbdHost, nbdPort } = node;
  if (controlUrl === undefined || nbdHost === undefined || nbdPort === undefined) {
    throw new StorageFault('agent.unreachable', { publicMessage: `node ${node.name} has no agent` });
  }
  const secret = secretOf(replica.secret);
  return { replicaId: replica.id, nodeId: node.id, controlUrl, nbdHost, nbdPort, secret };
}
