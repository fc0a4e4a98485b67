/**
 * Copies of a detached volume whose places are gone: their nodes do not answer, or their disks are missing. No engine notices it, so
 * each is waited for like a failed copy of an attached volume, and counts as lost afterwards.
 */
import { isHealthy, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { isEvicting, nodeById, placeLostSince } from '../model/volume-facts.js';
import { returnFacts, windowOfReturn } from '../scheduling/framework/occupancy.js';

type CopiesView = Pick<VolumeView, 'replicas' | 'fleet'>;

/**
 * When the wait ends for a full copy of a detached volume whose node does not answer or whose disk is missing; else the past. A
 * maintenance window of its node counts as for a failed copy: not if the volume is down to its last copy. It counts from its
 * beginning: whether a node that is to go down has done so is known seconds later.
 */
export function awayUntil(replica: Replica, { replicas, fleet }: CopiesView): Date {
  const isGoneForGood = nodeById(fleet, replica.nodeId)?.forget !== undefined;
  if (!isHealthy(replica) || isGoneForGood) return new Date(0);
  const since = placeLostSince(replica, fleet);
  const facts = returnFacts(replicas, fleet);
  if (since === undefined) {
    const window = isEvicting(replica, fleet, replicas) ? undefined : windowOfReturn(replica, facts);
    return window?.until ?? new Date(0);
  }
  const usualMs = since.getTime() + facts.waitSeconds * 1000;
  return new Date(Math.max(usualMs, windowOfReturn(replica, facts)?.until.getTime() ?? 0));
}

/** The view with copies as failed whose places have been gone for so long that they are not waited for any more. */
export function withLostCopies<View extends CopiesView>(view: View, now: Date): View {
  const replicas = view.replicas.map((replica) => {
    const failedAt = isHealthy(replica) ? placeLostSince(replica, view.fleet) : undefined;
    return failedAt === undefined || awayUntil(replica, view) > now ? replica : { ...replica, failedAt };
  });
  return { ...view, replicas };
}

/** When the copies of a detached volume whose places are gone are not waited for any more. */
export function awaitedTimes(view: Pick<VolumeView, 'volume' | 'replicas' | 'fleet'>): Date[] {
  if (view.volume.lifecycle.state !== 'detached') return [];
  return view.replicas.map((replica) => awayUntil(replica, view)).filter((until) => until.getTime() > 0);
}
