import { BLOCK_BYTES, VOLUME_BYTES_MAX } from '@holdfast/core/model/bytes.js';
import type {
  ClusterId,
  NodeId,
  ProjectId,
  ReplicaId,
  SnapshotId,
  VolumeId,
} from '@holdfast/core/model/ids.js';
import { REBUILD_HOLDS, REPLICA_COUNT_MAX, REPLICA_COUNT_MIN } from '@holdfast/core/model/volume.js';
import { SNAPSHOT_COUNT_MAX, SNAPSHOT_COUNT_MIN } from '@holdfast/core/policy/volume-spec.js';
import { z } from 'zod';
import { placementExplanationSchema } from '../placements/explanation.schemas.js';
import { dto } from '../platform/dto.js';
import { bytes, conditionSchema, id, pageOf, time, uuid } from '../platform/schemas.js';
import { recurringSnapshotSchema } from '../snapshots/recurring-snapshot.schemas.js';

const tags = z.array(z.string().min(1).max(128)).max(32);
const override = z.enum(['ignored', 'enabled', 'disabled']);

/** What may be said at creation and changed later. */
export const changeable = {
  numberOfReplicas: z.int().min(REPLICA_COUNT_MIN).max(REPLICA_COUNT_MAX),
  nodeSelector: tags,
  diskSelector: tags,
  dataLocality: z.enum(['disabled', 'best-effort', 'strict-local']),
  replicaSoftAntiAffinity: override,
  replicaZoneSoftAntiAffinity: override,
  replicaDiskSoftAntiAffinity: override,
  replicaDiskChoice: z
    .enum(['ignored', 'spread', 'pack'])
    .describe('Which disk of the chosen node: the emptiest, or the fullest that still holds it.'),
  replicaAutoBalance: z.enum(['ignored', 'disabled', 'least-effort', 'best-effort']),
  snapshotDataIntegrity: z
    .enum(['ignored', 'disabled', 'enabled', 'fast-check'])
    .describe('Which of its snapshots are hashed by themselves; ignored: as the cluster says.'),
  snapshotMaxCount: z
    .int()
    .min(0)
    .max(SNAPSHOT_COUNT_MAX)
    .describe(`From ${SNAPSHOT_COUNT_MIN}; 0: as many as the cluster says.`),
  offlineRebuilding: override.describe('Rebuild missing copies while it is detached, too.'),
};

export const sizeSchema = z
  .int()
  .min(BLOCK_BYTES)
  .max(VOLUME_BYTES_MAX)
  .multipleOf(BLOCK_BYTES)
  .describe(`Bytes; a multiple of ${BLOCK_BYTES}.`);

export class CreateVolumeBody extends dto(
  z.strictObject({
    name: z.string().min(1).max(63),
    projectId: id<ProjectId>().optional().describe("Left out: the token's, or the only one."),
    size: sizeSchema,
    dataEngine: z.enum(['v1', 'v2']).optional(),
    ...z.object(changeable).partial().shape,
  }),
) {}

export class PatchVolumeBody extends dto(z.strictObject(changeable).partial()) {}

export class AttachBody extends dto(
  z.strictObject({ nodeId: id<NodeId>().nullish().describe('Left out: a node that holds a copy.') }),
) {}

export class DetachBody extends dto(
  z.strictObject({ force: z.boolean().optional().describe('Do not wait for a holder that may be dead.') }),
) {}

export class ExpandBody extends dto(
  z.strictObject({ size: sizeSchema.describe('The new size, in bytes; a volume can only grow.') }),
) {}

export class CloneBody extends dto(
  z.strictObject({
    snapshotId: id<SnapshotId>(),
    name: z.string().min(1).max(63),
    size: sizeSchema.optional().describe("At least the source's size, which is the default."),
  }),
) {}

/** For actions without parameters: an empty object, or no body at all. */
export class NoBody extends dto(z.strictObject({})) {}

export class VolumePath extends dto(z.object({ clusterId: id<ClusterId>(), volumeId: id<VolumeId>() })) {}

export class ReplicaPath extends dto(
  z.object({ clusterId: id<ClusterId>(), volumeId: id<VolumeId>(), replicaId: id<ReplicaId>() }),
) {}

export const replicaSchema = z
  .object({
    id: uuid,
    volumeId: uuid,
    nodeId: uuid.nullable(),
    diskId: uuid.nullable(),
    zone: z.string().nullable(),
    mode: z.enum(['RW', 'WO', 'ERR']).nullable(),
    state: z.enum(['running', 'stopped', 'rebuilding', 'failed']),
    intent: z.enum(['keep', 'evict', 'remove']),
    size: bytes,
    writtenBytes: bytes,
    healthyAt: time.nullable(),
    lastHealthyAt: time.nullable(),
    failedAt: time.nullable(),
    lastFailedAt: time.nullable(),
    failure: z.object({ reason: z.string(), message: z.string() }).nullable(),
    rebuildRetryCount: z.int(),
    createdAt: time,
  })
  .meta({ id: 'Replica' });

