import type { ClusterId, ProjectId, VolumeId } from '@holdfast/core/model/ids.js';
import type { RecoveryPlan } from '@holdfast/core/model/recovery.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { bytes, id, uuid } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';

const recordSchema = z
  .object({
    epoch: z.int().describe('Number of the attachment under which it was written.'),
    dataGeneration: z.int().describe('Grows with each change of the members within an epoch.'),
  })
  .describe('Version of the record stored by a copy.');

const obstacleSchema = z
  .object({
    code: z
      .enum([
        'NotDescribed',
        'Deleted',
        'NoCurrentCopy',
        'MissingCopies',
        'OtherCluster',
        'OtherOrganization',
        'Forked',
        'EnginesDiffer',
        'NoProject',
        'NotNeeded',
      ])
      .describe('Stable code of the reason. `NotNeeded`: the volume exists and does without these copies.'),
    why: z.string().describe('The reason, for people.'),
    cures: z.array(z.string()).describe('Possible remedies.'),
  })
  .describe('Obstacle to its recovery.');

export const recoverySchema = z
  .object({
    volumeId: uuid.describe('Id of the volume, unchanged by the recovery.'),
    name: z.string().describe('Name after the recovery: from its copies, or made from its id.'),
    size: bytes.nullable().describe('Size of the volume, in bytes; null: not reported by any copy yet.'),
    numberOfReplicas: z.int().nullable().describe('Desired number of copies; null: unknown.'),
    projectId: uuid.nullable().describe('Id of its project; null: none fits.'),
    fromClusterId: uuid.nullable().describe('Id of the cluster stored in its copies; null: none is stored.'),
    isKnown: z.boolean().describe('True: the volume exists, and only lacks these copies.'),
    record: recordSchema
      .nullable()
      .describe('The newest record, which names the current copies; null: no copy stores one.'),
    copies: z
      .array(
        z.object({
          replicaId: uuid.describe('Replica id stored in the copy.'),
          nodeId: uuid.describe('Id of its node.'),
          nodeName: z.string().describe("That node's name."),
          diskId: uuid.describe('Id of its disk.'),
          diskName: z.string().describe("That disk's name."),
          verdict: z
            .enum(['current', 'stale', 'unfinished', 'silent', 'leaving'])
            .describe(
              '`current`: named by the newest record; `stale`: not named; `unfinished`: never a full copy; `silent`: its agent has not reported its content; `leaving`: it is being removed.',
            ),
          record: recordSchema.nullable().describe('Its stored record; null: none.'),
          writtenBytes: bytes.describe('Bytes of it that hold data.'),
        }),
      )
      .describe('Found copies, in the order of their ids. Copies that are not current are not touched.'),
    missingReplicaIds: z
      .array(uuid)
      .describe('Ids of copies named by the newest record that were not found.'),
    obstacle: obstacleSchema.nullable().describe('Obstacle to its recovery; null: none.'),
  })
  .meta({ id: 'Recovery' });

export const recoveriesSchema = z
  .object({
    items: z.array(recoverySchema).describe('Recoverable volumes, in the order of their ids.'),
    next: uuid.nullable().describe('Pass it as `after` to get the next page; null on the last page.'),
  })
  .meta({ id: 'Recoveries' });

export type RecoveryAnswer = z.infer<typeof recoverySchema>;

export class RecoveryPath extends dto(
  z.object({
    clusterId: clusterIdInPath,
    volumeId: id<VolumeId>().describe('Id of the volume, as stored in its copies.'),
  }),
) {}

const fromClusterId = id<ClusterId>()
  .optional()
  .describe(
    "Id of the copies' cluster, if its control plane is permanently lost and this one takes its place.",
  );

export class RecoveriesQuery extends dto(
  z.strictObject({
    fromClusterId,
    after: id<VolumeId>().optional().describe('`next` of the previous page; left out: the first page.'),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(100)
      .default(50)
      .describe('Maximum number of volumes in a page.'),
  }),
) {}

export class RecoverBody extends dto(
  z.strictObject({
    fromClusterId,
    projectId: id<ProjectId>().optional().describe('Id of its project; left out: that of its copies.'),
    name: z.string().min(1).max(63).optional().describe('Name of the volume; left out: that of its copies.'),
    acceptsMissing: z
      .boolean()
      .default(false)
      .describe('True: recover it although copies are missing; it waits for them until it is salvaged.'),
    acceptsDeleted: z
      .boolean()
      .default(false)
      .describe('True: recover it although it was deleted while a node with copies of it was down.'),
  }),
) {}

export class RecoveryDto extends dto(recoverySchema) {}
export class RecoveriesDto extends dto(recoveriesSchema) {}

export function recoveryView(plan: RecoveryPlan): RecoveryAnswer {
  return {
    volumeId: plan.volumeId,
    name: plan.name,
    size: plan.sizeBytes ?? null,
    numberOfReplicas: plan.numberOfReplicas ?? null,
    projectId: plan.projectId ?? null,
    fromClusterId: plan.fromClusterId ?? null,
    isKnown: plan.isKnown,
    record: recordView(plan.record),
    copies: plan.copies.map(({ record, ...copy }) => ({ ...copy, record: recordView(record) })),
    missingReplicaIds: [...plan.missing],
    obstacle: plan.obstacle === undefined ? null : { ...plan.obstacle, cures: [...plan.obstacle.cures] },
  };
}

function recordView(record: RecoveryPlan['record']): RecoveryAnswer['record'] {
  return record === undefined ? null : { epoch: record.epoch, dataGeneration: record.dataGeneration };
}
