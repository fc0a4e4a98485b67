/** A disk as it comes out of a node of another cluster: with its identity, and with a copy of a volume of that cluster. */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { copyRecord } from '@holdfast/core/model/copy-record.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { Replica } from '@holdfast/data-engine/replica/replica.js';

const SIZE_BYTES = 1024 * 1024;

/** @returns the replica whose copy is on it, and the cluster that it says it is of */
export async function makeForeignDisk(folder: string): Promise<{ replicaId: ReplicaId; clusterId: string }> {
  const [diskId, volumeId, clusterId] = [randomUUID(), randomUUID(), randomUUID()];
  const replicaId = asId<ReplicaId>(randomUUID());
  await fs.mkdir(folder, { recursive: true });
  await fs.writeFile(path.join(folder, 'holdfast-disk.json'), JSON.stringify({ format: 1, diskId }));
  const volume = {
    name: 'theirs',
    clusterId,
    organizationId: randomUUID(),
    projectId: randomUUID(),
    numberOfReplicas: 1,
    dataLocality: 'disabled',
    nodeSelector: [],
    diskSelector: [],
  };
  await Replica.create(folder, {
    replicaId,
    volumeId,
    diskId,
    sizeBytes: SIZE_BYTES,
    secret: 'a secret of another cluster',
    record: copyRecord(1, 1, [replicaId]),
    volume,
  });
  return { replicaId, clusterId };
}
