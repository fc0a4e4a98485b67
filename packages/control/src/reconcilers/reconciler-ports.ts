import { StorageFault } from '@holdfast/core/model/faults.js';
import type { NodeId } from '@holdfast/core/model/ids.js';
import type { AgentClient, AgentTarget } from '../ports/agent-client.js';
import type { Clock, Random } from '../ports/clock.js';
import type { CopySecrets } from '../ports/copy-secrets.js';
import type { Queue } from '../ports/queue.js';
import type { Change, Store, VolumeView } from '../ports/store.js';

export type ReconcilerPorts = {
  store: Store;
  agents: AgentClient;
  queue: Queue;
  clock: Clock;
  random: Random;
  copySecrets: CopySecrets;
  /** Start time of this process: of earlier events it knows only what the store has. */
  startedAt: Date;
};

/** Outcome of a step. `pause`: its effect shows only in a later report, so planning again now would repeat it. */
export type StepOutcome = 'continue' | 'pause';

/** @throws StorageFault `agent.unreachable` when the node has not registered an agent */
export async function agentOf({ store }: ReconcilerPorts, nodeId: NodeId): Promise<AgentTarget> {
  const agent = await store.agentOf(nodeId);
  if (agent === undefined) {
    throw new StorageFault('agent.unreachable', { publicMessage: `node ${nodeId} has no agent` });
  }
  return agent;
}

/**
 * Commits changes of one volume under the version that was planned from: of two reconcilers with the same view, one
 * loses and plans again.
 *
 * A rebuild or background task that starts or ends makes room for another, so the cluster is woken. The outbox would do
 * it too; this is only sooner.
 */
export async function commitVolume(
  { store, queue }: ReconcilerPorts,
  { volume }: VolumeView,
  changes: readonly Change[],
  { looksAgain = true }: { looksAgain?: boolean } = {},
): Promise<void> {
  const guard = { kind: 'volume' as const, volumeId: volume.id, ifVersion: volume.version, looksAgain };
  await store.commit(guard, changes);
  const concernsAdmission = changes.some(isOfAdmission);
  if (concernsAdmission) await queue.wake({ kind: 'cluster', clusterId: volume.clusterId });
}

function isOfAdmission(change: Change): boolean {
  switch (change.kind) {
    case 'rebuild.create':
      return true;
    case 'rebuild.patch':
      return change.patch.state !== undefined;
    case 'volume.patch':
      return Object.hasOwn(change.patch, 'hashing') || Object.hasOwn(change.patch, 'task');
    case 'snapshot.patch':
      return (
        change.patch.hashRequest?.automatic === true && change.patch.hashRequest.startedEpoch === undefined
      );
    default:
      return false;
  }
}
