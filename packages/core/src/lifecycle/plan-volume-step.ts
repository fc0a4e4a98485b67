/**
 * Decides the next thing to do for one volume, from one frozen view of it.
 *
 * Pure: the same view and time give the same step, and a view in which everything is as wanted gives `idle`. Control
 * executes the step, records it and asks again. If the process dies in between, the next run sees a view in which the
 * step was not recorded and asks for it again; every step may be repeated.
 *
 * The order matters: what users wait for (letting go, attaching) comes before repair, repair before clean-up, and what
 * is shown is brought up to date before anything slow starts.
 */
import { planAttachment, planDetachment } from './plan-attachment.js';
import { planDeletion } from './plan-deletion.js';
import { planFill } from './plan-fill.js';
import { planIntegrity } from './plan-integrity.js';
import { planLayerReading } from './plan-layer-reading.js';
import { planLayerWork } from './plan-layer-work.js';
import { planObservation } from './plan-observation.js';
import { planOfflineRebuild } from './plan-offline-rebuild.js';
import { planProvisioning } from './plan-provisioning.js';
import { planRecurringSnapshots } from './plan-recurring-snapshots.js';
import { planRemoval } from './plan-removal.js';
import { planReplenishment } from './plan-replenishment.js';
import { planStatus } from './plan-status.js';
import { planTaskAdmissionEnd, planTaskAdmissionRequest } from './plan-task-admission.js';
import { planVerification } from './plan-verification.js';
import { IDLE, type Step } from './step.js';
import type { VolumeView } from './views.js';

/** Each looks after one concern and answers `undefined` when it has nothing to do. */
const CONCERNS: readonly ((view: VolumeView, now: Date) => Step | undefined)[] = [
  planDeletion,
  planDetachment,
  planProvisioning,
  planAttachment,
  planObservation,
  planStatus,
  planVerification,
  planFill,
  planOfflineRebuild,
  planRecurringSnapshots,
  planIntegrity,
  planTaskAdmissionEnd,
  planLayerWork,
  planReplenishment,
  planRemoval,
  planLayerReading,
  planTaskAdmissionRequest,
];

export function planVolumeStep(view: VolumeView, now: Date): Step {
  for (const plan of CONCERNS) {
    const step = plan(view, now);
    if (step !== undefined) return step;
  }
  return IDLE;
}
