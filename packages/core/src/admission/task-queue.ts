/**
 * The line of background tasks, which read or move whole layers: purges, fillings, and the worker's own hashing of
 * snapshots. A setting limits how many volumes with a copy on one node may run such a task at once.
 *
 * No volume waits for ever: each has a place in the line that only grows older, and keeps it.
 */
import { lastCronTime } from '../model/cron.js';
import type { VolumeId } from '../model/ids.js';
import type { DataEngine } from '../model/node.js';
import type { ClusterSettings } from '../model/setting.js';
import type { AdmissionView, TaskVolume } from '../model/views.js';
import { settingsOf } from '../settings/engine-maps.js';
import type { Demand, QueuedWork } from './admission-queue.js';

type Tasks = AdmissionView['tasks'];

export type TaskAdmission =
  | { readonly kind: 'layers'; readonly volumeId: VolumeId }
  | { readonly kind: 'hashing'; readonly volumeId: VolumeId; readonly isPass: boolean };

type Wanted = { readonly volume: TaskVolume; readonly placeMs: number; readonly admission: TaskAdmission };

/** Users wait for the room that a purge makes, or for a clone; a check may wait this much longer. */
const FIRST_HASH_BEHIND_MS = 3600 * 1000;
const PERIODIC_CHECK_BEHIND_MS = 24 * 3600 * 1000;

/** A volume counts once on each node that holds a copy of it, whatever it runs. */
export function taskNodes({ nodeIds }: TaskVolume): Demand[] {
  return nodeIds.map((nodeId) => ({ limit: 'tasks', nodeId }));
}

/** Purges and fillings of volumes that count already, since they are hashed. A check waits until that is over. */
export function tasksToAdmit({ admitted, waiting }: Tasks): TaskAdmission[] {
  const isAdmitted = new Set(admitted.map(({ volumeId }) => volumeId));
  return waiting
    .filter(({ volumeId }) => isAdmitted.has(volumeId))
    .map(({ volumeId }) => ({ kind: 'layers', volumeId }));
}

/**
 * One entry for each volume, the oldest place first; among equals as the view has them.
 *
 * @param rebuilding volumes whose rebuild begins now
 */
export function taskLine(
  tasks: Tasks,
  settings: ClusterSettings,
  rebuilding: ReadonlySet<VolumeId>,
  now: Date,
): QueuedWork<readonly TaskAdmission[]>[] {
  const isAdmitted = new Set(tasks.admitted.map(({ volumeId }) => volumeId));
  const entries = new Map<VolumeId, Wanted[]>();
  for (const wanted of inOrder(tasks, settings, now)) {
    const { volumeId } = wanted.volume;
    if (isAdmitted.has(volumeId) || rebuilding.has(volumeId)) continue;
    entries.set(volumeId, [...(entries.get(volumeId) ?? []), wanted]);
  }
  return [...entries.values()].flatMap((ofVolume) => {
    const [first] = ofVolume;
    if (first === undefined) return [];
    // A purge that comes behind a check of the same volume joins it; a check waits until a purge is over.
    const together = first.admission.kind === 'layers' ? [first] : ofVolume;
    return [
      {
        key: together.map(({ admission }) => admission),
        demands: taskNodes(first.volume),
        obstacle: undefined,
        keepsItsPlace: true,
      },
    ];
  });
}

function inOrder(tasks: Tasks, settings: ClusterSettings, now: Date): Wanted[] {
  const layers = tasks.waiting.map(({ since, ...volume }): Wanted => {
    return { volume, placeMs: since.getTime(), admission: { kind: 'layers', volumeId: volume.volumeId } };
  });
  return [...layers, ...checks(tasks, settings, now)].sort((a, b) => a.placeMs - b.placeMs);
}

/** When all snapshots of volumes of each data engine were to be checked last. */
export function lastChecks(
  settings: ClusterSettings,
  now: Date,
): { readonly [Engine in DataEngine]: Date | undefined } {
  const dueAt = (engine: DataEngine) =>
    lastCronTime(settingsOf(settings, engine)['snapshot-data-integrity-cronjob'], now);
  return { v1: dueAt('v1'), v2: dueAt('v2') };
}

function checks({ candidates }: Tasks, settings: ClusterSettings, now: Date): Wanted[] {
  const dueAtOf = lastChecks(settings, now);
  return candidates.flatMap(({ dataEngine, ...volume }) => {
    const dueAt = dueAtOf[dataEngine];
    const isPass = dueAt !== undefined && volume.checkedAt.getTime() < dueAt.getTime();
    const places = [
      ...(volume.askedAt === undefined ? [] : [volume.askedAt.getTime() + FIRST_HASH_BEHIND_MS]),
      ...(isPass ? [dueAt.getTime() + PERIODIC_CHECK_BEHIND_MS] : []),
    ];
    if (places.length === 0) return [];
    const admission = { kind: 'hashing' as const, volumeId: volume.volumeId, isPass };
    return [{ volume, placeMs: Math.min(...places), admission }];
  });
}
