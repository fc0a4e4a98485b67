/** Why work waits: in a code, and in words for users. One vocabulary for rebuilds and for background tasks. */
import type { LayerTask } from '../model/layer-task.js';
import type { WaitingReason } from '../model/rebuild.js';
import type { RebuildHold } from '../model/volume.js';

export type Waiting = { readonly reason: WaitingReason; readonly waitingFor: string };

/** Of a rebuild that is preempted. */
export const PREEMPTED: Waiting = {
  reason: 'Preempted',
  waitingFor: 'the rebuild of a volume that is on its last copy goes first',
};

export const PAUSED: Waiting = { reason: 'Paused', waitingFor: 'it is paused' };

const BLOCKED = {
  purge: { reason: 'VolumePurging', waitingFor: 'its snapshots are being purged' },
  revert: { reason: 'VolumeReverting', waitingFor: 'the volume is being reverted to a snapshot' },
  expand: { reason: 'VolumeExpanding', waitingFor: 'the volume is being expanded' },
  migrating: { reason: 'VolumeMigrating', waitingFor: 'the volume is being migrated to another engine' },
  restoring: {
    reason: 'VolumeRestoring',
    waitingFor: 'the volume is being restored by an engine that can not rebuild meanwhile',
  },
  standby: {
    reason: 'VolumeStandby',
    waitingFor: 'the volume follows a backup for disaster recovery: it has to be activated first',
  },
} as const satisfies Record<LayerTask['kind'] | RebuildHold, Waiting>;

/** Why no rebuild of a volume starts that has this hold, or whose layers are changed so. */
export function blockText(by: LayerTask['kind'] | RebuildHold): Waiting {
  return BLOCKED[by];
}

const LIMITS: ReadonlySet<WaitingReason> = new Set([
  'ClusterLimit',
  'TargetNodeLimit',
  'SourceNodeLimit',
  'QuotaLimit',
]);

/** Does it wait only until other rebuilds leave room? */
export function isLimit({ reason }: Waiting): boolean {
  return LIMITS.has(reason);
}
