import {
  provisioningFailed,
  replicaAdded,
  replicaDropped,
  replicaProvisioned,
} from '@holdfast/core/lifecycle/conclude-replica.js';
import { removalReason } from '@holdfast/core/lifecycle/plan-removal.js';
import type { StepOf } from '@holdfast/core/lifecycle/step.js';
import { describeVolume } from '@holdfast/core/model/copy-description.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type NodeId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { nodeName, volumeEvent } from '@holdfast/core/model/volume-facts.js';
import { holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import type { VolumeView } from '../ports/store.js';
import { agentOf, commitVolume, type ReconcilerPorts, type StepOutcome } from './reconciler-ports.js';
import { replicaOf } from './step-lookup.js';

/**
 * Makes a replica's directory. The first copies of a volume that was never written are equal, so each starts with a record of itself,
 * and Postgres records the set: its record is the higher one and decides at the first attach.
 *
 * An agent's failure is recorded on the replica, so that the volume continues with its other copies meanwhile.
 */
export async function provisionReplica(
  ports: ReconcilerPorts,
  view: VolumeView,
  { replicaId, nodeId, firstCopy }: StepOf<'provision'>,
): Promise<StepOutcome> {
  const replica = replicaOf(view, replicaId);
  if (replica.diskId === undefined) return 'pause';
  const now = ports.clock.now();
  try {
    await ports.agents.createReplica(await agentOf(ports, nodeId), {
      replicaId,
      volumeId: view.volume.id,
      diskId: replica.diskId,
      sizeBytes: replica.sizeBytes,
      secret: replica.secret,
      record: firstCopy ? { epoch: 0, dataGeneration: 0, members: [replicaId] } : null,
      volume: describeVolume(view.volume),
    });
  } catch (error) {
    if (!isFault(error)) throw error;
    await commitVolume(ports, view, provisioningFailed(replicaId, error.message, now));
    return 'continue';
  }
  await commitVolume(ports, view, replicaProvisioned(view, replicaId, firstCopy, now));
  return 'continue';
}

export async function addReplica(
  ports: ReconcilerPorts,
  view: VolumeView,
  step: StepOf<'add-replica'>,
): Promise<StepOutcome> {
  const secret = ports.random.secret();
  const made = { id: asId<ReplicaId>(ports.random.id()), secret };
  await commitVolume(ports, view, [
    ...(step.changes ?? []),
    ...replicaAdded(view, step, made, ports.clock.now()),
  ]);
  return 'continue';
}

/** Takes a replica out of the engine. */
export async function dropReplica(
  ports: ReconcilerPorts,
  view: VolumeView,
  { replicaId, reason }: StepOf<'drop-replica'>,
): Promise<StepOutcome> {
  const { volume } = view;
  const holderId = holderOf(volume);
  if (holderId === undefined) return 'pause';
  const engineAgent = await agentOf(ports, holderId);
  await ports.agents.command(engineAgent, volume.id, 'drop-replica', {
    epoch: volume.epoch,
    replicaId,
    reason,
  });
  await commitVolume(ports, view, replicaDropped(replicaId, reason, ports.clock.now()));
  return 'continue';
}

/**
 * Deletes the copy that the plan was made for, and nothing newer: this process may have stood still since, and the copy been rebuilt.
 * The agent returns the copy's state, then the volume must have the planned version, and the agent deletes the copy only in that
 * state.
 *
 * @throws StorageFault `store.conflict` when the volume has changed, `agent.refused` when the copy has
 */
async function deleteAsPlanned(
  ports: ReconcilerPorts,
  { volume }: VolumeView,
  { replicaId, nodeId }: { replicaId: ReplicaId; nodeId: NodeId },
): Promise<void> {
  const agent = await agentOf(ports, nodeId);
  const found = await ports.agents.describeReplica(agent, replicaId);
  const now = await ports.store.loadVolume(volume.id);
  if (now?.volume.version !== volume.version) {
    throw new StorageFault('store.conflict', {
      publicMessage: 'the volume has changed since this was planned',
    });
  }
  await ports.agents.deleteReplica(agent, replicaId, { expected: found, because: removalReason(now.volume) });
}

export async function removeReplica(
  ports: ReconcilerPorts,
  view: VolumeView,
  { replicaId, nodeId }: StepOf<'remove-replica'>,
): Promise<StepOutcome> {
  const replica = replicaOf(view, replicaId);
  // An agent that failed to make the directory may still have begun it, so an unrecorded one is deleted too.
  if (nodeId !== undefined) await deleteAsPlanned(ports, view, { replicaId, nodeId });
  const where = nodeName(view.fleet, replica.nodeId);
  const orphan =
    nodeId === undefined && replica.provisioned ? '; its directory stays there as an orphan' : '';
  const event = volumeEvent(view, ports.clock.now(), {
    type: 'ReplicaRemoved',
    message: `the replica on ${where} was removed${orphan}`,
    subject: { kind: 'replica', id: replicaId },
  });
  await commitVolume(ports, view, [
    { kind: 'replica.delete', replicaId },
    { kind: 'event', event },
  ]);
  return 'continue';
}
