import type { ClusterId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { bytes, id, pageOf, time, uuid, version } from '../../http/schemas.js';

/** The cluster at the beginning of an address. */
export const clusterIdInPath = id<ClusterId>().describe('Id of the cluster.');

const count = z.int().min(0);

export const storageSchema = z
  .object({
    maximum: bytes.describe('Total size of the disks, in bytes.'),
    available: bytes.describe('Free space on the disks, in bytes.'),
    reserved: bytes.describe('Bytes kept free of replicas on the disks.'),
    scheduled: bytes.describe('Bytes booked: the nominal sizes of the replicas on the disks.'),
    written: bytes.describe('Bytes of those replicas that hold data.'),
  })
  .meta({ id: 'StorageSums' });

export const clusterSchema = z
  .object({
    id: uuid.describe('Id of the cluster.'),
    name: z.string().describe('Unique in the organization.'),
    version,
    createdAt: time.describe('Time of its creation.'),
    nodes: z
      .object({
        total: count.describe('All nodes.'),
        ready: count.describe(
          'Number of ready nodes. A node that missed a heartbeat is ready still: see its condition `Answering`.',
        ),
      })
      .describe('Number of nodes.'),
    volumes: z
      .object({
        total: count.describe('Number of all volumes.'),
        healthy: count.describe('Volumes with the desired number of full copies.'),
        degraded: count.describe('Volumes with fewer full copies than desired, and at least one.'),
        faulted: count.describe('Volumes without a full copy.'),
        unknown: count.describe('Volumes whose copies have not been assessed yet.'),
      })
      .describe('Number of volumes that the caller may see, by robustness.'),
    rebuilds: z
      .object({
        running: count.describe('Rebuilds that are copying.'),
        queued: count.describe('Rebuilds that wait for admission.'),
      })
      .describe('Number of unfinished rebuilds.'),
    storage: storageSchema.describe('Space of all disks of the cluster, in bytes.'),
  })
  .meta({ id: 'Cluster' });

const name = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/, 'must be 1 to 63 of a-z, 0-9, - and .')
  .describe('Unique in the organization; 1 to 63 of a-z, 0-9, - and the dot.');

export class ClusterPath extends dto(z.object({ clusterId: clusterIdInPath })) {}
export class CreateClusterBody extends dto(z.strictObject({ name })) {}
export class PatchClusterBody extends dto(z.strictObject({ name: name.optional() })) {}
export class ClusterDto extends dto(clusterSchema) {}
export class ClusterPage extends dto(pageOf(clusterSchema, 'ClusterList')) {}
