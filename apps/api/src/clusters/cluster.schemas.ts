import type { ClusterId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { dto } from '../platform/dto.js';
import { bytes, id, pageOf, time, uuid } from '../platform/schemas.js';

const count = z.int().min(0);

export const storageSchema = z
  .object({ maximum: bytes, available: bytes, reserved: bytes, scheduled: bytes, written: bytes })
  .meta({ id: 'StorageSums' });

export const clusterSchema = z
  .object({
    id: uuid,
    name: z.string(),
    version: z.int(),
    createdAt: time,
    nodes: z.object({ total: count, ready: count }),
    volumes: z.object({ total: count, healthy: count, degraded: count, faulted: count, unknown: count }),
    rebuilds: z.object({ running: count, queued: count }),
    storage: storageSchema,
  })
  .meta({ id: 'Cluster' });

const name = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/, 'must be 1 to 63 of a-z, 0-9, - and .');

export class ClusterPath extends dto(z.object({ clusterId: id<ClusterId>() })) {}
export class CreateClusterBody extends dto(z.strictObject({ name })) {}
export class PatchClusterBody extends dto(z.strictObject({ name: name.optional() })) {}
export class ClusterDto extends dto(clusterSchema) {}
export class ClusterPage extends dto(pageOf(clusterSchema, 'ClusterList')) {}
