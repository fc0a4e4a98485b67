/**
 * Planner of forgotten nodes: gives up a volume's copies and engine on nodes that a user has declared gone for good.
 *
 * An engine there is given up as by a forced detach: the next epoch fences it on every other copy. Copies there fail at once and are
 * not waited for. An attached volume builds others by the usual rules. A detached one keeps the row of the failed copy until its
 * cluster has attached it for a replacement, or until no replacement is possible. A copy whose loss the user has not accepted is
 * kept.
 */
import type { Change, ReplicaPatch } from '../model/changes.js';
import type { StorageNode } from '../model/node.js';
import { isFailed, isHealthy, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { isReachable, nodeById, volumeEvent } from '../model/volume-facts.js';
import { afterForgetting, isDeleting, isRepairing } from '../model/volume-lifecycle.js';
import { fillOf } from '../model/volume-task.js';
import { lossOf } from '../policy/decide-forget.js';
import { withLostCopies } from './lost-places.js';
import { attachObstacle } from './plan-attachment.js';
import { isStalledSince } from './plan-offline-rebuild.js';
import { canReplenish } from './plan-replenishment.js';
import { isPausingRebuilds } from './rebuild-pause.js';
import type { Step } from './step.js';

const NODE_FORGOTTEN = 'NodeForgotten';

export function planForgottenNode(view: VolumeView, now: Date): Step | undefined {
  if (isDeleting(view.volume)) return undefined;
  return planRelease(view, now) ?? planGivingUp(view, now);
}

function planRelease(view: VolumeView, now: Date): Step | undefined {
  const { volume, fleet } = view;
  const lifecycle = afterForgetting(volume.lifecycle, (id) => nodeById(fleet, id)?.forget !== undefined);
  if (lifecycle === volume.lifecycle) return undefined;
  const message = `volume ${volume.name} leaves the node that served it, or was to serve it: the node is gone for good`;
  const patch = { lifecycle, attention: undefined };
  return {
    kind: 'commit',
    why: message,
    changes: [
      { kind: 'volume.patch', volumeId: volume.id, patch },
      { kind: 'event', event: volumeEvent(view, now, { type: 'VolumeNodeForgotten', message }) },
    ],
  };
}

function planGivingUp(view: VolumeView, now: Date): Step | undefined {
  for (const replica of view.replicas) {
    const node = nodeById(view.fleet, replica.nodeId);
    if (node?.forget === undefined || replica.intent === 'remove') continue;
    const patch = patchFor(view, replica, { ...node, forget: node.forget }, now);
    if (patch !== undefined) return commit(view, replica, node, patch, now);
  }
  return undefined;
}

type ForgottenNode = StorageNode & { forget: NonNullable<StorageNode['forget']> };

/** @returns `undefined`: the copy stays as it is for now */
function patchFor(
  view: VolumeView,
  replica: Replica,
  node: ForgottenNode,
  now: Date,
): ReplicaPatch | undefined {
  const isAccepted = node.forget.acceptedLosses.includes(view.volume.id);
  const isLoss = lossOf(node.id, view, view.fleet) !== undefined;
  if (isLoss && !isAccepted) return undefined;
  // An engine elsewhere may still reach the copy: it drops it, and its record then says so.
  if (replica.mode === 'RW' || replica.mode === 'WO') return { intent: 'remove' };
  const message = `node ${node.name} is gone for good`;
  const failed: ReplicaPatch = isFailed(replica)
    ? {}
    : { failedAt: now, lastFailedAt: now, failure: { reason: NODE_FORGOTTEN, message } };
  const waits = !isLoss && isHeldForReplacement(view, replica, node, now);
  const patch: ReplicaPatch = waits ? failed : { ...failed, intent: 'remove' };
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/**
 * True if the failed copy of a detached volume keeps its row, so that the cluster attaches the volume for a replacement. Not if that
 * is impossible: one failed attempt is enough. The next attach then builds the missing copy.
 */
function isHeldForReplacement(
  view: VolumeView,
  replica: Replica,
  { forget }: ForgottenNode,
  now: Date,
): boolean {
  const { volume, replicas, fleet, rebuilds } = view;
  if (isRepairing(volume)) return true;
  if (volume.lifecycle.state !== 'detached') return false;
  const hasSource = replicas.some((other) => isHealthy(other) && isReachable(other, fleet));
  const isHindered = volume.rebuildHold !== undefined || fillOf(volume) !== undefined;
  if (!hasSource || isHindered || attachObstacle(view) !== undefined) return false;
  if (isStalledSince(volume, forget.requestedAt)) return false;
  const failed = replicas.map((other) => (other.id === replica.id ? { ...other, failedAt: now } : other));
  const isWaiting = volume.verification?.state === 'running' || isPausingRebuilds(rebuilds, now);
  return isWaiting || canReplenish(withLostCopies({ ...view, replicas: failed }, now), now);
}

function commit(
  view: VolumeView,
  replica: Replica,
  { name }: StorageNode,
  patch: ReplicaPatch,
  now: Date,
): Step {
  const message = `the replica on ${name} is given up: the node is gone for good`;
  const changes: Change[] = [{ kind: 'replica.patch', replicaId: replica.id, patch }];
  if (patch.failedAt !== undefined) {
    const subject = { kind: 'replica' as const, id: replica.id };
    const event = volumeEvent(view, now, { type: 'ReplicaFailed', message, subject });
    changes.push({ kind: 'event', event });
  }
  return { kind: 'commit', why: message, changes };
}
