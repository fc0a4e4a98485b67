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
  .describe('Unique in the project; 1 to 63 of a-z, 0-9, - and the dot. It ends up in the NBD export name.');

export const dataEngine = z
  .enum(['v1', 'v2'])
  .describe('`v1` keeps copies in folders, `v2` on block disks; left out: `v1`.');

/** What may be said at creation and changed later. */
export const changeable = {
  numberOfReplicas: z
    .int()
    .min(REPLICA_COUNT_MIN)
    .max(REPLICA_COUNT_MAX)
    .describe('Copies to keep, each on another node where that is required.'),
  nodeSelector: tags.describe('Tags that a node must have, all of them, to hold a copy; empty: any node.'),
  diskSelector: tags.describe('Tags that a disk must have, all of them, to hold a copy; empty: any disk.'),
  dataLocality: z
    .enum(['disabled', 'best-effort', 'strict-local'])
    .describe(
      '`best-effort`: keep a copy on the node it is attached to; `strict-local`: its only copy is there.',
    ),
  ...overrideSchemas,
};

const label = z.string().min(1).max(128).optional();

/** What may be said at creation only. */
export const topologyRequirement = z
  .array(
    z.strictObject({
      zone: label.describe('The zone that a node must be in; left out: any.'),
      region: label.describe('The region that a node must be in; left out: any.'),
    }),
  )
  .max(32)
  .describe('Where copies may be: a node has to match any of the terms; empty: anywhere.');

export const sizeSchema = z
  .int()
  .min(BLOCK_BYTES)
  .max(VOLUME_BYTES_MAX)
  .multipleOf(BLOCK_BYTES)
  .describe(`Size of the block device in bytes; a multiple of ${BLOCK_BYTES}.`);

export class CreateVolumeBody extends dto(
  z.strictObject({
    name: newName,
    projectId: id<ProjectId>().optional().describe("Left out: the token's, or the only one."),
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
      .describe('The node to serve it on; null or left out: a node that holds a copy.'),
  }),
) {}

export class DetachBody extends dto(
  z.strictObject({
    force: z.boolean().optional().describe('True: do not wait for a holder that may be dead.'),
  }),
) {}

export class ExpandBody extends dto(
  z.strictObject({ size: sizeSchema.describe('The new size, in bytes; a volume can only grow.') }),
) {}

