import type { ClusterId, SnapshotId, VolumeId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { dto } from '../platform/dto.js';
import { bytes, id, pageOf, time, uuid } from '../platform/schemas.js';

/** A name ends up in file metadata on every copy, and in commands that users type. */
const SNAPSHOT_NAME = /^[A-Za-z0-9]([A-Za-z0-9._:-]{0,126}[A-Za-z0-9])?$/;

export const snapshotSchema = z
  .object({
    id: uuid,
    volumeId: uuid,
    name: z.string(),
    origin: z.enum(['user', 'system']).describe('`system` ones are made by rebuilds and expansions.'),
    state: z
      .enum(['creating', 'ready', 'removing', 'removed', 'failed'])
      .describe('`removed`: deleted, and taken out by a purge as soon as one can.'),
    recurringName: z.string().nullable().describe('The recurring snapshot that took it, and may delete it.'),
    parentId: uuid.nullable().describe('The snapshot it stands on.'),
    isHeadParent: z.boolean().describe('What is written now stands on it.'),
    size: bytes.describe('What was written between its parent and it.'),
    checksum: z.string().nullable().describe('What all copies that were hashed agree on.'),
    checksums: z.array(z.object({ replicaId: uuid, checksum: z.string().nullable() })),
    isHashing: z.boolean().describe('A hash of it was asked for and has not ended.'),
    error: z.string().nullable().describe('Why the last try to take, delete or hash it failed.'),
    createdAt: time,
  })
  .meta({ id: 'Snapshot' });

export class SnapshotPath extends dto(
  z.object({ clusterId: id<ClusterId>(), volumeId: id<VolumeId>(), snapshotId: id<SnapshotId>() }),
) {}

export class CreateSnapshotBody extends dto(
  z.strictObject({
    name: z
      .string()
      .regex(SNAPSHOT_NAME, 'must be 1 to 128 letters, digits, dots, dashes, colons and underscores')
      .optional()
      .describe('Unique in the volume; left out: the time.'),
  }),
) {}

export class HashBody extends dto(
  z.strictObject({
    force: z.boolean().optional().describe('Also where nothing has changed since it was last hashed.'),
  }),
) {}

export class RevertBody extends dto(z.strictObject({ snapshotId: id<SnapshotId>() })) {}

export class SnapshotDto extends dto(snapshotSchema) {}
export class SnapshotPage extends dto(pageOf(snapshotSchema, 'SnapshotList')) {}
