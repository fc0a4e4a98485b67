import { BLOCK_BYTES, VOLUME_BYTES_MAX } from '@holdfast/core/model/bytes.js';
import type { NodeId, ProjectId, ReplicaId, SnapshotId, VolumeId } from '@holdfast/core/model/ids.js';
import { RELOCATION_REASONS } from '@holdfast/core/model/relocation.js';
import { REBUILD_RETRIES_MAX } from '@holdfast/core/model/replica.js';
import { REBUILD_HOLDS, REPLICA_COUNT_MAX, REPLICA_COUNT_MIN } from '@holdfast/core/model/volume.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { labelChanges, labelsSchema, newLabels } from '../../http/label-schemas.js';
import { bytes, conditionSchema, id, pageOf, time, uuid, version } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';
import { placementExplanationSchema } from './explanation.schemas.js';
import { overrideSchemas } from './override-schemas.js';
import { recurringSnapshotSchema } from './recurring-snapshot.schemas.js';

const tags = z.array(z.string().min(1).max(128)).max(32);
const volumeIdInPath = id<VolumeId>().describe('Id of the volume.');
const newName = z
  .string()
  .min(1)
  .max(63)
  .describe('Unique in the project; 1 to 63 of a-z, 0-9, - and the dot. It is part of the NBD export name.');

export const dataEngine = z
  .enum(['v1', 'v2'])
  .describe('`v1` keeps copies in folders, `v2` on block disks; left out: `v1`.');

/** Fields that are set at creation and may be changed later. */
export const changeable = {
  numberOfReplicas: z
    .int()
    .min(REPLICA_COUNT_MIN)
    .max(REPLICA_COUNT_MAX)
    .describe('Desired number of copies, each on another node if required.'),
  nodeSelector: tags.describe('Tags that a node must have, all of them, to hold a copy; empty: any node.'),
  diskSelector: tags.describe('Tags that a disk must have, all of them, to hold a copy; empty: any disk.'),
  dataLocality: z
    .enum(['disabled', 'best-effort', 'strict-local'])
    .describe(
      '`best-effort`: keep a copy on the node of its engine; `strict-local`: its only copy is there.',
    ),
  ...overrideSchemas,
};

const label = z.string().min(1).max(128).optional();

/** Fields that are set at creation only. */
export const topologyRequirement = z
  .array(
    z.strictObject({
      zone: label.describe('Required zone of a node; left out: any.'),
      region: label.describe('Required region of a node; left out: any.'),
    }),
  )
  .max(32)
  .describe('Allowed topology of copies: a node has to match any of the terms; empty: all nodes.');

export const sizeSchema = z
  .int()
  .min(BLOCK_BYTES)
  .max(VOLUME_BYTES_MAX)
  .multipleOf(BLOCK_BYTES)
  .describe(`Size of the block device in bytes; a multiple of ${BLOCK_BYTES}.`);

export class CreateVolumeBody extends dto(
  z.strictObject({
    name: newName,
    projectId: id<ProjectId>()
      .optional()
      .describe("Id of the project; left out: the token's, or the only one."),
    size: sizeSchema,
    dataEngine: dataEngine.optional(),
    topologyRequirement: topologyRequirement.optional(),
    labels: newLabels.optional(),
    ...z.object(changeable).partial().shape,
  }),
) {}

export class PatchVolumeBody extends dto(z.strictObject({ ...changeable, labels: labelChanges }).partial()) {}

export class AttachBody extends dto(
  z.strictObject({
    nodeId: id<NodeId>()
      .nullish()
      .describe('Id of the node for its engine; null or left out: a node with a copy.'),
  }),
) {}

export class DetachBody extends dto(
  z.strictObject({
    force: z.boolean().optional().describe('True: do not wait for an unreachable previous holder.'),
  }),
) {}

export class ExpandBody extends dto(
  z.strictObject({ size: sizeSchema.describe('New size, in bytes; a volume can only grow.') }),
) {}

export class CloneBody extends dto(
  z.strictObject({
    snapshotId: id<SnapshotId>().describe('Id of the snapshot with the contents of the new volume.'),
    name: newName,
    size: sizeSchema.optional().describe("Size in bytes; at least, and by default, the source's size."),
  }),
) {}

