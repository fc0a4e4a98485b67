/**
 * Planner of scheduled verifications: has the copies of a detached volume compared when its cluster's schedule is due and there is
 * nothing to repair. Copies are read one after another on each node, at a rate that a setting limits.
 *
 * Begun by one commit: if the process dies after it, the next run continues from the record.
 */
import { nextCronTime } from '../model/cron.js';
import type { VolumeView } from '../model/views.js';
import { actionFacts } from '../policy/action-facts.js';
import { decideVerification } from '../policy/decide-verification.js';
import type { Step } from './step.js';

/** Volumes that are due at once begin within an hour, so that a cluster's workers and nodes do not get all of them together. */
const SPREAD_SECONDS = 3_600;

export function planScheduledVerification(view: VolumeView, now: Date): Step | undefined {
  const due = dueAt(view);
  if (due === undefined || due > now) return undefined;
  const { volume } = view;
  // Missing copies are built first: a comparison would hold that up.
  if (volume.lifecycle.state !== 'detached' || volume.robustness !== 'healthy') return undefined;
  if (decideVerification(actionFacts(view)).kind !== 'allow') return undefined;
  const verification = {
    requestedAt: now,
    state: 'running' as const,
    finishedAt: undefined,
    equal: undefined,
    epoch: volume.epoch,
    scheduled: true as const,
    replicas: [],
    message: '',
  };
  const changes = [{ kind: 'volume.patch' as const, volumeId: volume.id, patch: { verification } }];
  return { kind: 'commit', why: 'its copies are to be compared', changes };
}

/** When its copies are to be compared next; may be past. */
export function scheduledVerificationTimes(view: VolumeView): Date[] {
  const due = dueAt(view);
  return due === undefined ? [] : [due];
}

/** A volume that was never attached holds nothing. */
function dueAt({ volume, fleet: { settings } }: VolumeView): Date | undefined {
  if (!settings['scheduled-volume-verification'] || volume.epoch === 0) return undefined;
  const last = volume.verification?.requestedAt ?? volume.createdAt;
  const due = nextCronTime(settings['volume-verification-cronjob'], last);
  return due === undefined ? undefined : new Date(due.getTime() + spreadSeconds(volume.id) * 1000);
}

function spreadSeconds(id: string): number {
  let sum = 0;
  for (let at = 0; at < id.length; at += 1) sum = (sum * 31 + id.charCodeAt(at)) % SPREAD_SECONDS;
  return sum;
}
