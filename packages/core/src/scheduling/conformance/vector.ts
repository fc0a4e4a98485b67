/**
 * The form of a conformance vector: one decision of Longhorn's scheduler, its input and all answers it may give.
 *
 * Fields that are left out when empty get their empty value here, so that nothing further on asks for them.
 */
import { z } from 'zod';

const bytes = z.int();
const name = z.string();
/** RFC 3339 in UTC, or empty. One vector has a time that can't be read on purpose, so it is not checked here. */
const time = z.string();
const flag = z.boolean().default(false);
/** The recorder wrote an empty list as null in some places. */
const listOf = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);
const list = listOf(z.string());
const autoBalance = z.string();
const override = z.enum(['ignored', 'enabled', 'disabled', '']);

const settings = z.object({
  replicaSoftAntiAffinity: z.boolean(),
  replicaZoneSoftAntiAffinity: z.boolean(),
  replicaDiskSoftAntiAffinity: z.boolean(),
  allowEmptyNodeSelectorVolume: z.boolean(),
  allowEmptyDiskSelectorVolume: z.boolean(),
  disableSchedulingOnCordonedNode: z.boolean(),
  storageOverProvisioningPercentage: z.int(),
  storageMinimalAvailablePercentage: z.int(),
  replicaAutoBalance: autoBalance,
  replicaAutoBalanceDiskPressurePercentage: z.int(),
  replicaReplenishmentWaitInterval: z.int(),
  fastReplicaRebuildEnabledV1: z.boolean(),
  fastReplicaRebuildEnabledV2: z.boolean(),
});

const disk = z.object({
  id: name,
  type: z.enum(['filesystem', 'block']),
  fsType: z.string().default(''),
  tags: list,
  allowScheduling: z.boolean(),
  evictionRequested: flag,
  missingFromSpec: flag,
  storageMaximum: bytes,
  storageAvailable: bytes,
  storageReserved: bytes,
  storageScheduled: bytes,
  scheduledReplicas: z
    .record(name, bytes)
    .nullish()
    .transform((sizes) => sizes ?? {}),
  ready: z.boolean(),
  schedulable: z.boolean(),
  schedulableReason: z.string().default(''),
});

const node = z.object({
  name,
  zone: z.string().default(''),
  region: z.string().default(''),
  tags: list,
  ready: z.boolean(),
  cordoned: flag,
  schedulable: z.boolean(),
  allowScheduling: z.boolean(),
  evictionRequested: flag,
  deleting: flag,
  engineImageReady: z.boolean(),
  instanceManagerState: z.string(),
  v2DataEngineDisabled: flag,
  disks: listOf(disk),
});

const volume = z.object({
  name,
  size: bytes,
  actualSize: bytes,
  numberOfReplicas: z.int(),
  nodeSelector: list,
  diskSelector: list,
  dataEngine: z.enum(['v1', 'v2']),
  dataLocality: z.enum(['disabled', 'best-effort', 'strict-local']),
  attachedNodeId: z.string(),
  robustness: z.string(),
  lastDegradedAt: time.default(''),
  replicaSoftAntiAffinity: override,
  replicaZoneSoftAntiAffinity: override,
  replicaDiskSoftAntiAffinity: override,
  replicaAutoBalance: autoBalance,
  topologyRequirement: listOf(z.object({ zone: z.string().default(''), region: z.string().default('') })),
  backingImage: z
    .object({ nodeSelector: list, diskSelector: list })
    .nullish()
    .transform((image) => image ?? undefined),
  linkedCloneOfVolume: z.string().default(''),
});

const replica = z.object({
  name,
  nodeId: z.string(),
  diskId: z.string(),
  size: bytes,
  healthyAt: time,
  failedAt: time,
  active: z.boolean(),
  evictionRequested: flag,
  deleting: flag,
  rebuildRetryCount: z.int(),
  hardNodeAffinity: z.string().default(''),
  linkedCloneSrcReplicaName: z.string().default(''),
  volumeName: z.string().default(''),
});

