/**
 * The planner of a volume: decides the next step for it, from one frozen view.
 *
 * Pure: the same view and time give the same step, and a view in which everything is as wanted gives `idle`, with the next moment at
 * which time alone may change that. Control executes the step, records it and plans again. If the process dies in between, the next
 * run sees a view without the step and plans it again; every step may be repeated.
 *
 * The order matters: what users wait for (detaching, attaching) comes before repair, repair before clean-up, and the status is
 * brought up to date before anything slow starts.
 */

import { moveTimes } from '../balance/choose-move.js';
import type { VolumeView } from '../model/views.js';
import { lastingCopies, misplacedCopies } from '../model/volume-facts.js';
import { effectiveValue } from '../policy/volume-settings.js';
import { attachmentTimes, planAttachment, planDetachment } from './plan-attachment.js';
import { planCordonDetachment } from './plan-cordon-detachment.js';
import { planDeletion } from './plan-deletion.js';
import { failoverTimes, planFailover } from './plan-failover.js';
import { fillTimes, planFill } from './plan-fill.js';
import { planForgottenNode } from './plan-forgotten-node.js';
import { hashingTimes, planIntegrity } from './plan-integrity.js';
import { planLayerReading } from './plan-layer-reading.js';
import { layerWorkTimes, planLayerWork } from './plan-layer-work.js';
import { lostCopyTimes, planLostCopies } from './plan-lost-copies.js';
import { planObservation } from './plan-observation.js';
import { offlineRebuildTimes, planOfflineRebuild } from './plan-offline-rebuild.js';
import { planProvisioning, provisioningTimes } from './plan-provisioning.js';
import { planRebuildPriority } from './plan-rebuild-priority.js';
import { planRecurringSnapshots, recurringTimes } from './plan-recurring-snapshots.js';
import { isMoveBlocked, planRelocationBegin, planRelocationEnd } from './plan-relocation.js';
import { planRemoval, removalTimes } from './plan-removal.js';
import { planReplenishment, replenishmentTimes } from './plan-replenishment.js';
import { planReplicaTimeout } from './plan-replica-timeout.js';
import { planScheduledVerification, scheduledVerificationTimes } from './plan-scheduled-verification.js';
import { planSetBack } from './plan-set-back.js';
import { planShownHealth, planStatus } from './plan-status.js';
import { planTaskAdmissionEnd, planTaskAdmissionRequest } from './plan-task-admission.js';
import { planVerification } from './plan-verification.js';
import type { Step } from './step.js';

/** Each looks after one concern and answers `undefined` when it has nothing to do. */
const CONCERNS: readonly ((view: VolumeView, now: Date) => Step | undefined)[] = [
  planDeletion,
  planForgottenNode,
  planSetBack,
  planCordonDetachment,
  planFailover,
  planDetachment,
  planProvisioning,
  planShownHealth,
  planAttachment,
  planObservation,
  planLostCopies,
  planRebuildPriority,
  planStatus,
  planVerification,
  planScheduledVerification,
  planFill,
  planOfflineRebuild,
  planRecurringSnapshots,
  planIntegrity,
  planTaskAdmissionEnd,
  planLayerWork,
  planRelocationEnd,
  planReplenishment,
  planRemoval,
  planReplicaTimeout,
  planLayerReading,
  planTaskAdmissionRequest,
  planRelocationBegin,
];

export function planVolumeStep(view: VolumeView, now: Date): Step {
  for (const plan of CONCERNS) {
    const step = plan(view, now);
    if (step !== undefined) return step;
  }
  const until = dueAgain(view, now);
  return until === undefined ? { kind: 'idle' } : { kind: 'idle', until };
}

/** The moments at which a rule of a concern may come out differently in an unchanged view; past ones too. */
const TIMES: readonly ((view: VolumeView) => readonly Date[])[] = [
  provisioningTimes,
  attachmentTimes,
  failoverTimes,
  fillTimes,
  scheduledVerificationTimes,
  offlineRebuildTimes,
  recurringTimes,
  hashingTimes,
  layerWorkTimes,
  lostCopyTimes,
  replenishmentTimes,
  removalTimes,
  moveTimes,
];

/** The next moment at which time alone may give the volume a step; `undefined` when it never does. */
export function nextTime(view: VolumeView, now: Date): Date | undefined {
  const nowMs = now.getTime();
  let nextMs = Number.POSITIVE_INFINITY;
  for (const times of TIMES) {
    for (const time of times(view)) {
      const ms = time.getTime();
      if (ms > nowMs && ms < nextMs) nextMs = ms;
    }
  }
  return nextMs === Number.POSITIVE_INFINITY ? undefined : new Date(nextMs);
}

/** Less than the interval of the sweep, so that each sweep finds the volume due. */
const FLEET_LOOK_MS = 4_000;
/** For mere improvements of a whole volume: unless something marks it due, it waits this long. */
const MOVE_LOOK_MS = 30_000;

/**
 * A volume that lacks a copy also depends on free space and liveness anywhere in its fleet. These change with every heartbeat, and
 * mark no volume due; so it is reconciled with every sweep. One with a copy that can't move yet is reconciled now and then.
 */
function dueAgain(view: VolumeView, now: Date): Date | undefined {
  const next = nextTime(view, now);
  const lookMs = lacksCopies(view) ? FLEET_LOOK_MS : isMoveBlocked(view, now) ? MOVE_LOOK_MS : undefined;
  if (lookMs === undefined) return next;
  const look = new Date(now.getTime() + lookMs);
  return next === undefined || look < next ? look : next;
}

/** Is a replica without a place, or a copy missing that may be built as the volume is? */
function lacksCopies(view: VolumeView): boolean {
  const { volume, replicas, fleet } = view;
  if (replicas.some(({ diskId, intent }) => diskId === undefined && intent === 'keep')) return true;
  if (lastingCopies(view).length >= volume.spec.numberOfReplicas) return false;
  const isRebuiltOffline = effectiveValue(volume.spec, fleet.settings, 'offlineRebuilding') === 'enabled';
  return volume.lifecycle.state !== 'detached' || isRebuiltOffline || misplacedCopies(view).length > 0;
}
