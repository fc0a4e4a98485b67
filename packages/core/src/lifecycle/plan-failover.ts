/**
 * Planner of failovers: a volume whose engine's node has been dead for as long as its policy says is attached elsewhere.
 *
 * Off unless the cluster or the volume says otherwise: only its users know whether its clients find the new address. It is a
 * forced detach followed by an attach wherever a copy is, with what protects those: the next epoch fences the old engine on
 * every copy, and the old engine serves no read once its lease towards its copies has run out.
 */
import { conditionOf } from '../model/condition.js';
import { isNodeReady, type StorageNode } from '../model/node.js';
import { isHealthy } from '../model/replica.js';
import { isEnoughToStart } from '../model/robustness.js';
import type { VolumeView } from '../model/views.js';
import { isRestored } from '../model/volume.js';
import { isReachable, nodeById, volumeEvent } from '../model/volume-facts.js';
import { afterFailover, grantOf, isRepairing, type VolumeLifecycle } from '../model/volume-lifecycle.js';
import { effectiveValue } from '../policy/volume-settings.js';
import { attachNode } from './plan-attachment.js';
import type { Step } from './step.js';

type FailoverView = Pick<VolumeView, 'volume' | 'fleet'>;

export function planFailover(view: VolumeView, now: Date): Step | undefined {
  const at = failoverAt(view);
  if (at === undefined || at.getTime() > now.getTime() || !canStartElsewhere(view)) return undefined;
  const { volume, fleet } = view;
  const holder = nodeById(fleet, grantOf(volume)?.nodeId);
  const lifecycle: VolumeLifecycle = afterFailover(volume.lifecycle, now);
  const message = `volume ${volume.name} is attached elsewhere: node ${holder?.name ?? 'of its engine'} has not answered for ${delaySeconds(view)} s`;
  return {
    kind: 'commit',
    why: message,
    changes: [
      { kind: 'volume.patch', volumeId: volume.id, patch: { lifecycle, attention: undefined } },
      { kind: 'event', event: volumeEvent(view, now, { type: 'VolumeFailedOver', message }) },
    ],
  };
}

/** When it is due, as long as the node stays dead. */
export function failoverTimes(view: VolumeView): Date[] {
  const at = failoverAt(view);
  return at === undefined ? [] : [at];
}

/** `undefined`: the node of its engine is alive, or its policy leaves it to its users. */
export function failoverAt(view: FailoverView): Date | undefined {
  const { volume, fleet } = view;
  const { state } = volume.lifecycle;
  const delay = delaySeconds(view);
  if (delay <= 0 || (state !== 'attached' && state !== 'attaching') || isRepairing(volume)) return undefined;
  const deadSince = notReadySince(nodeById(fleet, grantOf(volume)?.nodeId));
  return deadSince === undefined ? undefined : new Date(deadSince.getTime() + delay * 1000);
}

function delaySeconds({ volume, fleet }: FailoverView): number {
  return effectiveValue(volume.spec, fleet.settings, 'failoverDelay');
}

function notReadySince(node: StorageNode | undefined): Date | undefined {
  if (node === undefined || isNodeReady(node)) return undefined;
  return conditionOf(node.conditions, 'Ready')?.lastTransitionAt;
}

/**
 * Would an attach on another node than the holder succeed? Half of the copies that the last record names have to answer, all of them
 * after a restore of the database, and a node has to be there that may serve the volume. With fewer the start would wait for a user, who
 * is better off with the old attachment: its node may come back.
 */
export function canStartElsewhere(view: FailoverView & Pick<VolumeView, 'replicas'>): boolean {
  const { volume, replicas, fleet } = view;
  const members = volume.record?.members ?? [];
  const reachable = replicas.filter(
    (replica) => members.includes(replica.id) && isHealthy(replica) && isReachable(replica, fleet),
  );
  const isEnough = isRestored(volume)
    ? reachable.length === members.length
    : isEnoughToStart(reachable.length, members.length);
  return isEnough && reachable.length > 0 && attachNode(withoutHolder(view)) !== undefined;
}

/** The volume as a forced detach and an attach on any node leave it, in a fleet in which the old holder is none to choose. */
function withoutHolder(view: FailoverView & Pick<VolumeView, 'replicas'>) {
  const { volume, replicas, fleet } = view;
  const holderId = grantOf(volume)?.nodeId;
  const nodes = holderId === undefined ? fleet.nodes : fleet.nodes.filter(({ id }) => id !== holderId);
  const request = { nodeId: undefined, requestedAt: volume.createdAt };
  const lifecycle: VolumeLifecycle = { state: 'attaching', request, grant: undefined };
  return { volume: { ...volume, lifecycle }, replicas, fleet: { ...fleet, nodes } };
}
