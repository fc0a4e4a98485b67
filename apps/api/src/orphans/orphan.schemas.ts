import type { OrphanInContext } from '@holdfast/control/ports/store.js';
import type { ClusterId, OrphanId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { dto } from '../platform/dto.js';
import { bytes, id, pageOf, time, uuid } from '../platform/schemas.js';

export const orphanSchema = z
  .object({
    id: uuid,
    clusterId: uuid,
    nodeId: uuid,
    nodeName: z.string(),
    diskId: uuid,
    diskName: z.string(),
    replicaId: uuid.describe('What the copy calls itself; there is no such replica.'),
    volumeId: uuid.describe('The volume it says that it is of.'),
    volumeName: z.string().nullable().describe('Null when there is no such volume any more.'),
    size: bytes.describe('Space that its data takes on the disk.'),
    isReachable: z.boolean().describe('Its node and its disk are ready; else it can not be removed now.'),
    state: z.enum(['found', 'removing']),
    error: z.string().nullable().describe('Why the last try to remove it failed; it is tried again.'),
    firstSeenAt: time,
    version: z.int(),
  })
  .meta({ id: 'Orphan' });

export type OrphanView = z.infer<typeof orphanSchema>;

export function orphanView({ orphan, nodeName, diskName, isReachable, volume }: OrphanInContext): OrphanView {
  return {
    id: orphan.id,
    clusterId: orphan.clusterId,
    nodeId: orphan.nodeId,
    nodeName,
    diskId: orphan.diskId,
    diskName,
    replicaId: orphan.replicaId,
    volumeId: orphan.volumeId,
    volumeName: volume?.name ?? null,
    size: orphan.writtenBytes,
    isReachable,
    state: orphan.removal === undefined ? 'found' : 'removing',
    error: orphan.removal?.trouble?.message ?? null,
    firstSeenAt: orphan.firstSeenAt.toISOString(),
    version: orphan.version,
  };
}

export class OrphanPath extends dto(z.object({ clusterId: id<ClusterId>(), orphanId: id<OrphanId>() })) {}
export class OrphanDto extends dto(orphanSchema) {}
export class OrphanPage extends dto(pageOf(orphanSchema, 'OrphanList')) {}
