/**
 * Priority of a rebuild: the full copies that its volume has now, fewest first in the queue. A volume that loses a further
 * copy while its rebuild waits, or runs and might be preempted, is nearer to losing data than it was; then a copy that was
 * only to replace another one becomes a missing one.
 */
import { isHealthy } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { activeRebuild } from '../model/volume-facts.js';
import type { Step } from './step.js';

export function planRebuildPriority(view: VolumeView): Step | undefined {
  const rebuild = activeRebuild(view);
  if (rebuild === undefined) return undefined;
  const healthyCopies = view.replicas.filter(isHealthy).length;
  const relocates = onlyRelocates(view);
  if (rebuild.healthyCopies === healthyCopies && rebuild.relocates === relocates) return undefined;
  const { id: rebuildId, state: ifState } = rebuild;
  return {
    kind: 'commit',
    why: 'another number of full copies is left',
    changes: [{ kind: 'rebuild.patch', rebuildId, ifState, patch: { healthyCopies, relocates } }],
  };
}

/**
 * Does a rebuild only make a replacement, of a volume that has all the copies that it wants? One that is to leave still counts:
 * it stays until it is replaced, so the volume is no nearer to losing data than before.
 */
export function onlyRelocates({ volume, replicas }: Pick<VolumeView, 'volume' | 'replicas'>): boolean {
  const full = replicas.filter((replica) => isHealthy(replica) && replica.intent !== 'remove');
  return full.length >= volume.spec.numberOfReplicas;
}
