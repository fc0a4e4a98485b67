/**
 * Keeps the Scheduled condition true, and with it the explanation why a copy has no place.
 *
 * The explanation costs many times what the condition does, so it is made only when the condition says something new.
 */

import type { Change, VolumePatch } from '../model/changes.js';
import { type Condition, conditionOf, withCondition } from '../model/condition.js';
import { isPotentiallyReusable } from '../model/replica.js';
import type { StoredExplanation } from '../model/stored-explanation.js';
import type { VolumeView } from '../model/views.js';
import { volumeEvent } from '../model/volume-facts.js';
import { explainPlacement } from '../scheduling/explanation/explain-placement.js';
import { refusalsOfMissing } from './plan-replenishment.js';
import { isRefused, saysTheSame, scheduledCondition, withSentence } from './scheduled-condition.js';

type PlacementConditions = { readonly patch: VolumePatch; readonly changes: readonly Change[] };

const NOTHING_NEW: PlacementConditions = { patch: {}, changes: [] };

export function placementConditions(view: VolumeView, now: Date): PlacementConditions {
  const { volume, fleet } = view;
  const refusals = refusalsOfMissing(view, now);
  const condition = scheduledCondition(volume, {
    placedCount: placedCount(view),
    refusals,
    settings: fleet.settings,
  });
  // In another organization's cluster no node and no disk is named to the users.
  const mayExplain = refusals !== undefined && volume.grantedTags === undefined;
  const isExplained = mayExplain === isAnyStored(view);
  const stored = conditionOf(volume.conditions, 'Scheduled');
  if (isExplained && saysTheSame(stored, condition) && !isUntold(view, condition)) return NOTHING_NEW;

  const explanation = mayExplain ? explain(view, now) : undefined;
  const conditions = withCondition(volume.conditions, withSentence(condition, explanation), now);
  return {
    patch: { conditions, ...storedWithVolume(view, explanation) },
    changes: [...storedWithReplicas(view, explanation), ...scheduledEvents(view, stored, condition, now)],
  };
}

/** A volume without a place from its creation on: its first reconciliation reports that. */
function isUntold({ volume }: VolumeView, condition: Pick<Condition, 'status' | 'message'>): boolean {
  return volume.observedGeneration === 0 && isRefused(condition);
}

/** A new volume that has all its places is no news; its creation was reported. */
function scheduledEvents(
  view: VolumeView,
  before: Condition | undefined,
  after: Pick<Condition, 'status' | 'message'>,
  now: Date,
): Change[] {
  const { name } = view.volume;
  const tell = (type: 'VolumeScheduled' | 'VolumeUnscheduled', message: string): Change[] => [
    { kind: 'event', event: volumeEvent(view, now, { type, message }) },
  ];
  if (isRefused(after) && (!isRefused(before) || isUntold(view, after)))
    return tell('VolumeUnscheduled', `volume ${name}: ${after.message}`);
  // A message says that some places are missing: then it counts as scheduled only because it may be attached so.
  const hasAll = after.status === 'True' && after.message === '';
  return isRefused(before) && hasAll
    ? tell('VolumeScheduled', `every wanted replica of volume ${name} has a place`)
    : [];
}

function placedCount({ replicas }: VolumeView): number {
  return replicas.filter(
    (replica) =>
      replica.diskId !== undefined &&
      replica.intent !== 'remove' &&
      (replica.failedAt === undefined || isPotentiallyReusable(replica)),
  ).length;
}

function explain({ volume, replicas, fleet }: VolumeView, now: Date): StoredExplanation {
  const placed = replicas.filter(({ diskId }) => diskId !== undefined);
  return explainPlacement({ volume, replicas: placed, fleet, now });
}

function unplaced({ replicas }: VolumeView) {
  return replicas.filter(({ diskId }) => diskId === undefined);
}

function isAnyStored(view: VolumeView): boolean {
  return (
    view.volume.explanation !== undefined ||
    unplaced(view).some((replica) => replica.explanation !== undefined)
  );
}

/** The volume holds the explanation only where no replica does. */
function storedWithVolume(view: VolumeView, explanation: StoredExplanation | undefined): VolumePatch {
  const ofVolume = unplaced(view).length === 0 ? explanation : undefined;
  return ofVolume === undefined && view.volume.explanation === undefined ? {} : { explanation: ofVolume };
}

function storedWithReplicas(view: VolumeView, explanation: StoredExplanation | undefined): Change[] {
  return unplaced(view)
    .filter((replica) => explanation !== undefined || replica.explanation !== undefined)
    .map(({ id }) => ({
      kind: 'replica.patch',
      replicaId: id,
      patch: { explanation: explanation === undefined ? undefined : { ...explanation, replicaId: id } },
    }));
}