export class VolumePath extends dto(z.object({ clusterId: clusterIdInPath, volumeId: volumeIdInPath })) {}

export class ReplicaPath extends dto(
  z.object({
    clusterId: clusterIdInPath,
    volumeId: volumeIdInPath,
    replicaId: id<ReplicaId>().describe('Id of the replica.'),
  }),
) {}

export const replicaSchema = z
  .object({
    id: uuid.describe('Id of the replica.'),
    volumeId: uuid.describe('Id of its volume.'),
    nodeId: uuid.nullable().describe('Id of its node; null: no place was found yet.'),
    diskId: uuid.nullable().describe('Id of its disk; null: no place was found yet.'),
    zone: z.string().nullable().describe('Zone of its node; null: no place yet, or no zone label.'),
    mode: z
      .enum(['RW', 'WO', 'ERR'])
      .nullable()
      .describe(
        'Mode in the engine: `RW` read and written, `WO` written while it is rebuilt, `ERR` dropped. ' +
          'Null: no engine runs.',
      ),
    state: z
      .enum(['running', 'stopped', 'rebuilding', 'failed'])
      .describe('State of the copy; `stopped`: no engine uses it, and no failure is known.'),
    intent: z
      .enum(['keep', 'evict', 'remove'])
      .describe('Desired state. `evict`: replace it first, then remove it; `remove`: drop it now.'),
    size: bytes.describe('Nominal size in bytes, which is booked on its disk.'),
    writtenBytes: bytes.describe('Bytes of it that hold data.'),
    healthyAt: time.nullable().describe('Time at which it last became a full copy; null: it is none.'),
    lastHealthyAt: time
      .nullable()
      .describe('As `healthyAt`, but kept when a rebuild of it starts; null: never.'),
    failedAt: time.nullable().describe('Time of its failure; null: it has not failed.'),
    lastFailedAt: time.nullable().describe('As `failedAt`, but kept when it is reused; null: never.'),
    failure: z
      .object({
        reason: z.string().describe('Stable code of the cause.'),
        message: z.string().describe('The cause for people.'),
      })
      .nullable()
      .describe('Cause of its failure; null: it has not failed, or the cause is unknown.'),
    relocation: z
      .object({
        reason: z
          .enum(RELOCATION_REASONS)
          .describe(
            'Reason for the move: `requested`: by a user; `selector`: its place does not match any more; `locality`: to the node of the engine; `balance`: for an even spread.',
          ),
        replacesReplicaId: uuid.describe('Id of the copy that is removed once this one is full.'),
        gain: z.string().describe('Benefit of the move, for people.'),
        at: time.describe('Time of the decision.'),
      })
      .nullable()
      .describe('Set while it replaces another copy, until that one is gone; null: it replaces none.'),
    rebuildRetryCount: z
      .int()
      .describe(`Number of failed rebuilds of its data; at ${REBUILD_RETRIES_MAX} it is given up.`),
    createdAt: time.describe("Time of the replica's creation."),
  })
  .meta({ id: 'Replica' });

export const verificationSchema = z
  .object({
    state: z
      .enum(['running', 'done', 'failed'])
      .describe('`done`: copies were compared, with the result in `equal`; `failed`: they could not be.'),
    equal: z
      .boolean()
      .nullable()
      .describe('True: all compared copies hold the same bytes; null: unknown, or not known yet.'),
    verdict: z
      .enum(['equal', 'damaged', 'tie', 'unjudged'])
      .nullable()
      .describe(
        '`damaged`: a majority agrees, and the others have failed; `tie`: no majority, so a user decides; `unjudged`: they differ, and may do so until the next attach; null: unknown, or not known yet.',
      ),
    message: z.string().describe('The result in a sentence; while it runs, the number of copies read.'),
    requestedAt: time.describe('Time of the request.'),
    finishedAt: time.nullable().describe('Time of its end; null: it runs.'),
    replicas: z
      .array(
        z.object({
          replicaId: uuid.describe('The copy.'),
          checksum: z
            .string()
            .nullable()
            .describe('BLAKE3 checksum of the whole copy, in hex; null: it was not read completely.'),
          writtenBytes: bytes
            .nullable()
            .describe('Bytes of it that hold data; null: it was not read completely.'),
          error: z.string().nullable().describe('Error of reading it; null: none.'),
        }),
      )
      .describe('Each copy that was read.'),
  })
  .meta({ id: 'Verification' });

