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

/** Payload of a job: an id and nothing else, because the worker that runs it reads the current state. */
export const jobSchema = z.strictObject({ id: z.string().uuid() });
export type Job = z.infer<typeof jobSchema>;

export function jobOf(wakeUp: WakeUp): Job {
  return { id: wakeUp.kind === 'volume' ? wakeUp.volumeId : wakeUp.clusterId };
}

/** The wake-up in a job's payload. `undefined`: the job is not Holdfast's, and another run would not change that. */
export function wakeUpOf(kind: WakeUp['kind'], data: unknown): WakeUp | undefined {
  const parsed = jobSchema.safeParse(data);
  if (!parsed.success) return undefined;
  return kind === 'volume'
    ? { kind, volumeId: asId<VolumeId>(parsed.data.id) }
    : { kind, clusterId: asId<ClusterId>(parsed.data.id) };
}