export const verificationSchema = z
  .object({
    state: z.enum(['running', 'done', 'failed']),
    equal: z.boolean().nullable().describe('True when all copies that were compared hold the same bytes.'),
    message: z.string(),
    requestedAt: time,
    finishedAt: time.nullable(),
    replicas: z.array(
      z.object({
        replicaId: uuid,
        checksum: z.string().nullable(),
        writtenBytes: bytes.nullable(),
        error: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'Verification' });

export const volumeSchema = z
  .object({
    id: uuid,
    name: z.string(),
    organizationId: uuid,
    projectId: uuid,
    clusterId: uuid,
    size: bytes,
    writtenBytes: bytes,
    numberOfReplicas: z.int(),
    dataEngine: z.enum(['v1', 'v2']),
    nodeSelector: z.array(z.string()),
    diskSelector: z.array(z.string()),
    dataLocality: changeable.dataLocality,
    replicaSoftAntiAffinity: override,
    replicaZoneSoftAntiAffinity: override,
    replicaDiskSoftAntiAffinity: override,
    replicaDiskChoice: changeable.replicaDiskChoice,
    replicaAutoBalance: changeable.replicaAutoBalance,
    snapshotDataIntegrity: changeable.snapshotDataIntegrity,
    snapshotMaxCount: changeable.snapshotMaxCount,
    offlineRebuilding: changeable.offlineRebuilding,
    integrityCheckedAt: time.nullable().describe('When the periodic check of its snapshots last began.'),
    state: z.enum(['creating', 'detached', 'attaching', 'attached', 'detaching', 'deleting']),
    robustness: z.enum(['healthy', 'degraded', 'faulted', 'unknown']),
    attachedNodeId: uuid.nullable(),
    endpoint: z
      .object({ nbdUri: z.string().nullable().describe('Complete for any NBD client; null for viewers.') })
      .nullable()
      .describe('Not null exactly while the volume is attached.'),
    attention: z
      .object({ code: z.string(), message: z.string(), cures: z.array(z.string()), since: time })
      .nullable()
      .describe('What a person has to decide, when the volume can not go on by itself.'),
    rebuildHold: z
      .enum(REBUILD_HOLDS)
      .nullable()
      .describe('A state of the volume during which no copy of it is rebuilt.'),
    conditions: z.array(conditionSchema),
    replicas: z.array(replicaSchema),
    verification: verificationSchema.nullable(),
    chain: z
      .object({
        headParentId: uuid.nullable().describe('The snapshot that the head stands on.'),
        headBytes: bytes.describe('What was written since, when it was last looked at.'),
        busy: z.string().describe('What is being done to the layers now; empty for nothing.'),
      })
      .nullable()
      .describe('Null until the volume was attached for the first time.'),
    task: z
      .object({
        kind: z.enum(['purge', 'revert', 'expand']),
        size: bytes.nullable().describe('Of an expansion: the size it will have.'),
        snapshotId: uuid.nullable().describe('Of a revert: to which snapshot.'),
        state: z.enum(['waiting', 'running']),
        error: z.string().nullable().describe('Why the last try failed.'),
        waitingFor: z.string().nullable().describe('Why it has not begun yet.'),
        requestedAt: time,
      })
      .nullable()
      .describe('A change of all layers that was asked for and has not ended.'),
    fill: z
      .object({
        sourceVolumeId: uuid,
        snapshotId: uuid,
        bytes: bytes.describe('Written so far.'),
        error: z.string().nullable().describe('Why the last try failed; it is tried again.'),
        waitingFor: z.string().nullable().describe('Why nothing is copied now.'),
      })
      .nullable()
      .describe('Of a clone that is still being filled, which is `creating` meanwhile.'),
    recurringSnapshots: z.array(recurringSnapshotSchema),
    lastDegradedAt: time.nullable(),
    generation: z.int(),
    observedGeneration: z.int(),
    version: z.int(),
    createdAt: time,
  })
  .meta({ id: 'Volume' });

export const explanationSchema = z
  .object({
    volumeId: uuid,
    sentence: z.string().describe('The whole answer in one plain sentence.'),
    scheduled: conditionSchema.nullable(),
    replicas: z.array(
      z.object({
        replicaId: uuid,
        nodeName: z.string().nullable(),
        diskName: z.string().nullable(),
        zone: z.string().nullable(),
        message: z.string(),
        explanation: placementExplanationSchema.nullable(),
        recorded: placementExplanationSchema
          .nullable()
          .describe('Stored when a place was last looked for in vain; null for one that has a place.'),
      }),
    ),
    next: placementExplanationSchema.describe('Of one more replica, as things are now.'),
    recorded: placementExplanationSchema
      .nullable()
      .describe('Stored for a missing copy that has no replica yet.'),
    nextReplica: z
      .object({
        fits: z.boolean(),
        nodeName: z.string().nullable(),
        diskName: z.string().nullable(),
        refusals: z.array(
          z.object({
            nodeName: z.string(),
            diskName: z.string().nullable(),
            rule: z.string(),
            reason: z.string(),
            message: z.string(),
            cure: z.string(),
          }),
        ),
        cures: z.array(z.string()),
      })
      .describe('Where one more replica would go, or which rule refuses each candidate.'),
  })
  .meta({ id: 'Explanation' });

export class VolumeDto extends dto(volumeSchema) {}
export class VolumePage extends dto(pageOf(volumeSchema, 'VolumeList')) {}
export class ReplicaDto extends dto(replicaSchema) {}
export class ReplicaPage extends dto(pageOf(replicaSchema, 'ReplicaList')) {}
export class VerificationDto extends dto(verificationSchema) {}
export class ExplanationDto extends dto(explanationSchema) {}
