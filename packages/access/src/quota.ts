/**
 * Quotas of organizations and projects: what is counted, what is more than allowed, and how that is told.
 *
 * Provisioned bytes are the sizes of volumes as users see them; physical bytes are these times the wanted copies, whether they
 * are placed or not. A volume that grows counts with the size that it grows to from the moment that was asked for. Snapshots
 * are those of users and of their schedules.
 */
import { formatBytes } from '@holdfast/core/model/bytes.js';
import type { QuotaScope } from '@holdfast/core/model/views.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { layerTaskOf } from '@holdfast/core/model/volume-task.js';
import { type Refusal, refuse } from '@holdfast/core/policy/decision.js';

export const QUOTA_DIMENSIONS = ['provisionedBytes', 'physicalBytes', 'volumes', 'snapshots'] as const;
export type QuotaDimension = (typeof QUOTA_DIMENSIONS)[number];

export type QuotaUse = Readonly<Record<QuotaDimension, number>>;
/**
 * A dimension that is left out has no limit. Running rebuilds are no dimension of use: a change that needs one is not refused,
 * it waits for admission.
 */
export type QuotaLimits = Readonly<Partial<Record<QuotaDimension | 'runningRebuilds', number | undefined>>>;

export const NO_USE: QuotaUse = { provisionedBytes: 0, physicalBytes: 0, volumes: 0, snapshots: 0 };

/** A limit that would be passed. */
export type PassedQuota = {
  readonly scope: QuotaScope;
  readonly dimension: QuotaDimension;
  readonly limit: number;
  readonly used: number;
  readonly asked: number;
};

const WORDS: Record<QuotaDimension, { noun: string; frees: string }> = {
  provisionedBytes: { noun: 'provisioned bytes', frees: 'delete volumes that are not needed' },
  physicalBytes: {
    noun: 'physical bytes',
    frees: 'delete volumes that are not needed, or want fewer copies',
  },
  volumes: { noun: 'volumes', frees: 'delete volumes that are not needed' },
  snapshots: { noun: 'snapshots', frees: 'delete snapshots that are not needed, or keep fewer' },
};

const OWNERS: Record<QuotaScope, { who: string; cure: string }> = {
  organization: { who: 'the organization', cure: 'ask an admin to raise the quota of the organization' },
  project: { who: 'the project', cure: 'ask an admin to raise the quota of the project' },
  grant: {
    who: "by its grant in another organization's cluster, the organization",
    cure: "ask an admin of the cluster's organization for more",
  },
};

/** What a volume uses, without its snapshots. */
export function useOfVolume(volume: Pick<Volume, 'spec' | 'task'>): QuotaUse {
  const { sizeBytes, numberOfReplicas } = volume.spec;
  const task = layerTaskOf(volume);
  const provisionedBytes = Math.max(sizeBytes, task?.kind === 'expand' ? task.sizeBytes : 0);
  return {
    provisionedBytes,
    physicalBytes: provisionedBytes * numberOfReplicas,
    volumes: 1,
    snapshots: 0,
  };
}

export function addedUse(one: QuotaUse, other: QuotaUse): QuotaUse {
  return {
    provisionedBytes: one.provisionedBytes + other.provisionedBytes,
    physicalBytes: one.physicalBytes + other.physicalBytes,
    volumes: one.volumes + other.volumes,
    snapshots: one.snapshots + other.snapshots,
  };
}

/**
 * The first limit that a change passes; `undefined`: none. What shrinks is allowed although a limit that was lowered since is
 * passed.
 */
export function passedQuota(
  scope: QuotaScope,
  limits: QuotaLimits,
  { before, after }: { before: QuotaUse; after: QuotaUse },
): PassedQuota | undefined {
  for (const dimension of QUOTA_DIMENSIONS) {
    const limit = limits[dimension];
    const asked = after[dimension] - before[dimension];
    if (limit === undefined || asked <= 0 || after[dimension] <= limit) continue;
    return { scope, dimension, limit, used: before[dimension], asked };
  }
  return undefined;
}

/** The refusal in words: which quota, how much of it is used, and what would help. */
export function quotaRefusal(passed: PassedQuota): Refusal<'quota.exceeded'> {
  const { scope, dimension, limit, used, asked } = passed;
  const { noun, frees } = WORDS[dimension];
  const told = (amount: number) => (dimension.endsWith('Bytes') ? formatBytes(amount) : String(amount));
  const { who, cure } = OWNERS[scope];
  const why = `${who} may have ${told(limit)} of ${noun}; it has ${told(used)}, and this needs ${told(asked)} more`;
  return refuse('quota.exceeded', why, [frees, cure], {
    ...passed,
  });
}