const choice = z.object({ nodeId: name, diskId: name });
const answer = z.union([
  choice.extend({ acceptable: z.array(choice), candidates: z.array(name).optional() }),
  z.object({ unschedulable: z.literal(true), reasons: list }),
]);

const cluster = z.object({
  name,
  category: z.string(),
  now: time,
  /** False: the recorded conditions may be stale. They are what Longhorn's scheduler read in any case. */
  conditionsDerived: flag,
  settings,
  nodes: z.array(node),
});
const ofVolume = cluster.extend({
  volume,
  existingReplicas: listOf(replica),
  linkedCloneSourceReplicas: listOf(replica),
});

const unit = z.object({ name, category: z.string() });
const diskFigures = z.object({
  storageMaximum: bytes,
  storageAvailable: bytes,
  storageReserved: bytes,
  storageScheduled: bytes,
});
const limitedDisk = diskFigures.extend({
  storageOverProvisioningPercentage: z.int(),
  storageMinimalAvailablePercentage: z.int(),
});
const verdict = z.object({ result: z.boolean() });

export const vectorSchema = z.discriminatedUnion('op', [
  ofVolume.extend({ op: z.literal('schedule-replica'), replicaToSchedule: replica, expected: answer }),
  ofVolume.extend({
    op: z.literal('schedule-volume'),
    steps: z.array(z.object({ replica: name, preassignedNodeId: z.string().default(''), expected: answer })),
  }),
  cluster.extend({
    op: z.literal('workload'),
    volumes: z.array(volume),
    steps: z.array(z.object({ volume: name, replica: name, expected: answer })),
  }),
  ofVolume.extend({
    op: z.literal('reuse-failed-replica'),
    hardNodeAffinity: z.string().default(''),
    expectedReuse: z.object({
      acceptableReplicas: listOf(name),
      requireNewReplicaWaitSeconds: z.int(),
    }),
  }),
  unit.extend({
    op: z.literal('pick-disk'),
    input: z.object({ replicaSize: bytes, candidates: z.array(diskFigures.extend(choice.shape)) }),
    expected: answer,
  }),
  unit.extend({
    op: z.literal('is-schedulable-to-disk'),
    input: z.object({ size: bytes, requiredStorage: bytes, disk: limitedDisk }),
    expected: verdict,
  }),
  unit.extend({
    op: z.literal('is-disk-under-pressure'),
    input: z.object({ diskPressurePercentage: z.int(), disk: limitedDisk }),
    expected: verdict,
  }),
  unit.extend({
    op: z.literal('is-schedulable-considering-disk-pressure'),
    input: z.object({
      diskPressurePercentage: z.int(),
      size: bytes,
      requiredStorage: bytes,
      disk: limitedDisk,
    }),
    expected: verdict,
  }),
  unit.extend({
    op: z.literal('validate-disk-for-expansion'),
    input: z.object({ requiredBytes: bytes, disk: limitedDisk }),
    expected: verdict,
  }),
  unit.extend({
    op: z.literal('selectors-in-tags'),
    input: z.object({ tags: list, selectors: list, allowEmptySelector: z.boolean() }),
    expected: verdict,
  }),
]);

export type Vector = z.infer<typeof vectorSchema>;
export type VectorOf<Op extends Vector['op']> = Extract<Vector, { op: Op }>;
export type VectorNode = z.infer<typeof node>;
export type VectorDisk = z.infer<typeof disk>;
export type VectorVolume = z.infer<typeof volume>;
export type VectorReplica = z.infer<typeof replica>;
export type VectorSettings = z.infer<typeof settings>;
export type VectorAnswer = z.infer<typeof answer>;
export type DiskFigures = z.infer<typeof diskFigures>;
export type LimitedDisk = z.infer<typeof limitedDisk>;

/** These follow Longhorn's bugs too and are informative only; they are left out of a run. */
const INFORMATIVE_OPS: ReadonlySet<unknown> = new Set(['auto-balance', 'auto-balance-cleanup']);

const header = z.object({ op: z.string() });

export function isInformative(vector: unknown): boolean {
  const parsed = header.safeParse(vector);
  return parsed.success && INFORMATIVE_OPS.has(parsed.data.op);
}
