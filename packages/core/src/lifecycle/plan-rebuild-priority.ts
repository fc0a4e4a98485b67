/**
 * Priority of a rebuild: the full copies that its volume has now, fewest first in the queue. A volume that loses a further
 * copy while its rebuild waits, or runs and might be preempted, is nearer to losing data than it was.
 */
import { isHealthy } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { activeRebuild } from '../model/volume-facts.js';
import type { Step } from './step.js';

export function planRebuildPriority(view: VolumeView): Step | undefined {
  const rebuild = activeRebuild(view);
  const healthyCopies = view.replicas.filter(isHealthy).length;
  if (rebuild === undefined || rebuild.healthyCopies === healthyCopies) return undefined;
  const { id: rebuildId, state: ifState } = rebuild;
  return {
    kind: 'commit',
    why: 'another number of full copies is left',
    changes: [{ kind: 'rebuild.patch', rebuildId, ifState, patch: { healthyCopies } }],
  };
}
