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
  .describe('Number of the record that a copy stores.');

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
      .describe(
        'Stable code of the reason. `NotNeeded`: the volume is there and goes on without these copies.',
      ),
    why: z.string().describe('The reason, for people.'),
    cures: z.array(z.string()).describe('What would change it.'),
  })
  .describe('Why it is not recovered now.');

export const recoverySchema = z
  .object({
    volumeId: uuid.describe('Id of the volume, which it keeps.'),
    name: z.string().describe('Name that it gets: the one that its copies store, or one made of its id.'),
    size: bytes.nullable().describe('Bytes of the volume; null: no copy has said it yet.'),
    numberOfReplicas: z.int().nullable().describe('Copies that are wanted of it; null: not known.'),
    projectId: uuid.nullable().describe('Project that it goes into; null: none fits.'),
    fromClusterId: uuid
      .nullable()
      .describe('Cluster that its copies say they are of; null: they do not say.'),
    isKnown: z.boolean().describe('True: the volume is there, and misses these copies only.'),
    record: recordSchema
      .nullable()
      .describe('The newest record, which says which copies are current; null: no copy stores one.'),
    copies: z
      .array(
        z.object({
          replicaId: uuid.describe('What the copy calls itself.'),
          nodeId: uuid.describe('The node that it is on.'),
          nodeName: z.string().describe("That node's name."),
          diskId: uuid.describe('The disk that it is on.'),
          diskName: z.string().describe("That disk's name."),
          verdict: z
            .enum(['current', 'stale', 'unfinished', 'silent', 'leaving'])
            .describe(
              '`current`: the newest record names it; `stale`: it leaves it out; `unfinished`: never a full copy; `silent`: its agent has not said what it stores; `leaving`: it is being removed.',
            ),
          record: recordSchema.nullable().describe('The record that it stores; null: none.'),
          writtenBytes: bytes.describe('Bytes of it that hold data.'),
        }),
      )
      .describe(
        'Copies that were found, in the order of their ids. Those that are not current stay where they are.',
      ),
    missingReplicaIds: z.array(uuid).describe('Copies that the newest record names and that were not found.'),
    obstacle: obstacleSchema.nullable().describe('Why it is not recovered now; null: it can be.'),
  })
  .meta({ id: 'Recovery' });

export const recoveriesSchema = z
  .object({
    items: z
      .array(recoverySchema)
      .describe('What could be recovered, in the order of the ids of the volumes.'),
    next: uuid.nullable().describe('Pass it as `after` to get the next page; null on the last page.'),
  })
  .meta({ id: 'Recoveries' });

export type RecoveryAnswer = z.infer<typeof recoverySchema>;

export class RecoveryPath extends dto(
  z.object({
    clusterId: clusterIdInPath,
    volumeId: id<VolumeId>().describe('Id of the volume, as its copies store it.'),
  }),
) {}

const fromClusterId = id<ClusterId>()
  .optional()
  .describe(
    'The cluster that the copies are of, where its control plane is lost for good and this one takes its place.',
  );

export class RecoveriesQuery extends dto(
  z.strictObject({
    fromClusterId,
    after: id<VolumeId>().optional().describe('`next` of the page before; left out: the first page.'),
    limit: z.coerce.number().int().min(1).max(100).default(50).describe('Volumes in one page, at most.'),
  }),
) {}

export class RecoverBody extends dto(
  z.strictObject({
    fromClusterId,
    projectId: id<ProjectId>()
      .optional()
      .describe('Project to put it into; left out: the one that its copies name.'),
    name: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe('Name to give it; left out: the one that its copies store.'),
    acceptsMissing: z
      .boolean()
      .default(false)
      .describe('True: recover it although copies are missing; it waits for them until it is salvaged.'),
    acceptsDeleted: z
      .boolean()
      .default(false)
      .describe('True: recover it although it was deleted, while a node with copies of it was away.'),
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
