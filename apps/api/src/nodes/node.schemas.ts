import type { ClusterId, DiskId, NodeId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { storageSchema } from '../clusters/cluster.schemas.js';
import { dto } from '../platform/dto.js';
import { bytes, conditionSchema, id, pageOf, time, uuid } from '../platform/schemas.js';

const tags = z.array(z.string().min(1).max(128)).max(32);
const label = z.string().min(1).max(128).nullable();

export const nodeSchema = z
  .object({
    id: uuid,
    clusterId: uuid,
    name: z.string(),
    zone: z.string().nullable(),
    region: z.string().nullable(),
    tags: z.array(z.string()),
    allowScheduling: z.boolean(),
    cordoned: z.boolean(),
    evictionRequested: z.boolean(),
    conditions: z.array(conditionSchema),
    nbdHost: z.string().nullable(),
    nbdPort: z.int().nullable(),
    pid: z.int().nullable(),
    agentVersion: z.string().nullable(),
    lastHeartbeatAt: time.nullable(),
    disks: z.int(),
    replicas: z.int(),
    storage: storageSchema,
    version: z.int(),
  })
  .meta({ id: 'Node' });

export const diskSchema = z
  .object({
    id: uuid,
    nodeId: uuid,
    name: z.string(),
    path: z.string(),
    type: z.enum(['filesystem', 'block']),
    fileSystem: z.string(),
    tags: z.array(z.string()),
    allowScheduling: z.boolean(),
    evictionRequested: z.boolean(),
    storageReserved: bytes,
    storageMaximum: bytes,
    storageAvailable: bytes,
    storageScheduled: bytes,
    writtenBytes: bytes,
    conditions: z.array(conditionSchema),
    version: z.int(),
  })
  .meta({ id: 'Disk' });

export class NodePath extends dto(z.object({ clusterId: id<ClusterId>(), nodeId: id<NodeId>() })) {}
export class DiskPath extends dto(
  z.object({ clusterId: id<ClusterId>(), nodeId: id<NodeId>(), diskId: id<DiskId>() }),
) {}

export class PatchNodeBody extends dto(
  z
    .strictObject({
      allowScheduling: z.boolean(),
      cordoned: z.boolean(),
      evictionRequested: z.boolean(),
      tags,
      zone: label,
      region: label,
    })
    .partial(),
) {}

export class PatchDiskBody extends dto(
  z
    .strictObject({
      allowScheduling: z.boolean(),
      evictionRequested: z.boolean(),
      tags,
      storageReserved: bytes,
    })
    .partial(),
) {}

export class NodeDto extends dto(nodeSchema) {}
export class NodePage extends dto(pageOf(nodeSchema, 'NodeList')) {}
export class DiskDto extends dto(diskSchema) {}
export class DiskPage extends dto(pageOf(diskSchema, 'DiskList')) {}
