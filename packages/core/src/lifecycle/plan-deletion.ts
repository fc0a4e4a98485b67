import type { VolumeView } from '../model/views.js';
import { isOnReadyNode, volumeEvent } from '../model/volume-facts.js';
import { holderOf, isDeleting } from '../model/volume-lifecycle.js';
import type { Step } from './step.js';

/**
 * Deletes a volume copy by copy, then its row. A copy on a dead node loses only its row: its directory becomes an
 * orphan there, which must not keep the volume alive.
 */
export function planDeletion(view: VolumeView, now: Date): Step | undefined {
  const { volume, replicas, fleet } = view;
  if (!isDeleting(volume)) return undefined;
  // One that was being filled still has an engine, which is stopped first.
  if (holderOf(volume) !== undefined) return undefined;

  const replica = replicas[0];
  if (replica === undefined) {
    const event = volumeEvent(view, now, {
      type: 'VolumeDeleted',
      message: `volume ${volume.name} is deleted with all its copies`,
    });
    // After the row is gone: with an earlier event, a reader that reads again at once would still find it.
    const changes = [
      { kind: 'volume.delete' as const, volumeId: volume.id },
      { kind: 'event' as const, event },
    ];
    return { kind: 'commit', why: 'all copies are deleted', changes };
  }
  const nodeId = isOnReadyNode(replica, fleet) ? replica.nodeId : undefined;
  return { kind: 'remove-replica', replicaId: replica.id, nodeId };
}
