/**
 * Conclusions from an engine's report of a volume's layers: snapshot rows for existing layers, none for removed ones, and which task
 * or hash has ended.
 */
import type { Change, SnapshotPatch, VolumePatch } from '../model/changes.js';
import type { VolumeLayers } from '../model/engine-commands.js';
import type { EventType } from '../model/event-types.js';
import type { SnapshotId } from '../model/ids.js';
import type { LayerTask, VolumeChain } from '../model/layer-task.js';
import type { Snapshot } from '../model/snapshot.js';
import type { VolumeView } from '../model/views.js';
import { volumeEvent } from '../model/volume-facts.js';
import { layerTaskOf } from '../model/volume-task.js';
import { settingsOf } from '../settings/engine-maps.js';
import { automaticHash, integrityOf } from './plan-integrity.js';
import { chainKey } from './plan-layer-reading.js';
import { grownChanges, growthOfCopies } from './size-of-copies.js';

type Layer = VolumeLayers['layers'][number];

/** @param finished the task that has just been done, where its call is answered when it is */
export function layerObservation(
  view: VolumeView,
  layers: VolumeLayers,
  now: Date,
  finished?: LayerTask,
): Change[] {
  const done = finished ?? endedPurge(view, layers);
  const chain = chainOf(view, layers, done, now);
  const grown = growthOfCopies(view, layers, done);
  const patch: VolumePatch = {
    ...(isNews(view.volume.chain, chain) ? { chain } : {}),
    ...(done === undefined ? {} : taskDone(view, done)),
    ...(grown === undefined ? {} : { spec: { ...view.volume.spec, sizeBytes: grown } }),
  };
  return [
    ...patched(view, patch),
    ...(grown === undefined ? [] : grownChanges(view, grown, now)),
    ...layers.layers.flatMap((layer) => changesOf(view, layer, layers, now)),
    ...view.snapshots
      .filter((snapshot) => isGone(snapshot, layers))
      .flatMap((gone) => goneChanges(view, gone, now)),
    ...(done === undefined ? [] : [doneEvent(view, done, layers, now)]),
  ];
}

function patched({ volume }: VolumeView, patch: VolumePatch): Change[] {
  if (Object.keys(patch).length === 0) return [];
  return [{ kind: 'volume.patch', volumeId: volume.id, patch }];
}

/** Every commit wakes the volume again, so what changes all the time is left for the next real news. */
function isNews(before: VolumeChain | undefined, now: VolumeChain): boolean {
  const facts = ({ key, headParentId, busy, keptIds }: VolumeChain) =>
    JSON.stringify([key, headParentId, busy, keptIds]);
  return before === undefined || facts(before) !== facts(now);
}

function endedPurge({ volume }: VolumeView, { busy }: VolumeLayers): LayerTask | undefined {
  const task = layerTaskOf(volume);
  const isEnded = task?.kind === 'purge' && task.startedEpoch === volume.epoch && busy !== 'purging';
  return isEnded ? task : undefined;
}

function chainOf(
  { volume, engine }: VolumeView,
  layers: VolumeLayers,
  done: LayerTask | undefined,
  now: Date,
): VolumeChain {
  const there = layers.layers.map(({ id }) => id);
  const kept = done?.kind === 'purge' ? leftovers(layers) : (volume.chain?.keptIds ?? []);
  return {
    key: engine === undefined ? '' : chainKey(engine.report),
    headParentId: layers.headParentId ?? undefined,
    headBytes: layers.headBytes,
    busy: layers.busy,
    keptIds: kept.filter((id) => there.includes(id)),
    readAt: now,
  };
}

/** Layers that a purge was meant to remove and could not. */
function leftovers({ layers }: VolumeLayers): SnapshotId[] {
  return layers.filter(({ origin, removed }) => origin === 'system' || removed).map(({ id }) => id);
}

function taskDone({ volume }: VolumeView, task: LayerTask): VolumePatch {
  if (task.kind !== 'expand') return { task: undefined };
  return { task: undefined, spec: { ...volume.spec, sizeBytes: task.sizeBytes } };
}

function changesOf(view: VolumeView, layer: Layer, layers: VolumeLayers, now: Date): Change[] {
  const known = view.snapshots.find(({ id }) => id === layer.id);
  const seen = seenOf(layer);
  if (known === undefined) return [{ kind: 'snapshot.create', snapshot: newSnapshot(view, layer, now) }];
  const patch: SnapshotPatch = {};
  if (known.parentId !== seen.parentId) patch.parentId = seen.parentId;
  // While a purge moves data about, sizes change with each look.
  if (known.sizeBytes !== seen.sizeBytes && layers.busy === '') patch.sizeBytes = seen.sizeBytes;
  if (JSON.stringify(known.checksums) !== JSON.stringify(seen.checksums)) patch.checksums = seen.checksums;
  const state = nextState(known, layer);
  if (state !== known.state) Object.assign(patch, { state, trouble: undefined });
  const isTaken = known.state === 'creating' && state === 'ready';
  if (isTaken) Object.assign(patch, firstHash(view, now));
  Object.assign(patch, hashEnded(view, known, layers, now));
  if (Object.keys(patch).length === 0) return [];
  return [
    { kind: 'snapshot.patch', snapshotId: known.id, patch },
    ...(isTaken ? [createdEvent(view, known, now)] : []),
  ];
}

