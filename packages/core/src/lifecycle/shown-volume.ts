/** Volume as users see it: what the worker attaches for its own work is not attached to them. */

import { blockText } from '../admission/waiting.js';
import type { Condition } from '../model/condition.js';
import type { SettingName } from '../model/setting.js';
import type { Volume } from '../model/volume.js';
import { isRepairing, type VolumeState } from '../model/volume-lifecycle.js';
import { fillOf, heavyTaskOf } from '../model/volume-task.js';

const HEAVY_TASK_LIMIT = 'snapshot-heavy-task-concurrent-limit' satisfies SettingName;

/** Internal fields of a volume: read only by the worker, and for explanations of missing places. */
export const HIDDEN_FIELDS = [
  'record',
  'explanation',
  'hashing',
  'balance',
] as const satisfies readonly (keyof Volume)[];
export type HiddenField = (typeof HIDDEN_FIELDS)[number];
export type ShownVolume = Omit<Volume, HiddenField>;

/** True when the worker attached it, to fill or to rebuild it. */
export function isWorkersOwn(volume: Pick<Volume, 'task' | 'lifecycle'>): boolean {
  return fillOf(volume) !== undefined || isRepairing(volume);
}

export function shownState(volume: Pick<Volume, 'task' | 'lifecycle'>): VolumeState {
  if (fillOf(volume) !== undefined) return 'creating';
  return isRepairing(volume) ? 'detached' : volume.lifecycle.state;
}

/** Those that are stored, and those that follow from its filling and its hold. */
export function shownConditions(volume: ShownVolume): Condition[] {
  return [...volume.conditions, ...filledCondition(volume), ...heldCondition(volume)];
}

/** Reason why a purge or a filling waits although it could begin otherwise; `undefined` when it waits for another reason, or runs. */
export function waitsForAdmission(volume: ShownVolume): string | undefined {
  const { lifecycle, epoch } = volume;
  const task = heavyTaskOf(volume);
  const isWaiting = task !== undefined && task.admittedAt === undefined && task.startedEpoch !== epoch;
  if (lifecycle.state !== 'attached' || !isWaiting) return undefined;
  return `admission: ${HEAVY_TASK_LIMIT} says how many volumes of a node may be purged, filled or hashed at once`;
}

function filledCondition(volume: ShownVolume): Condition[] {
  const fill = fillOf(volume);
  if (fill === undefined) return [];
  const { trouble, requestedAt } = fill;
  const waitingFor = waitsForAdmission(volume);
  const reason =
    trouble !== undefined ? 'FillFailed' : waitingFor === undefined ? 'Filling' : 'WaitingForAdmission';
  const words = 'it is being filled from the snapshot it was cloned from';
  const message = trouble?.message ?? (waitingFor === undefined ? words : `it waits for ${waitingFor}`);
  return [{ type: 'Filled', status: 'False', reason, message, lastTransitionAt: requestedAt }];
}

/** The time of the hold is not stored: the caller that sets it knows it. */
function heldCondition({ rebuildHold, createdAt }: ShownVolume): Condition[] {
  if (rebuildHold === undefined) return [];
  const { reason, waitingFor } = blockText(rebuildHold);
  const message = `missing copies are not rebuilt: ${waitingFor}`;
  return [{ type: 'RebuildsHeld', status: 'True', reason, message, lastTransitionAt: createdAt }];
}
