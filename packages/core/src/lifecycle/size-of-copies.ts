/**
 * Size of a volume whose copies are larger than the database knows: they were expanded by a request that it has forgotten, as after
 * the restore of a backup. A volume only grows, so the copies are right (docs/design/current-copies.md).
 */
import { formatBytes } from '../model/bytes.js';
import type { Change } from '../model/changes.js';
import type { VolumeLayers } from '../model/engine-commands.js';
import type { LayerTask } from '../model/layer-task.js';
import type { VolumeView } from '../model/views.js';
import { volumeEvent } from '../model/volume-facts.js';
import { layerTaskOf } from '../model/volume-task.js';

/**
 * The larger size that the engine serves; `undefined` if the database knows it. A requested expansion reports its own progress.
 *
 * @param done the task that has just been done
 */
export function growthOfCopies(
  { volume }: VolumeView,
  { sizeBytes }: Pick<VolumeLayers, 'sizeBytes'>,
  done: LayerTask | undefined,
): number | undefined {
  if (done?.kind === 'expand' || layerTaskOf(volume)?.kind === 'expand') return undefined;
  return sizeBytes > volume.spec.sizeBytes ? sizeBytes : undefined;
}

/** The data is on the disks already, so the bookings have no limit: a disk that is too full shows it, and takes no further copies. */
export function grownChanges(view: VolumeView, sizeBytes: number, now: Date): Change[] {
  const { volume, replicas, fleet } = view;
  const resized = replicas
    .filter((replica) => replica.sizeBytes < sizeBytes)
    .map(({ id, diskId, sizeBytes: known }): Change => {
      const booking = diskId && {
        diskId,
        sizeBytes: sizeBytes - known,
        limitBytes: Number.MAX_SAFE_INTEGER,
        ifSettingsVersion: fleet.settingsVersion,
      };
      return { kind: 'replica.resize', replicaId: id, sizeBytes, booking };
    });
  const message =
    `volume ${volume.name} has ${formatBytes(sizeBytes)}, as its copies say, and not the ` +
    `${formatBytes(volume.spec.sizeBytes)} that the database knew`;
  return [...resized, { kind: 'event', event: volumeEvent(view, now, { type: 'VolumeExpanded', message }) }];
}

/** The volume is served at its copies' size all the same: truncation would lose data. */
export function growthRefused(
  view: VolumeView,
  { sizeBytes }: Pick<VolumeLayers, 'sizeBytes'>,
  why: string,
  now: Date,
): Change {
  const { name, spec } = view.volume;
  const message =
    `volume ${name} is served with ${formatBytes(sizeBytes)}, as its copies have, but counts as the ` +
    `${formatBytes(spec.sizeBytes)} that the database knew: ${why}`;
  return { kind: 'event', event: volumeEvent(view, now, { type: 'VolumeTaskFailed', message }) };
}
