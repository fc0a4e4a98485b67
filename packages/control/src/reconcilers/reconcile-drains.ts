/**
 * Part of the cluster's reconciler that looks after nodes and disks that are being emptied: keeps the status of drains, and has
 * detached volumes moved, a few at a time.
 */
import { drainStatus, isDraining, isSameStatus } from '@holdfast/core/drain/drain-status.js';
import { detachedToAsk } from '@holdfast/core/lifecycle/detached-moves.js';
import { fleetLookup, isLeaving } from '@holdfast/core/lifecycle/node-volumes.js';
import { DETACHED_MOVES_MAX, planEvictionAttachment } from '@holdfast/core/lifecycle/plan-offline-rebuild.js';
import { isFault } from '@holdfast/core/model/faults.js';
import { disksByNode } from '@holdfast/core/model/fleet-lookup.js';
import type { ClusterId, VolumeId } from '@holdfast/core/model/ids.js';
import { isNodeEmptied, type StorageDisk, type StorageNode } from '@holdfast/core/model/node.js';
import { isEvictingPolicy } from '@holdfast/core/model/node-drain.js';
import { isFullOrFailed } from '@holdfast/core/model/volume-facts.js';
import { isRepairing } from '@holdfast/core/model/volume-lifecycle.js';
import { nodeChangeEvents } from '@holdfast/core/policy/node-events.js';
import type { Change, NodeVolumes } from '../ports/store.js';
import { commitVolume, type ReconcilerPorts } from './reconciler-ports.js';

export async function reconcileDrains(ports: ReconcilerPorts, clusterId: ClusterId): Promise<void> {
  const fleet = await ports.store.loadFleet(clusterId);
  const disksOf = disksByNode(fleet.disks);
  for (const node of fleet.nodes) {
    if (!isDraining(node) && !isEmptied(node, disksOf.get(node.id) ?? [])) continue;
    const view = await ports.store.loadNodeVolumes(clusterId, node.id);
    await moveDetached(ports, view, node);
    await recordStatus(ports, view, node);
  }
}

function isEmptied(node: StorageNode, disks: readonly StorageDisk[]): boolean {
  if (isNodeEmptied(node) || (node.drain !== undefined && isEvictingPolicy(node.drain.policy))) return true;
  return disks.some(({ evictionRequested }) => evictionRequested);
}

async function recordStatus(ports: ReconcilerPorts, view: NodeVolumes, { id }: StorageNode): Promise<void> {
  const node = view.fleet.nodes.find((one) => one.id === id);
  if (node === undefined || !isDraining(node)) return;
  const now = ports.clock.now();
  const status = drainStatus(node, view, now);
  if (isSameStatus(status, node.drainStatus)) return;
  const changes: Change[] = [
    { kind: 'node.patch', nodeId: id, patch: { drainStatus: status } },
    ...nodeChangeEvents(node, { ...node, drainStatus: status }, now).map(
      (event): Change => ({ kind: 'event', event }),
    ),
  ];
  await unlessChanged(() =>
    ports.store.commit({ kind: 'node', nodeId: id, ifVersion: node.version }, changes),
  );
}

/**
 * The plan of an attached volume moves its copies; detached ones are attached for it first, in batches. Failed copies count too: a
 * node that is gone for good is emptied as well.
 */
async function moveDetached(ports: ReconcilerPorts, view: NodeVolumes, node: StorageNode): Promise<void> {
  const lookup = fleetLookup(view.fleet);
  const leaving = view.volumes.filter((volume) =>
    volume.replicas.some(
      (replica) =>
        replica.nodeId === node.id && isFullOrFailed(replica) && isLeaving(replica, volume, lookup),
    ),
  );
  let free = DETACHED_MOVES_MAX - leaving.filter(({ volume }) => isRepairing(volume)).length;
  const detached = leaving.filter(({ volume }) => volume.lifecycle.state === 'detached');
  for (const { volume } of detachedToAsk(detached, view.fleet, ports.clock.now())) {
    if (free <= 0) return;
    if (await beginMove(ports, volume.id)) free -= 1;
  }
}

async function beginMove(ports: ReconcilerPorts, volumeId: VolumeId): Promise<boolean> {
  const view = await ports.store.loadVolume(volumeId);
  if (view === undefined) return false;
  const step = planEvictionAttachment(view, ports.clock.now());
  if (step?.kind !== 'commit') return false;
  return unlessChanged(() => commitVolume(ports, view, step.changes, { looksAgain: false }));
}

/** Another commit came first: the next run looks again. */
async function unlessChanged(commit: () => Promise<unknown>): Promise<boolean> {
  try {
    await commit();
    return true;
  } catch (error) {
    if (!isFault(error, 'store.conflict')) throw error;
    return false;
  }
}
