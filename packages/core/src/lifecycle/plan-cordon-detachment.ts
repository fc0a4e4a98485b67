import { isNodeReady } from '../model/node.js';
import type { VolumeView } from '../model/views.js';
import { nodeById, volumeEvent } from '../model/volume-facts.js';
import { afterRelease, holderOf, isRepairing } from '../model/volume-lifecycle.js';
import { fillOf } from '../model/volume-task.js';
import type { Step } from './step.js';

/**
 * Planner of detachments from cordoned nodes, for `detach-manually-attached-volumes-when-cordoned`: an engine there would block the
 * node's drain. The worker's own attachments end soon anyway.
 */
export function planCordonDetachment({ volume, fleet, ...view }: VolumeView, now: Date): Step | undefined {
  const { lifecycle } = volume;
  if (!fleet.settings['detach-manually-attached-volumes-when-cordoned']) return undefined;
  if (lifecycle.state !== 'attached' && lifecycle.state !== 'attaching') return undefined;
  if (isRepairing(volume) || fillOf(volume) !== undefined) return undefined;
  const node = nodeById(fleet, holderOf(volume));
  if (node === undefined || !node.cordoned || !isNodeReady(node)) return undefined;

  const message = `volume ${volume.name} is detached from node ${node.name}, which is cordoned`;
  const event = { type: 'VolumeDetachedFromCordonedNode', message } as const;
  return {
    kind: 'commit',
    why: message,
    changes: [
      {
        kind: 'volume.patch',
        volumeId: volume.id,
        patch: { lifecycle: afterRelease(lifecycle, false), attention: undefined },
      },
      { kind: 'event', event: volumeEvent({ ...view, volume, fleet }, now, event) },
    ],
  };
}
