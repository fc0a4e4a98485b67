/**
 * Priority of a waiting rebuild: the full copies that its volume has now, fewest first in the queue. A volume that loses a
 * further copy while its rebuild waits is nearer to losing data than when it was queued.
 */
import { isHealthy } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { activeRebuild } from '../model/volume-facts.js';
import type { Step } from './step.js';

export function planRebuildPriority(view: VolumeView): Step | undefined {
  const rebuild = activeRebuild(view);
  const healthyCopies = view.replicas.filter(isHealthy).length;
  if (rebuild?.state !== 'queued' || rebuild.healthyCopies === healthyCopies) return undefined;
  return {
    kind: 'commit',
    why: 'another number of full copies is left',
    changes: [{ kind: 'rebuild.patch', rebuildId: rebuild.id, ifState: 'queued', patch: { healthyCopies } }],
  };
}
