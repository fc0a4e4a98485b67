import type { SnapshotId, VolumeId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { bytes, id, pageOf, time, uuid } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';

/** A name is stored in file metadata on every copy, and typed in commands. */
const SNAPSHOT_NAME = /^[A-Za-z0-9]([A-Za-z0-9._:-]{0,126}[A-Za-z0-9])?$/;

export const snapshotSchema = z
  .object({
    id: uuid.describe('Id of the snapshot.'),
    volumeId: uuid.describe('Id of its volume.'),
    name: z.string().describe('Unique among the live user snapshots of the volume.'),
    origin: z.enum(['user', 'system']).describe('Origin; `system`: created by a rebuild or an expansion.'),
    state: z
      .enum(['creating', 'ready', 'removing', 'removed', 'failed'])
      .describe(
        '`creating` until all copies have taken it; `removed`: deleted, and to be removed by the next purge.',
      ),
    recurringName: z
      .string()
      .nullable()
      .describe('Name of the recurring snapshot that took it, and may delete it; null: none.'),
    parentId: uuid.nullable().describe('Id of its parent, the next older snapshot; null: it is the first.'),
    isHeadParent: z.boolean().describe('True: it is the parent of the head, which takes new writes.'),
    size: bytes.describe('Bytes written between its parent and it.'),
    checksum: z
      .string()
      .nullable()
      .describe('Common hash of all hashed copies; null: none is hashed, or they differ.'),
    checksums: z
      .array(
        z.object({
          replicaId: uuid.describe('The copy.'),
          checksum: z.string().nullable().describe('Its hash; null: not hashed since its files changed.'),
        }),
      )
      .describe('Checksum of each current copy.'),
    isHashing: z.boolean().describe('True: a requested hash of it has not ended.'),
    error: z.string().nullable().describe('Error of the last try to take, delete or hash it; null: none.'),
    createdAt: time.describe('Time of the request.'),
  })
  .meta({ id: 'Snapshot' });

export class SnapshotPath extends dto(
  z.object({
    clusterId: clusterIdInPath,
    volumeId: id<VolumeId>().describe('Id of the volume.'),
    snapshotId: id<SnapshotId>().describe('Id of the snapshot.'),
  }),
) {}

export class CreateSnapshotBody extends dto(
  z.strictObject({
    name: z
      .string()
      .regex(SNAPSHOT_NAME, 'must be 1 to 128 letters, digits, dots, dashes, colons and underscores')
      .optional()
      .describe('Unique in the volume; left out: the time in RFC 3339.'),
  }),
) {}

export class HashBody extends dto(
  z.strictObject({
    force: z.boolean().optional().describe('True: hash again although nothing has changed.'),
  }),
) {}

export class SnapshotDto extends dto(snapshotSchema) {}
export class SnapshotPage extends dto(pageOf(snapshotSchema, 'SnapshotList')) {}