export class CloneBody extends dto(
  z.strictObject({
    snapshotId: id<SnapshotId>().describe('The snapshot whose contents the new volume gets.'),
    name: newName,
    size: sizeSchema.optional().describe("Bytes; at least the source's size, which is the default."),
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
    volumeId: uuid.describe('The volume that it is a copy of.'),
    nodeId: uuid.nullable().describe('The node it is on; null: no place was found for it yet.'),
    diskId: uuid.nullable().describe('The disk it is on; null: no place was found for it yet.'),
    zone: z
      .string()
      .nullable()
      .describe("Its node's zone; null: no place yet, or a node without zone label."),
    mode: z
      .enum(['RW', 'WO', 'ERR'])
      .nullable()
      .describe(
        'How the engine uses it: `RW` read and written, `WO` written while it is rebuilt, `ERR` dropped. ' +
          'Null: no engine runs.',
      ),
    state: z
      .enum(['running', 'stopped', 'rebuilding', 'failed'])
      .describe('`stopped`: no engine uses it, and nothing is known to be wrong with it.'),
    intent: z
      .enum(['keep', 'evict', 'remove'])
      .describe('What is wanted of it. `evict`: replace it first, then remove it; `remove`: drop it now.'),
    size: bytes.describe('Nominal bytes, which are booked on its disk.'),
    writtenBytes: bytes.describe('Bytes of it that hold data.'),
    healthyAt: time.nullable().describe('When it last became a full copy; null: it is none.'),
    lastHealthyAt: time.nullable().describe('As `healthyAt`, kept when a rebuild of it begins; null: never.'),
    failedAt: time.nullable().describe('When it stopped being a full copy; null: it has not failed.'),
    lastFailedAt: time.nullable().describe('As `failedAt`, kept when it is reused; null: never.'),
    failure: z
      .object({
        reason: z.string().describe('Stable code of the cause.'),
        message: z.string().describe('The cause for people.'),
      })
      .nullable()
      .describe('Why it failed; null: it has not, or the cause is not known.'),
    relocation: z
      .object({
        reason: z
          .enum(RELOCATION_REASONS)
          .describe(
            'Why the copy moves: a user wants it; `selector`: its place does not match any more; `locality`: to the node of the engine; `balance`: for an even spread.',
          ),
        replacesReplicaId: uuid.describe('The copy that goes when this one is full.'),
        gain: z.string().describe('What is better afterwards, for people.'),
        at: time.describe('When it was decided.'),
      })
      .nullable()
      .describe('Set while it replaces another copy, until that one is gone; null: it replaces none.'),
    rebuildRetryCount: z
      .int()
      .describe(`Number of its reuses whose rebuild failed; at ${REBUILD_RETRIES_MAX} it is given up.`),
    createdAt: time.describe('When the replica was created.'),
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
      .describe('True when all copies that were compared hold the same bytes; null: not known (yet).'),
    verdict: z
      .enum(['equal', 'damaged', 'tie', 'unjudged'])
      .nullable()
      .describe(
        '`damaged`: most copies agree, and the others have failed; `tie`: no majority, so a person decides; `unjudged`: they differ, and may do so until the next attach; null: not known (yet).',
      ),
    message: z.string().describe('The result in a sentence; while it runs, how many copies have been read.'),
    requestedAt: time.describe('When it was asked for.'),
    finishedAt: time.nullable().describe('When it ended; null: it runs.'),
    replicas: z
      .array(
        z.object({
          replicaId: uuid.describe('The copy.'),
          checksum: z
            .string()
            .nullable()
            .describe('BLAKE3 checksum of the whole copy, in hex; null: it was not read to its end.'),
          writtenBytes: bytes
            .nullable()
            .describe('Bytes of it that hold data; null: it was not read to its end.'),
          error: z.string().nullable().describe('Why it could not be read; null: it could.'),
        }),
      )
      .describe('Each copy that was read.'),
  })
  .meta({ id: 'Verification' });

const lastError = z
  .string()
  .nullable()
  .describe('Why the last try failed, which is repeated; null: it did not.');

export const volumeSchema = z
  .object({
    id: uuid.describe('Id of the volume.'),
    name: z.string().describe('Unique in the project.'),
    organizationId: uuid.describe('The organization that owns it.'),
    projectId: uuid.describe('The project it belongs to.'),
    clusterId: uuid.describe('The cluster that keeps it.'),
    size: bytes.describe('Size of the block device in bytes.'),
    writtenBytes: bytes.describe('Bytes that hold data, of the fullest copy.'),
    numberOfReplicas: z.int().describe('Copies that are wanted.'),
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
      .describe('When the periodic check of its snapshots last began; null: never.'),
    state: z
      .enum(['creating', 'detached', 'attaching', 'attached', 'detaching', 'deleting'])
      .describe('`creating` until all copies are made and, of a clone, filled.'),
    robustness: z
      .enum(['healthy', 'degraded', 'faulted', 'unknown'])
      .describe(
        '`degraded`: fewer full copies than wanted; `faulted`: none; `unknown`: the nodes that could tell do not answer, or it was not judged yet.',
      ),
    attachedNodeId: uuid
      .nullable()
      .describe(
        'The node that serves it, or will; null: it is neither attached nor attaching to a chosen one.',
      ),
    endpoint: z
      .object({
        nbdUri: z
          .string()
          .nullable()
          .describe("URI for any NBD client, with the attachment's secret; null for viewers."),
      })
      .nullable()
      .describe('Where clients reach it; null exactly while it is not attached.'),
    attention: z
      .object({
        code: z.string().describe('Stable code of what is wrong.'),
        message: z.string().describe('What is wrong, for people.'),
        cures: z.array(z.string()).describe('What a user may do; empty: it passes without a user.'),
        since: time.describe('Since when.'),
      })
      .nullable()
      .describe('What keeps the volume from going on; null: nothing.'),
    rebuildHold: z
      .enum(REBUILD_HOLDS)
      .nullable()
      .describe('A state of the volume during which no copy of it is rebuilt; null: none.'),
    conditions: z
      .array(conditionSchema)
      .describe('What else is to be known, such as `Scheduled`: whether every copy has a place.'),
    replicas: z.array(replicaSchema).describe('Its copies, in the order of their ids.'),
    verification: verificationSchema
      .nullable()
      .describe('The last comparison of all copies; null: there was none.'),
    chain: z
      .object({
        headParentId: uuid.nullable().describe('The snapshot that the head stands on; null: none.'),
        headBytes: bytes.describe('Bytes written since that snapshot, when the engine was last asked.'),
        busy: z.string().describe('What is being done to the layers now; empty for nothing.'),
      })
      .nullable()
      .describe('Its layers, as the engine last reported them; null until the first attach.'),
    task: z
      .object({
        kind: z.enum(['purge', 'revert', 'expand']).describe('What is to be done.'),
        size: bytes.nullable().describe('Bytes that it will have after an expansion; null for other tasks.'),
        snapshotId: uuid
          .nullable()
          .describe('The snapshot that a revert goes back to; null for other tasks.'),
        state: z.enum(['waiting', 'running']).describe('`running`: the engine was asked to do it.'),
        error: lastError,
        waitingFor: z
          .string()
          .nullable()
          .describe('The limit that keeps it from beginning; null: none does.'),
        requestedAt: time.describe('When it was asked for.'),
      })
      .nullable()
      .describe('A change of all layers that was asked for and has not ended; null: none.'),
    fill: z
      .object({
        sourceVolumeId: uuid.describe('The volume it was cloned from.'),
        snapshotId: uuid.describe("That volume's snapshot whose contents it gets."),
        bytes: bytes.describe('Bytes written so far.'),
        error: lastError,
        waitingFor: z
          .string()
          .nullable()
          .describe('The limit that keeps it from being copied now; null: none does.'),
      })
      .nullable()
      .describe('How far a clone is filled, which is `creating` meanwhile; null: it is filled, or no clone.'),
    recurringSnapshots: z
      .array(recurringSnapshotSchema)
      .describe('Schedules by which snapshots of it are taken, in the order of their names.'),
    lastDegradedAt: time.nullable().describe('Since when it is degraded; null: it is not.'),
    generation: z.int().describe('Grows with each change of what is wanted of it.'),
    observedGeneration: z
      .int()
      .describe(
        'The newest generation that the worker has acted on: all is done where it equals `generation`.',
      ),
    version,
    createdAt: time.describe('When it was created.'),
  })
  .meta({ id: 'Volume' });

export const explanationSchema = z
  .object({
    volumeId: uuid.describe('The volume in question.'),
    sentence: z.string().describe('The whole answer in one plain sentence.'),
    scheduled: conditionSchema
      .nullable()
      .describe('Whether every copy has a place; null: that has not been judged yet.'),
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
          message: z.string().describe('Where it is, in words.'),
          explanation: placementExplanationSchema
            .nullable()
            .describe('What the scheduler says of it as things are now; null: it was not asked.'),
          recorded: placementExplanationSchema
            .nullable()
            .describe('Stored when a place was last looked for in vain; null for one that has a place.'),
        }),
      )
      .describe('Each replica, and why it is where it is.'),
    next: placementExplanationSchema.describe('Of one more replica, as things are now.'),
    recorded: placementExplanationSchema
      .nullable()
      .describe('Stored for a missing copy that has no replica yet; null: there is none.'),
    nextReplica: z
      .object({
        fits: z.boolean().describe('Whether one more replica has a place.'),
        nodeName: z.string().nullable().describe('Name of the node it would go to; null: it fits nowhere.'),
        diskName: z.string().nullable().describe('Name of the disk it would go to; null: it fits nowhere.'),
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
              cure: z.string().describe('What would lift this refusal.'),
            }),
          )
          .describe('Every refused candidate, with the first rule that refused it.'),
        cures: z.array(z.string()).describe('What would help, each once; empty when it fits.'),
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

export class RevertBody extends dto(
  z.strictObject({
    snapshotId: id<SnapshotId>().describe('The snapshot to go back to; what was written since is lost.'),
  }),
) {}
