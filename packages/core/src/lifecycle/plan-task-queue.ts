/**
 * Admission of background tasks, which read or move whole layers: purges, fillings, and the worker's own hashing of
 * snapshots. A setting limits how many volumes with a copy on one node may run such a task at once.
 *
 * Pure, and strict as the admission of rebuilds is: one commit at a time per cluster applies it. No volume waits for
 * ever: each has a place in the line that only grows older, and while the first in the line waits for a node, no volume
 * behind it is admitted there.
 */
import { lastCronTime } from '../model/cron.js';
import type { NodeId, VolumeId } from '../model/ids.js';
import type { TaskQueueView, TaskVolume } from '../model/views.js';

export type TaskAdmission =
  | { readonly kind: 'layers'; readonly volumeId: VolumeId }
  | { readonly kind: 'hashing'; readonly volumeId: VolumeId; readonly isPass: boolean };

type Wanted = { readonly volume: TaskVolume; readonly placeMs: number; readonly admission: TaskAdmission };

/** Users wait for the room that a purge makes, or for a clone; a check may wait this much longer. */
const FIRST_HASH_BEHIND_MS = 3600 * 1000;
const PERIODIC_CHECK_BEHIND_MS = 24 * 3600 * 1000;

export function planTaskQueue(view: TaskQueueView, now: Date): TaskAdmission[] {
  const limit = view.settings['snapshot-heavy-task-concurrent-limit'];
  const load = new Map<NodeId, number>();
  const isBusy = new Set(view.busy.map(({ volumeId }) => volumeId));
  for (const volume of view.busy) take(load, volume);
  const heldFor = new Set<NodeId>();
  const granted: TaskAdmission[] = [];
  for (const { volume, admission } of inLine(view, now)) {
    const { volumeId, nodeIds } = volume;
    if (isBusy.has(volumeId)) {
      // It counts already. A purge or filling joins the admitted task; a check waits until that is over.
      if (admission.kind === 'layers') granted.push(admission);
      continue;
    }
    const hasRoom = (nodeId: NodeId) => (load.get(nodeId) ?? 0) < limit && !heldFor.has(nodeId);
    if (limit === 0 || nodeIds.every(hasRoom)) {
      take(load, volume);
      isBusy.add(volumeId);
      granted.push(admission);
    } else {
      for (const nodeId of nodeIds) heldFor.add(nodeId);
    }
  }
  return granted;
}

/** The oldest place first; among equals as the view has them. */
function inLine(view: TaskQueueView, now: Date): Wanted[] {
  const layers = view.waiting.map(({ since, ...volume }): Wanted => {
    return { volume, placeMs: since.getTime(), admission: { kind: 'layers', volumeId: volume.volumeId } };
  });
  return [...layers, ...checks(view, now)].sort((a, b) => a.placeMs - b.placeMs);
}

function checks({ candidates, settings }: TaskQueueView, now: Date): Wanted[] {
  const dueAt = lastCronTime(settings['snapshot-data-integrity-cronjob'], now);
  return candidates.flatMap((volume) => {
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

function take(load: Map<NodeId, number>, { nodeIds }: TaskVolume): void {
  for (const nodeId of nodeIds) load.set(nodeId, (load.get(nodeId) ?? 0) + 1);
}
