import type { ClusterId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { bytes, id, pageOf, time, uuid, version } from '../../http/schemas.js';

/** The cluster that an address begins with. */
export const clusterIdInPath = id<ClusterId>().describe('Id of the cluster.');

const count = z.int().min(0);

export const storageSchema = z
  .object({
    maximum: bytes.describe('Bytes that the disks hold in all.'),
    available: bytes.describe('Bytes that are free on the disks.'),
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
    createdAt: time.describe('When it was created.'),
    nodes: z
      .object({
        total: count.describe('All nodes.'),
        ready: count.describe(
          'Nodes that are ready. One that has said nothing for a moment still is: see its condition `Answering`.',
        ),
      })
      .describe('Number of nodes.'),
    volumes: z
      .object({
        total: count.describe('All volumes.'),
        healthy: count.describe('Volumes with all the full copies that are wanted.'),
        degraded: count.describe('Volumes with fewer full copies than wanted, and at least one.'),
        faulted: count.describe('Volumes without a full copy.'),
        unknown: count.describe('Volumes whose copies have not been judged yet.'),
      })
      .describe('Number of volumes that the caller may see, by robustness.'),
    rebuilds: z
      .object({
        running: count.describe('Rebuilds that copy now.'),
        queued: count.describe('Rebuilds that wait for admission.'),
      })
      .describe('Number of rebuilds that have not ended.'),
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
