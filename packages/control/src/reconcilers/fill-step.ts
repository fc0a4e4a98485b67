import { fillBegun, fillRefused } from '@holdfast/core/lifecycle/conclude-fill.js';
import type { ReplicaAddress } from '@holdfast/core/model/agent-protocol.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { NodeId } from '@holdfast/core/model/ids.js';
import { isHealthy } from '@holdfast/core/model/replica.js';
import { isOnReadyNode } from '@holdfast/core/model/volume-facts.js';
import type { VolumeFill } from '@holdfast/core/model/volume-fill.js';
import { holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import { fillOf } from '@holdfast/core/model/volume-task.js';
import type { VolumeView } from '../ports/store.js';
import { agentOf, commitVolume, type ReconcilerPorts, type StepOutcome } from './reconciler-ports.js';
import { addressOf } from './step-lookup.js';

/**
 * Requests the engine of a new volume to copy its source, and records which attachment was requested. The same filling requested
 * twice is one. An obstacle is recorded with the volume, and the request is repeated after a pause, behind all volumes that wait for
 * admission now.
 */
export async function fillVolume(ports: ReconcilerPorts, view: VolumeView): Promise<StepOutcome> {
  const { volume } = view;
  const { epoch } = volume;
  const fill = fillOf(volume);
  const holderId = holderOf(volume);
  if (fill === undefined || holderId === undefined) return 'pause';
  try {
    const sources = await sourcesOf(ports, fill, holderId);
    const { snapshotId } = fill;
    const agent = await agentOf(ports, holderId);
    await ports.agents.command(agent, volume.id, 'fill', {
      epoch,
      fillId: volume.id,
      snapshotId,
      sources,
    });
  } catch (error) {
    if (!isFault(error) || error.code.startsWith('store.')) throw error;
    await commitVolume(ports, view, fillRefused(view, fill, error, ports.clock.now()));
    return 'continue';
  }
  await commitVolume(ports, view, fillBegun(view, fill));
  return 'continue';
}

/** The full copies of the source that can be reached, whether it is attached or not: its snapshots do not change. */
async function sourcesOf(
  { store, copySecrets }: ReconcilerPorts,
  fill: VolumeFill,
  nodeId: NodeId,
): Promise<ReplicaAddress[]> {
  const source = await store.loadVolume(fill.sourceVolumeId);
  const snapshot = source?.snapshots.find(({ id }) => id === fill.snapshotId);
  if (source === undefined || snapshot?.state !== 'ready') {
    throw new StorageFault('snapshot.not_found', { publicMessage: 'the snapshot it is cloned from is gone' });
  }
  const copies = source.replicas.filter(
    (replica) => replica.provisioned && isHealthy(replica) && isOnReadyNode(replica, source.fleet),
  );
  if (copies.length === 0) {
    throw new StorageFault('engine.no_replica', {
      publicMessage: `no full copy of volume ${source.volume.name} can be reached`,
    });
  }
  const reader = { snapshotId: fill.snapshotId, nodeId };
  const secretOf = (key: string) => copySecrets.forSnapshot(key, reader);
  return copies.map((replica) => addressOf(source, replica, secretOf));
}
