import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { asId, type ClusterId, type VolumeId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';

/** One queue for each kind of thing that is woken: a slow volume must not hold up a cluster's admissions. */
export const QUEUE_NAMES = {
  volume: 'holdfast-volume',
  cluster: 'holdfast-cluster',
} as const satisfies Record<WakeUp['kind'], string>;

/** A job is an id and nothing else: the worker that runs it reads the current state. */
const jobSchema = z.strictObject({ id: z.string().uuid() });
export type Job = z.infer<typeof jobSchema>;

export function jobOf(wakeUp: WakeUp): Job {
  return { id: wakeUp.kind === 'volume' ? wakeUp.volumeId : wakeUp.clusterId };
}

/** Reads a job's payload. `undefined`: it is none of ours, and running it again would not make it one. */
export function wakeUpOf(kind: WakeUp['kind'], data: unknown): WakeUp | undefined {
  const parsed = jobSchema.safeParse(data);
  if (!parsed.success) return undefined;
  return kind === 'volume'
    ? { kind, volumeId: asId<VolumeId>(parsed.data.id) }
    : { kind, clusterId: asId<ClusterId>(parsed.data.id) };
}
