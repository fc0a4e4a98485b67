import type { OrphanInContext } from '@holdfast/control/ports/store.js';
import type { OrphanId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { bytes, id, pageOf, time, uuid, version } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';

export const orphanSchema = z
  .object({
    id: uuid.describe('Id of the orphan.'),
    clusterId: uuid.describe('The cluster of its node.'),
    nodeId: uuid.describe('The node whose agent found it.'),
    nodeName: z.string().describe("That node's name."),
    diskId: uuid.describe('The disk it is on.'),
    diskName: z.string().describe("That disk's name."),
    replicaId: uuid.describe('What the copy calls itself; there is no such replica.'),
    volumeId: uuid.describe('The volume it says that it is of.'),
    volumeName: z.string().nullable().describe('Null when there is no such volume any more.'),
    size: bytes.describe('Bytes that its data takes on the disk.'),
    isReachable: z.boolean().describe('Its node and its disk are ready; else it can not be removed now.'),
    state: z.enum(['found', 'removing']).describe('`removing`: its removal was asked for.'),
    error: z
      .string()
      .nullable()
      .describe('Why the last try to remove it failed, which is tried again; null: no try has failed.'),
    firstSeenAt: time.describe('When an agent first reported it.'),
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