function seenOf(layer: Layer): Pick<Snapshot, 'parentId' | 'sizeBytes' | 'checksums'> {
  return {
    parentId: layer.parentId ?? undefined,
    sizeBytes: layer.heldBytes,
    checksums: layer.checksums,
  };
}

function nextState({ state }: Snapshot, { removed }: Layer): Snapshot['state'] {
  if (removed) return 'removed';
  return state === 'creating' || state === 'failed' ? 'ready' : state;
}

const IMMEDIATE_CHECK = 'snapshot-data-integrity-immediate-check-after-snapshot-creation';

function firstHash(view: VolumeView, now: Date): SnapshotPatch {
  const settings = settingsOf(view.fleet.settings, view.volume.spec.dataEngine);
  if (!settings[IMMEDIATE_CHECK] || integrityOf(view) === 'disabled') return {};
  return { hashRequest: automaticHash(view, now) };
}

/** Hashing continues after its answer; when the engine no longer reports it, it has ended, one way or the other. */
function hashEnded(
  { volume }: VolumeView,
  { hashRequest }: Snapshot,
  layers: VolumeLayers,
  now: Date,
): SnapshotPatch {
  if (hashRequest?.startedEpoch !== volume.epoch || layers.busy === 'hashing') return {};
  const trouble = layers.lastError === '' ? undefined : { message: layers.lastError, at: now };
  return { hashRequest: undefined, trouble };
}

/** Layers frozen by a rebuild, a drop or an expansion, or taken while the worker could not record them. */
function newSnapshot({ volume }: VolumeView, layer: Layer, now: Date): Snapshot {
  const { createdAt } = layer;
  return {
    ...seenOf(layer),
    id: layer.id,
    volumeId: volume.id,
    name: layer.name,
    origin: layer.origin,
    state: layer.removed ? 'removed' : 'ready',
    recurringName: undefined,
    hashRequest: undefined,
    trouble: undefined,
    createdAt: Number.isNaN(createdAt.getTime()) ? now : createdAt,
  };
}

function isGone({ id, state }: Snapshot, { layers }: VolumeLayers): boolean {
  return state !== 'creating' && state !== 'failed' && !layers.some((layer) => layer.id === id);
}

function goneChanges(view: VolumeView, gone: Snapshot, now: Date): Change[] {
  const deleted: Change = { kind: 'snapshot.delete', snapshotId: gone.id };
  if (gone.origin === 'system') return [deleted];
  const isWanted = gone.state === 'ready';
  const message = isWanted
    ? `snapshot ${gone.name} of volume ${view.volume.name} is not there any more, although no request deleted it`
    : `snapshot ${gone.name} of volume ${view.volume.name} was deleted`;
  const type = isWanted ? 'SnapshotLost' : 'SnapshotDeleted';
  const subject = { kind: 'snapshot' as const, id: gone.id };
  return [deleted, { kind: 'event', event: volumeEvent(view, now, { type, message, subject }) }];
}

function createdEvent(view: VolumeView, snapshot: Snapshot, now: Date): Change {
  const message = `snapshot ${snapshot.name} of volume ${view.volume.name} was taken`;
  const subject = { kind: 'snapshot' as const, id: snapshot.id };
  return {
    kind: 'event',
    event: volumeEvent(view, now, { type: 'SnapshotCreated', message, subject }),
  };
}

const DONE_EVENTS = {
  purge: { type: 'VolumePurged', what: 'was purged of deleted layers' },
  revert: { type: 'VolumeReverted', what: 'was reverted' },
  expand: { type: 'VolumeExpanded', what: 'was expanded' },
} as const satisfies Record<LayerTask['kind'], { type: EventType; what: string }>;

function doneEvent(view: VolumeView, task: LayerTask, { lastError }: VolumeLayers, now: Date): Change {
  const { type, what } = DONE_EVENTS[task.kind];
  const { name } = view.volume;
  const hasFailed = task.kind === 'purge' && lastError !== '';
  const event = hasFailed
    ? volumeEvent(view, now, {
        type: 'VolumeTaskFailed',
        message: `the purge of volume ${name} failed: ${lastError}`,
      })
    : volumeEvent(view, now, { type, message: `volume ${name} ${what}` });
  return { kind: 'event', event };
}
