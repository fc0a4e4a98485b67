import type { SnapshotId, VolumeId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { bytes, id, pageOf, time, uuid } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';

/** A name ends up in file metadata on every copy, and in commands that users type. */
const SNAPSHOT_NAME = /^[A-Za-z0-9]([A-Za-z0-9._:-]{0,126}[A-Za-z0-9])?$/;

export const snapshotSchema = z
  .object({
    id: uuid.describe('Id of the snapshot.'),
    volumeId: uuid.describe('The volume it was taken of.'),
    name: z.string().describe('Unique among the live user snapshots of the volume.'),
    origin: z
      .enum(['user', 'system'])
      .describe('Who made it; `system` ones are made by rebuilds and expansions.'),
    state: z
      .enum(['creating', 'ready', 'removing', 'removed', 'failed'])
      .describe(
        '`creating` until all copies have taken it; `removed`: deleted, and taken out by a purge as soon as one can.',
      ),
    recurringName: z
      .string()
      .nullable()
      .describe('The recurring snapshot that took it, and may delete it; null: none did.'),
    parentId: uuid.nullable().describe('The older snapshot that it stands on; null: it is the first.'),
    isHeadParent: z.boolean().describe('True: what is written now stands on it.'),
    size: bytes.describe('Bytes that were written between its parent and it.'),
    checksum: z
      .string()
      .nullable()
      .describe('The hash that all hashed copies agree on; null: none is hashed, or they differ.'),
    checksums: z
      .array(
        z.object({
          replicaId: uuid.describe('The copy.'),
          checksum: z.string().nullable().describe('Its hash; null: not hashed since its files changed.'),
        }),
      )
      .describe('Of each current copy.'),
    isHashing: z.boolean().describe('A hash of it was asked for and has not ended.'),
    error: z
      .string()
      .nullable()
      .describe('Why the last try to take, delete or hash it failed; null: it did not.'),
    createdAt: time.describe('When it was asked for.'),
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
    force: z.boolean().optional().describe('Also where nothing has changed since it was last hashed.'),
  }),
) {}

export class SnapshotDto extends dto(snapshotSchema) {}
export class SnapshotPage extends dto(pageOf(snapshotSchema, 'SnapshotList')) {}
