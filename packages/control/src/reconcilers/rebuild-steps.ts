import { purgesBeforeRebuild } from '@holdfast/core/lifecycle/plan-layer-work.js';
import { onlyRelocates } from '@holdfast/core/lifecycle/plan-rebuild-priority.js';
import { sourceNodes } from '@holdfast/core/lifecycle/rebuild-sources.js';
import type { StepOf } from '@holdfast/core/lifecycle/step.js';
import { asId } from '@holdfast/core/model/ids.js';
import { newRebuild, type Rebuild } from '@holdfast/core/model/rebuild.js';
import { isHealthy, type Replica } from '@holdfast/core/model/replica.js';
import { nodeName, volumeEvent } from '@holdfast/core/model/volume-facts.js';
import { holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import { settingsOf } from '@holdfast/core/settings/engine-maps.js';
import type { Change, VolumeView } from '../ports/store.js';
import { agentOf, commitVolume, type ReconcilerPorts, type StepOutcome } from './reconciler-ports.js';
import { addressOf, nodeOf, rebuildOf, replicaOf } from './step-lookup.js';

/** Queues a rebuild, and in the same commit takes a failed replica back that is to be its target. */
export async function queueRebuild(
  ports: ReconcilerPorts,
  view: VolumeView,
  { replicaId, sourceReplicaIds, reuse }: StepOf<'queue-rebuild'>,
): Promise<StepOutcome> {
  const target = replicaOf(view, replicaId);
  const sources = sourceReplicaIds.map((id) => replicaOf(view, id));
  const rebuild = queuedRebuild(ports, view, target, sources);
  const what = reuse ? 'the failed replica is reused' : 'a new replica is filled';
  const event = volumeEvent(view, rebuild.queuedAt, {
    type: 'RebuildQueued',
    message: `a rebuild on ${nodeName(view.fleet, target.nodeId)} waits to run: ${what}`,
    subject: { kind: 'rebuild', id: rebuild.id },
  });
  const reused: Change[] = reuse ? [takenBack(target)] : [];
  await commitVolume(ports, view, [...reused, { kind: 'rebuild.create', rebuild }, { kind: 'event', event }]);
  return 'continue';
}

/** Its content is old: it counts as empty until its rebuild has ended, and is never read before. */
function takenBack({ id }: Replica): Change {
  const patch = { failedAt: undefined, healthyAt: undefined, mode: undefined, failure: undefined };
  return { kind: 'replica.patch', replicaId: id, patch };
}

function queuedRebuild(
  ports: ReconcilerPorts,
  view: VolumeView,
  target: Replica,
  sources: readonly Replica[],
): Rebuild {
  const { volume, replicas, rebuilds } = view;
  const earlier = rebuilds.filter(({ targetReplicaId }) => targetReplicaId === target.id);
  return newRebuild({
    id: asId(ports.random.id()),
    clusterId: volume.clusterId,
    volumeId: volume.id,
    targetReplicaId: target.id,
    targetNodeId: nodeOf(view, target).id,
    sourceReplicaIds: sources.map(({ id }) => id),
    sourceNodeIds: sourceNodes(sources),
    healthyCopies: replicas.filter(isHealthy).length,
    sizeBytes: volume.spec.sizeBytes,
    relocates: onlyRelocates(view),
    attempts: earlier.length + 1,
    queuedAt: ports.clock.now(),
  });
}

/** Tells the engine to run an admitted rebuild. */
export async function startRebuild(
  ports: ReconcilerPorts,
  view: VolumeView,
  { rebuildId }: StepOf<'start-rebuild'>,
): Promise<StepOutcome> {
  const { volume, fleet } = view;
  const rebuild = rebuildOf(view, rebuildId);
  const settings = settingsOf(fleet.settings, volume.spec.dataEngine);
  const holderId = holderOf(volume);
  if (holderId === undefined) return 'pause';
  const engine = { epoch: volume.epoch, nodeId: holderId };
  const secretOf = (key: string) => ports.copySecrets.forEngine(key, engine);
  await ports.agents.command(await agentOf(ports, holderId), volume.id, 'start-rebuild', {
    rebuildId,
    epoch: volume.epoch,
    target: addressOf(view, replicaOf(view, rebuild.targetReplicaId), secretOf),
    sourceReplicaIds: [...rebuild.sourceReplicaIds],
    options: {
      purgesFirst: rebuild.purgesFirst && purgesBeforeRebuild(view),
      fastRebuild: settings['fast-replica-rebuild-enabled'],
      blockHash: settings['rebuild-block-hash'],
      sourcesMax: Math.max(1, rebuild.sourceReplicaIds.length),
      bandwidthBytesPerSecond: rebuild.grantedBytesPerSecond ?? null,
    },
  });
  return 'pause';
}

export async function tuneRebuild(
  ports: ReconcilerPorts,
  view: VolumeView,
  { rebuildId, tuning }: StepOf<'tune-rebuild'>,
): Promise<StepOutcome> {
  const { volume } = view;
  const holderId = holderOf(volume);
  if (holderId === undefined) return 'pause';
  await ports.agents.command(await agentOf(ports, holderId), volume.id, 'tune-rebuild', {
    rebuildId,
    epoch: volume.epoch,
    paused: tuning.paused,
    bandwidthBytesPerSecond: tuning.bandwidthBytesPerSecond ?? null,
  });
  await commitVolume(ports, view, [
    { kind: 'rebuild.patch', rebuildId, ifState: 'running', patch: { tuned: tuning } },
  ]);
  return 'continue';
}

export async function cancelEngineRebuild(
  ports: ReconcilerPorts,
  { volume }: VolumeView,
  { rebuildId }: StepOf<'cancel-rebuild'>,
): Promise<StepOutcome> {
  const holderId = holderOf(volume);
  if (holderId === undefined) return 'pause';
  const agent = await agentOf(ports, holderId);
  await ports.agents.command(agent, volume.id, 'cancel-rebuild', { epoch: volume.epoch, rebuildId });
  return 'pause';
}
