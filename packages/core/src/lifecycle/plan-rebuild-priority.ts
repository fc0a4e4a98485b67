/**
 * Priority of a rebuild: the full copies that its volume has now, fewest first in the queue. A volume that loses a further
 * copy while its rebuild waits, or runs and might be preempted, is nearer to losing data than it was; then a copy that was
 * only to replace another one becomes a missing one.
 */
import type { ReplicaId } from '../model/ids.js';
import { isHealthy } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { activeRebuild, lastingCopies } from '../model/volume-facts.js';
import type { Step } from './step.js';

export function planRebuildPriority(view: VolumeView): Step | undefined {
  const rebuild = activeRebuild(view);
  if (rebuild === undefined) return undefined;
  const healthyCopies = view.replicas.filter(isHealthy).length;
  const relocates = onlyRelocates(view, rebuild.targetReplicaId);
  if (rebuild.healthyCopies === healthyCopies && rebuild.relocates === relocates) return undefined;
  const { id: rebuildId, state: ifState } = rebuild;
  return {
    kind: 'commit',
    why: 'another number of full copies is left',
    changes: [{ kind: 'rebuild.patch', rebuildId, ifState, patch: { healthyCopies, relocates } }],
  };
}

/** Does the rebuild make a copy that only replaces one, of a volume that has all the copies that it wants? */
export function onlyRelocates(
  view: Pick<VolumeView, 'volume' | 'replicas' | 'fleet'>,
  targetId: ReplicaId,
): boolean {
  const target = view.replicas.find(({ id }) => id === targetId);
  return target?.relocation !== undefined && lastingCopies(view).length >= view.volume.spec.numberOfReplicas;
}
