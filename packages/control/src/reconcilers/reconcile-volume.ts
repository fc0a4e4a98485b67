/**
 * Reconciler of one volume: load, plan one step, execute it, record it, again until nothing is left to do.
 *
 * It keeps nothing between runs. If the process dies anywhere, the volume stays due, and the next run loads the recorded state and
 * continues; two runs at once are kept apart by the volume's version in the store and by the epoch at the agents.
 */

import { planVolumeStep } from '@holdfast/core/lifecycle/plan-volume-step.js';
import type { Step } from '@holdfast/core/lifecycle/step.js';
import { isFault } from '@holdfast/core/model/faults.js';
import type { OrganizationId, VolumeId } from '@holdfast/core/model/ids.js';
import { isDetachForced } from '@holdfast/core/model/volume-lifecycle.js';
import type { VolumeDue, VolumeView } from '../ports/store.js';
import { executeStep } from './execute-step.js';
import type { ReconcilerPorts, StepOutcome } from './reconciler-ports.js';
import { unlessForced } from './unless-forced.js';

/** More steps than any one change needs (20 replicas to provision, an attach, a rebuild); then other volumes go first. */
const STEPS_MAX = 64;
/** Losing this often means that others are busy with the volume: their commits wake it again. */
const CONFLICTS_MAX = 10;

export type ReconcileOutcome =
  | { did: 'idle'; steps: number }
  /** The volume does not exist any more. */
  | { did: 'gone'; steps: number }
  /**
   * An agent refused for now, a report is awaited, or the organization has all the calls under way that it may have: the
   * volume stays due, so the next sweep or the report wakes it.
   */
  | { did: 'waiting'; steps: number; reason: string; code: string };

export type ReconcileOptions = {
  /** Asked before each step that may wait for agents; false: not now. Left out: always. */
  mayAct?: (organizationId: OrganizationId) => boolean;
};

export async function reconcileVolume(
  ports: ReconcilerPorts,
  volumeId: VolumeId,
  { mayAct = () => true }: ReconcileOptions = {},
): Promise<ReconcileOutcome> {
  let conflicts = 0;
  for (let steps = 0; steps < STEPS_MAX; steps += 1) {
    const view = await ports.store.loadVolume(volumeId);
    if (view === undefined) return { did: 'gone', steps };
    const step = planVolumeStep(view, ports.clock.now());
    if (step.kind === 'idle') {
      await moveDue(ports, view, step.until);
      return { did: 'idle', steps };
    }
    if (step.kind !== 'commit' && !mayAct(view.volume.organizationId)) {
      await keepDue(ports, view);
      return { did: 'waiting', steps, reason: step.kind, code: 'turn' };
    }
    try {
      const outcome = await doStep(ports, view, step);
      if (outcome === 'pause') {
        await keepDue(ports, view);
        return { did: 'waiting', steps, reason: step.kind, code: 'report' };
      }
    } catch (error) {
      if (!isFault(error)) throw error;
      const { code, message } = error;
      const mayRetry = code === 'store.conflict' && conflicts < CONFLICTS_MAX;
      if (!mayRetry) {
        await keepDue(ports, view);
        return { did: 'waiting', steps, reason: `${step.kind}: ${message}`, code };
      }
      conflicts += 1;
    }
  }
  await ports.queue.wake({ kind: 'volume', volumeId });
  return { did: 'waiting', steps: STEPS_MAX, reason: 'more is to be done', code: 'steps' };
}

type DueView = VolumeView & { readonly due: VolumeDue };

/** A mark that was set since the view was loaded stays: its cause may not be in the view. */
async function moveDue(
  { store }: ReconcilerPorts,
  { volume, due }: DueView,
  at: Date | undefined,
): Promise<void> {
  if (due.at?.getTime() === at?.getTime()) return;
  await store.recordDue(volume.id, { at, ifMarks: due.marks });
}

/** A wake-up that no mark belongs to (a delayed one) finds a volume that is not due: the next sweep has to look too. */
async function keepDue(ports: ReconcilerPorts, view: DueView): Promise<void> {
  const now = ports.clock.now();
  if (view.due.at === undefined || view.due.at > now) await moveDue(ports, view, now);
}

/** A forced detach that was there before the step needs no look-out: its own steps wait for no node. */
function doStep(
  ports: ReconcilerPorts,
  view: VolumeView,
  step: Exclude<Step, { kind: 'idle' }>,
): Promise<StepOutcome> {
  const work = executeStep(ports, view, step);
  return isDetachForced(view.volume) ? work : unlessForced(ports, { volumeId: view.volume.id, step }, work);
}
