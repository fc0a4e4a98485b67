/**
 * Planner of lost copies: a copy that its node has not found on its disk for a while is failed and given up, so that another one is
 * built. An engine notices the loss of a copy of its own; without an engine only the agents' reports show it.
 *
 * Copies that an engine uses are left to it: an open file outlives its folder, and the engine knows whether it still serves.
 */
import type { Change } from '../model/changes.js';
import { conditionOf } from '../model/condition.js';
import { isNodeReady } from '../model/node.js';
import { isFailed, REBUILD_RETRIES_MAX, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { activeRebuild, diskById, nodeById, nodeName, volumeEvent } from '../model/volume-facts.js';
import { isDeleting } from '../model/volume-lifecycle.js';
import type { Step } from './step.js';

/** Many heartbeats: a report may be older than the copy, and one odd report gives up nothing. */
const UNREPORTED_MS = 30_000;
const COPY_LOST = 'CopyLost';

export function planLostCopies(view: VolumeView, now: Date): Step | undefined {
  if (isDeleting(view.volume)) return undefined;
  const lost = view.replicas.find((replica) => isLost(replica, view, now));
  if (lost === undefined) return undefined;
  const disk = diskById(view.fleet, lost.diskId)?.name ?? 'its disk';
  const message = `node ${nodeName(view.fleet, lost.nodeId)} does not find it on ${disk}, or can not read it`;
  const patch = {
    failedAt: now,
    lastFailedAt: now,
    failure: { reason: COPY_LOST, message },
    // There is nothing left that a rebuild could bring up to date.
    rebuildRetryCount: REBUILD_RETRIES_MAX,
  };
  const changes: Change[] = [{ kind: 'replica.patch', replicaId: lost.id, patch }];
  const subject = { kind: 'replica' as const, id: lost.id };
  const told = `the replica on ${nodeName(view.fleet, lost.nodeId)} failed: ${message}`;
  changes.push({
    kind: 'event',
    event: volumeEvent(view, now, { type: 'ReplicaFailed', message: told, subject }),
  });
  return { kind: 'commit', why: message, changes };
}

/** When each copy that is not reported counts as lost. */
export function lostCopyTimes(view: VolumeView): Date[] {
  return view.replicas.flatMap((replica) =>
    replica.unreportedSince !== undefined && isJudged(replica, view) ? [lostAt(replica.unreportedSince)] : [],
  );
}

function isLost(replica: Replica, view: VolumeView, now: Date): boolean {
  const { unreportedSince } = replica;
  if (unreportedSince === undefined || lostAt(unreportedSince) > now || !isJudged(replica, view))
    return false;
  // The node was heard since then, and has not reported the copy.
  const heardAt = nodeById(view.fleet, replica.nodeId)?.lastHeartbeatAt;
  return heardAt !== undefined && heardAt > unreportedSince;
}

function lostAt(unreportedSince: Date): Date {
  return new Date(unreportedSince.getTime() + UNREPORTED_MS);
}

/** A disk that is gone, or whose node is silent, proves nothing. A copy that has failed already is tried and given up by its rebuilds. */
function isJudged(replica: Replica, view: VolumeView): boolean {
  const isUsed = replica.mode === 'RW' || replica.mode === 'WO';
  const isTarget = activeRebuild(view)?.targetReplicaId === replica.id;
  if (!replica.provisioned || replica.intent !== 'keep' || isUsed || isTarget) return false;
  if (isFailed(replica)) return false;
  const node = nodeById(view.fleet, replica.nodeId);
  const disk = diskById(view.fleet, replica.diskId);
  if (node === undefined || disk === undefined || !isNodeReady(node)) return false;
  return conditionOf(disk.conditions, 'Ready')?.status === 'True';
}