const lastError = z
  .string()
  .nullable()
  .describe('Error of the last failed try, which is repeated; null: none.');

export const volumeSchema = z
  .object({
    id: uuid.describe('Id of the volume.'),
    name: z.string().describe('Unique in the project.'),
    organizationId: uuid.describe('Id of the organization that owns it.'),
    projectId: uuid.describe('Id of its project.'),
    clusterId: uuid.describe('Id of its cluster.'),
    size: bytes.describe('Size of the block device in bytes.'),
    writtenBytes: bytes.describe('Bytes that hold data, of the fullest copy.'),
    numberOfReplicas: z.int().describe('Desired number of copies.'),
    dataEngine: z.enum(['v1', 'v2']).describe('`v1` keeps copies in folders, `v2` on block disks.'),
    nodeSelector: z
      .array(z.string())
      .describe('Tags that a node must have, all of them, to hold a copy; empty: any node.'),
    diskSelector: z
      .array(z.string())
      .describe('Tags that a disk must have, all of them, to hold a copy; empty: any disk.'),
    topologyRequirement,
    dataLocality: changeable.dataLocality,
    labels: labelsSchema,
    ...overrideSchemas,
    integrityCheckedAt: time
      .nullable()
      .describe('Start of the last periodic check of its snapshots; null: never.'),
    state: z
      .enum(['creating', 'detached', 'attaching', 'attached', 'detaching', 'deleting'])
      .describe('`creating` until all copies exist and, for a clone, are filled.'),
    robustness: z
      .enum(['healthy', 'degraded', 'faulted', 'unknown'])
      .describe(
        '`degraded`: fewer full copies than desired; `faulted`: none; `unknown`: the nodes of its copies are unreachable, or it was not assessed yet.',
      ),
    attachedNodeId: uuid
      .nullable()
      .describe(
        'Id of the node of its engine, also while attaching; null: not attached, or no node is chosen yet.',
      ),
    endpoint: z
      .object({
        nbdUri: z
          .string()
          .nullable()
          .describe("URI for any NBD client, with the attachment's secret; null for viewers."),
      })
      .nullable()
      .describe('Address for clients; null exactly while it is not attached.'),
    attention: z
      .object({
        code: z.string().describe('Stable code of the problem.'),
        message: z.string().describe('Description of the problem, for people.'),
        cures: z.array(z.string()).describe('Actions for a user; empty: none is needed.'),
        since: time.describe('Since when.'),
      })
      .nullable()
      .describe("Obstacle to the volume's work; null: none."),
    rebuildHold: z
      .enum(REBUILD_HOLDS)
      .nullable()
      .describe('A state of the volume during which no copy of it is rebuilt; null: none.'),
    conditions: z
      .array(conditionSchema)
      .describe('Conditions, such as `Scheduled`: whether every copy has a place.'),
    replicas: z.array(replicaSchema).describe('Its copies, in the order of their ids.'),
    verification: verificationSchema
      .nullable()
      .describe('The last comparison of all copies; null: none yet.'),
    chain: z
      .object({
        headParentId: uuid.nullable().describe('Id of the parent of the head; null: none.'),
        headBytes: bytes.describe('Bytes written since that snapshot, as last reported by the engine.'),
        busy: z.string().describe('Running work on the layers; empty: none.'),
      })
      .nullable()
      .describe('Its layers as last reported by the engine; null until the first attach.'),
    task: z
      .object({
        kind: z.enum(['purge', 'revert', 'expand']).describe('The requested change.'),
        size: bytes.nullable().describe('Size after an expansion, in bytes; null for other tasks.'),
        snapshotId: uuid.nullable().describe('Id of the snapshot of a revert; null for other tasks.'),
        state: z.enum(['waiting', 'running']).describe('`running`: the engine has been requested to do it.'),
        error: lastError,
        waitingFor: z.string().nullable().describe('The limit that delays its start; null: none.'),
        requestedAt: time.describe('Time of the request.'),
      })
      .nullable()
      .describe('The pending change of all layers; null: none.'),
    fill: z
      .object({
        sourceVolumeId: uuid.describe('Id of its source volume.'),
        snapshotId: uuid.describe("Id of the source's snapshot."),
        bytes: bytes.describe('Bytes written so far.'),
        error: lastError,
        waitingFor: z.string().nullable().describe('The limit that delays its copying; null: none.'),
      })
      .nullable()
      .describe('Progress of filling a clone, which is `creating` meanwhile; null: filled, or no clone.'),
    recurringSnapshots: z
      .array(recurringSnapshotSchema)
      .describe('Its recurring snapshots, in the order of their names.'),
    lastDegradedAt: time.nullable().describe('Begin of being degraded; null: it is not degraded.'),
    generation: z.int().describe('Grows with each change of the desired state.'),
    observedGeneration: z
      .int()
      .describe('The newest reconciled generation; equal to `generation` when all work is done.'),
    version,
    createdAt: time.describe('Time of its creation.'),
  })
  .meta({ id: 'Volume' });

