import type { OrphanInContext } from '@holdfast/control/ports/store.js';
import type { OrphanId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { bytes, id, pageOf, time, uuid, version } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';

export const orphanSchema = z
  .object({
    id: uuid.describe('Id of the orphan.'),
    clusterId: uuid.describe('Id of the cluster of its node.'),
    nodeId: uuid.describe('Id of the node whose agent found it.'),
    nodeName: z.string().describe("That node's name."),
    diskId: uuid.describe('Id of its disk.'),
    diskName: z.string().describe("That disk's name."),
    replicaId: uuid.describe('Replica id stored in the copy; no such replica exists.'),
    volumeId: uuid.describe('Volume id stored in the copy.'),
    volumeName: z.string().nullable().describe('Name of that volume; null: it does not exist any more.'),
    size: bytes.describe('Bytes of its data on the disk.'),
    isReachable: z
      .boolean()
      .describe('True: its node and its disk are ready; otherwise it can not be removed now.'),
    state: z.enum(['found', 'removing']).describe('`removing`: its removal was requested.'),
    error: z.string().nullable().describe('Error of the last failed removal, which is retried; null: none.'),
    firstSeenAt: time.describe('Time of the first report of it.'),
    version,
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

export class OrphanPath extends dto(
  z.object({ clusterId: clusterIdInPath, orphanId: id<OrphanId>().describe('Id of the orphan.') }),
) {}
export class OrphanDto extends dto(orphanSchema) {}
export class OrphanPage extends dto(pageOf(orphanSchema, 'OrphanList')) {}
