import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { asId, type ClusterId, type VolumeId } from '@holdfast/core/model/ids.js';
import type { Lane } from '@holdfast/core/policy/work-lane.js';
import { z } from 'zod';

/**
 * Queue names: one queue for each lane of volumes and one for clusters, so that neither slow volumes nor many of them delay more
 * urgent work. Requests have the name that all volumes' jobs had in earlier versions, some of which may still be in it.
 */
export const VOLUME_QUEUES = {
  safety: 'holdfast-volume-safety',
  request: 'holdfast-volume',
  bulk: 'holdfast-volume-bulk',
} as const satisfies Record<Lane, string>;
export const CLUSTER_QUEUE = 'holdfast-cluster';

/** Payload of a job: an id, because the worker that runs it reads the current state, and the trace that it is part of. */
export const jobSchema = z.strictObject({
  id: z.string().uuid(),
  traceparent: z.string().max(64).optional(),
});
export type Job = z.infer<typeof jobSchema>;

export type ClusterWakeUp = Extract<WakeUp, { kind: 'cluster' }>;
/** A volume's wake-up as a worker gets it. */
export type VolumeWakeUp = Extract<WakeUp, { kind: 'volume' }> & { readonly lane: Lane };

export function jobOf(wakeUp: WakeUp): Job {
  const { traceparent } = wakeUp;
  const id = wakeUp.kind === 'volume' ? wakeUp.volumeId : wakeUp.clusterId;
  return traceparent === undefined ? { id } : { id, traceparent };
}

/** The wake-up in a payload. `undefined`: the job is not Holdfast's, and another run would not change that. */
export function volumeWakeUp(lane: Lane, data: unknown): VolumeWakeUp | undefined {
  const parsed = jobSchema.safeParse(data);
  if (!parsed.success) return undefined;
  return { kind: 'volume', volumeId: asId<VolumeId>(parsed.data.id), lane, ...tracedBy(parsed.data) };
}

export function clusterWakeUp(data: unknown): ClusterWakeUp | undefined {
  const parsed = jobSchema.safeParse(data);
  if (!parsed.success) return undefined;
  return { kind: 'cluster', clusterId: asId<ClusterId>(parsed.data.id), ...tracedBy(parsed.data) };
}

function tracedBy({ traceparent }: Job): Pick<WakeUp, 'traceparent'> {
  return traceparent === undefined ? {} : { traceparent };
}