export const explanationSchema = z
  .object({
    volumeId: uuid.describe('Id of the volume.'),
    sentence: z.string().describe('The whole answer in one plain sentence.'),
    scheduled: conditionSchema.nullable().describe('True: every copy has a place; null: not assessed yet.'),
    replicas: z
      .array(
        z.object({
          replicaId: uuid.describe('The replica.'),
          nodeName: z.string().nullable().describe('Name of its node; null: it has no place.'),
          diskName: z.string().nullable().describe('Name of its disk; null: it has no place.'),
          zone: z
            .string()
            .nullable()
            .describe("Its node's zone; null: no place, or a node without zone label."),
          message: z.string().describe('Its place, in words.'),
          explanation: placementExplanationSchema
            .nullable()
            .describe("The scheduler's present explanation; null: it was not run."),
          recorded: placementExplanationSchema
            .nullable()
            .describe('Explanation stored at the last search without a place; null: it has a place.'),
        }),
      )
      .describe('Each replica with the reasons for its place.'),
    next: placementExplanationSchema.describe('Explanation for one more replica, as of now.'),
    recorded: placementExplanationSchema
      .nullable()
      .describe('Explanation stored for a missing copy without a replica; null: none.'),
    nextReplica: z
      .object({
        fits: z.boolean().describe('True: one more replica has a place.'),
        nodeName: z.string().nullable().describe('Name of its node; null: it fits nowhere.'),
        diskName: z.string().nullable().describe('Name of its disk; null: it fits nowhere.'),
        refusals: z
          .array(
            z.object({
              nodeName: z.string().describe('Name of the refused node, or of the node of the refused disk.'),
              diskName: z
                .string()
                .nullable()
                .describe('Name of the refused disk; null: the whole node was refused.'),
              rule: z.string().describe('Name of the rule that refused it.'),
              reason: z.string().describe('Stable code of the reason.'),
              message: z.string().describe('The reason for people, with its numbers.'),
              cure: z.string().describe('Remedy of this refusal.'),
            }),
          )
          .describe('Every refused candidate, with the first rule that refused it.'),
        cures: z.array(z.string()).describe('Possible remedies, each once; empty: it fits.'),
      })
      .describe('Place of one more replica, or the rule that refuses each candidate.'),
  })
  .meta({ id: 'Explanation' });

export class VolumeDto extends dto(volumeSchema) {}
export class VolumePage extends dto(pageOf(volumeSchema, 'VolumeList')) {}
export class ReplicaDto extends dto(replicaSchema) {}
export class ReplicaPage extends dto(pageOf(replicaSchema, 'ReplicaList')) {}
export class VerificationDto extends dto(verificationSchema) {}
export class ExplanationDto extends dto(explanationSchema) {}

export class RevertBody extends dto(
  z.strictObject({
    snapshotId: id<SnapshotId>().describe('Id of the snapshot to revert to; later writes are lost.'),
  }),
) {}
