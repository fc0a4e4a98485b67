/**
 * Planner of an attached volume's layers, as users want them: snapshots taken, deleted and hashed, and the one change of
 * all layers (purge, revert, expand) that may be wanted at a time.
 *
 * Whatever is refused notes why and when, and is tried again after a pause, so that it holds nothing else up. Every call
 * may be repeated, so a worker that dies between a call and its record does no harm.
 */

import type { Change } from '../model/changes.js';
import { newLayerTask } from '../model/layer-task.js';
import type { Snapshot, Trouble } from '../model/snapshot.js';
import type { VolumeView } from '../model/views.js';
import { isServing, volumeEvent } from '../model/volume-facts.js';
import { layerTaskOf } from '../model/volume-task.js';
import { robustnessOf } from './plan-status.js';
import type { Step } from './step.js';

/** Most refusals are of an engine that is busy and will soon be free. */
const RETRY_PAUSE_MS = 5_000;

export function planLayerWork(view: VolumeView, now: Date): Step | undefined {
  const { volume } = view;
  if (volume.lifecycle.state === 'detached') return planAbandoned(view, now);
  if (!isServing(view)) return undefined;
  return (
    planTaking(view, now) ??
    planRemoving(view, now) ??
    planTask(view, now) ??
    planHashing(view, now) ??
    planAutomaticPurge(view, now)
  );
}

/**
 * A revert belongs to the moment of its request, and a purge is not worth an attach. The worker attaches the volume for an expansion.
 */
function planAbandoned(view: VolumeView, now: Date): Step | undefined {
  const { volume } = view;
  const task = layerTaskOf(volume);
  if (task === undefined || task.kind === 'expand') return undefined;
  const message = `the ${task.kind} of volume ${volume.name} was not done: the volume was detached`;
  const event = volumeEvent(view, now, { type: 'VolumeTaskFailed', message });
  const changes: Change[] = [
    { kind: 'volume.patch', volumeId: volume.id, patch: { task: undefined } },
    { kind: 'event', event },
  ];
  return { kind: 'commit', why: message, changes };
}

function planTaking({ snapshots }: VolumeView, now: Date): Step | undefined {
  const wanted = snapshots.find(({ state, trouble }) => state === 'creating' && mayTry(trouble, now));
  return wanted === undefined ? undefined : { kind: 'take-snapshot', snapshotId: wanted.id };
}

function planRemoving({ snapshots }: VolumeView, now: Date): Step | undefined {
  const leaving = snapshots.find(({ state, trouble }) => state === 'removing' && mayTry(trouble, now));
  return leaving === undefined ? undefined : { kind: 'remove-snapshot', snapshotId: leaving.id };
}

function planTask(view: VolumeView, now: Date): Step | undefined {
  const { epoch } = view.volume;
  const task = layerTaskOf(view.volume);
  if (task === undefined || task.startedEpoch === epoch || !mayTry(task.trouble, now)) return undefined;
  // Purges read and write whole layers: as many at once as the cluster's limit lets.
  if (task.kind === 'purge' && task.admittedAt === undefined) return undefined;
  return isRebuilding(view) ? undefined : { kind: 'change-layers' };
}

/** A task blocks one that waits for admission; only a running one has to be waited for. */
function isRebuilding({ rebuilds, engine }: VolumeView): boolean {
  const runsInEngine = engine?.report.rebuilds.some(({ state }) => state === 'running') === true;
  return runsInEngine || rebuilds.some(({ state }) => state === 'running');
}

/** One after the other: each reads the whole layer on every copy. */
function planHashing({ volume, snapshots }: VolumeView, now: Date): Step | undefined {
  const wanted = snapshots.filter(({ hashRequest }) => hashRequest !== undefined);
  if (wanted.some(({ hashRequest }) => hashRequest?.startedEpoch === volume.epoch)) return undefined;
  const mayRun = ({ hashRequest }: Snapshot) =>
    hashRequest?.automatic !== true || volume.hashing !== undefined;
  const next = wanted.find(
    (snapshot) => snapshot.state === 'ready' && mayRun(snapshot) && mayTry(snapshot.trouble, now),
  );
  if (next?.hashRequest === undefined) return undefined;
  return { kind: 'hash-snapshot', snapshotId: next.id, force: next.hashRequest.force };
}

/**
 * Deleted snapshots, and layers left by rebuilds, are purged as soon as the volume has all its copies: while one is missing, its
 * return is cheapest when the layers it knows still exist.
 */
function planAutomaticPurge(view: VolumeView, now: Date): Step | undefined {
  const { volume, rebuilds, fleet } = view;
  const isBusy = volume.task !== undefined || volume.chain === undefined || volume.chain.busy !== '';
  const isQueued = rebuilds.some(({ state }) => state === 'queued') || isRebuilding(view);
  // Layers that another volume is reading stay as they are.
  if (view.clones.length > 0) return undefined;
  if (isBusy || isQueued || fleet.settings['disable-snapshot-purge']) return undefined;
  if (robustnessOf(view) !== 'healthy' || !view.snapshots.some((snapshot) => isToGo(view, snapshot)))
    return undefined;
  const task = newLayerTask({ kind: 'purge' }, { requestedAt: now });
  const changes: Change[] = [{ kind: 'volume.patch', volumeId: volume.id, patch: { task } }];
  return { kind: 'commit', why: 'there are layers to purge', changes };
}

/**
 * True if the engine purges before it rebuilds. Operators switch that off before a maintenance, so that two copies which fail one
 * after the other still share layers. The source of another volume's filling stays as it is.
 */
export function purgesBeforeRebuild({ fleet: { settings }, clones }: VolumeView): boolean {
  const isWanted = settings['auto-cleanup-system-generated-snapshot'] && !settings['disable-snapshot-purge'];
  return isWanted && clones.length === 0;
}

function isToGo({ volume, fleet }: VolumeView, { id, origin, state }: Snapshot): boolean {
  if (volume.chain?.keptIds.includes(id) === true) return false;
  if (state === 'removed') return true;
  return origin === 'system' && fleet.settings['auto-cleanup-system-generated-snapshot'];
}

/** When a refused request may be repeated: the volume's task, and the pending changes of its snapshots. */
export function layerWorkTimes({ volume, snapshots }: VolumeView): Date[] {
  return retryTimes([layerTaskOf(volume)?.trouble, ...snapshots.map(({ trouble }) => trouble)]);
}

export function retryTimes(troubles: readonly (Trouble | undefined)[]): Date[] {
  return troubles.flatMap((trouble) =>
    trouble === undefined ? [] : [new Date(trouble.at.getTime() + RETRY_PAUSE_MS)],
  );
}

/** Is it time for another try? */
export function mayTry(trouble: Trouble | undefined, now: Date): boolean {
  return trouble === undefined || now.getTime() - trouble.at.getTime() >= RETRY_PAUSE_MS;
}
