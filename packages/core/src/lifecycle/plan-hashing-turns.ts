/**
 * Decides which volumes may hash their snapshots by themselves now: those whose check is due, and those with a snapshot
 * that waits for its first hash, as many as each node of their copies may have at once.
 *
 * Pure, and strict as the admission of rebuilds is: one commit at a time per cluster applies it.
 */
import { lastCronTime } from '../model/cron.js';
import type { NodeId, VolumeId } from '../model/ids.js';
import type { HashingQueueView, HashingVolume } from './views.js';

export type GrantedTurn = { readonly volumeId: VolumeId; readonly isPass: boolean };

export function planHashingTurns(view: HashingQueueView, now: Date): GrantedTurn[] {
  const limit = view.settings['snapshot-heavy-task-concurrent-limit'];
  const load = new Map<NodeId, number>();
  const isBusy = new Set(view.busy.map(({ volumeId }) => volumeId));
  for (const volume of view.busy) take(load, volume);
  const granted: GrantedTurn[] = [];
  for (const { volume, isPass } of wanting(view, now)) {
    const isFull = limit > 0 && volume.nodeIds.some((nodeId) => (load.get(nodeId) ?? 0) >= limit);
    if (isFull || isBusy.has(volume.volumeId)) continue;
    take(load, volume);
    granted.push({ volumeId: volume.volumeId, isPass });
  }
  return granted;
}

/** In the order of the view. Of two checks the older is due first, so behind the first that is not due none is. */
function* wanting(
  { candidates, settings }: HashingQueueView,
  now: Date,
): Generator<{ volume: HashingVolume; isPass: boolean }> {
  const dueAt = lastCronTime(settings['snapshot-data-integrity-cronjob'], now);
  for (const volume of candidates) {
    const isPass = dueAt !== undefined && volume.checkedAt.getTime() < dueAt.getTime();
    if (isPass || volume.isAsked) yield { volume, isPass };
    else return;
  }
}

function take(load: Map<NodeId, number>, { nodeIds }: HashingVolume): void {
  for (const nodeId of nodeIds) load.set(nodeId, (load.get(nodeId) ?? 0) + 1);
}
