import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { asId, type ClusterId, type VolumeId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';

/**
 * Queue names: one queue for volumes and one for clusters, so that a slow volume does not hold up a cluster's
 * admissions.
 */
export const QUEUE_NAMES = {
  volume: 'holdfast-volume',
  cluster: 'holdfast-cluster',
} as const satisfies Record<WakeUp['kind'], string>;

/** Payload of a job: an id, because the worker that runs it reads the current state, and the trace that it is part of. */
export const jobSchema = z.strictObject({
  id: z.string().uuid(),
  traceparent: z.string().max(64).optional(),
});
export type Job = z.infer<typeof jobSchema>;

export function jobOf(wakeUp: WakeUp): Job {
  const { traceparent } = wakeUp;
  const id = wakeUp.kind === 'volume' ? wakeUp.volumeId : wakeUp.clusterId;
  return traceparent === undefined ? { id } : { id, traceparent };
}

/** The wake-up in a job's payload. `undefined`: the job is not Holdfast's, and another run would not change that. */
export function wakeUpOf(kind: WakeUp['kind'], data: unknown): WakeUp | undefined {
  const parsed = jobSchema.safeParse(data);
  if (!parsed.success) return undefined;
  const { id, traceparent } = parsed.data;
  const traced = traceparent === undefined ? {} : { traceparent };
  return kind === 'volume'
    ? { kind, volumeId: asId<VolumeId>(id), ...traced }
    : { kind, clusterId: asId<ClusterId>(id), ...traced };
}
