import type { DiskId, NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { labelChanges, labelsSchema, newLabels } from '../../http/label-schemas.js';
import { bytes, conditionSchema, id, pageOf, time, uuid, version } from '../../http/schemas.js';
import { clusterIdInPath, storageSchema } from '../clusters/cluster.schemas.js';
import { nodeDrainSchema } from './drain.schemas.js';

const tags = z
  .array(z.string().min(1).max(128))
  .max(32)
  .describe('Replaces all tags. Volumes whose selector names tags are placed only where all of them are.');
const label = z.string().min(1).max(128).nullable();

export const nodeSchema = z
  .object({
    id: uuid.describe('Id of the node.'),
    clusterId: uuid.describe('The cluster it belongs to.'),
    name: z.string().describe('As its agent is called; unique in the cluster.'),
    zone: z
      .string()
      .nullable()
      .describe('Failure domain of the node; null: no label. Nodes without one form one unnamed zone.'),
    region: z.string().nullable().describe('Larger failure domain; null: no label.'),
    tags: z.array(z.string()).describe("What volumes' node selectors may ask for."),
    labels: labelsSchema,
    allowScheduling: z.boolean().describe('False: no new replica is placed on it.'),
    cordoned: z
      .boolean()
      .describe('True: no new replica is placed on it while `disable-scheduling-on-cordoned-node` is set.'),
    evictionRequested: z.boolean().describe('True: its replicas are replaced elsewhere, then removed.'),
    maintenance: z
      .object({
        until: time.describe('When the window ends, unless it is ended or prolonged before.'),
        reason: z.string().describe('Why, as the user who opened it said; empty: not said.'),
      })
      .nullable()
      .describe(
        'Its open maintenance window: meanwhile no new copy is built for what only this node lost, and none is placed ' +
          'on it. Null: none.',
      ),
    drain: nodeDrainSchema.nullable().describe('Its drain, until it is uncordoned; null: none.'),
    forget: z
      .object({
        requestedAt: time.describe('When a user declared the node gone for good.'),
        acceptedLosses: z
          .array(uuid)
          .describe('Volumes of which data that only this node held may be lost, as the user accepted.'),
      })
      .nullable()
      .describe(
        'Set while the node is being forgotten: its certificate is revoked, and it is deleted when no volume refers to it. Null: not asked for.',
      ),
    autoEvicting: z.boolean().describe('True: its drain replaces replicas elsewhere, then removes them.'),
    conditions: z
      .array(conditionSchema)
      .describe(
        '`Ready`: its agent answers. `Schedulable`: not in maintenance or drained, nor cordoned where the setting minds that. ' +
          '`Answering`: there, and `False`, while the agent of a node that is still `Ready` has missed a heartbeat and gives no answer ' +
          'when it is asked; it ends with the next heartbeat, or with `Ready` after `agent-heartbeat-timeout`.',
      ),
    nbdHost: z
      .string()
      .nullable()
      .describe("Host name or address of the agent's NBD server; null until the agent has registered."),
    nbdPort: z
      .int()
      .nullable()
      .describe("TCP port of the agent's NBD server; null until the agent has registered."),
    pid: z
      .int()
      .nullable()
      .describe('Process id of its agent on that machine; null until it has registered.'),
    agentVersion: z.string().nullable().describe("Its agent's version; null until it has registered."),
    lastHeartbeatAt: time.nullable().describe('When its agent was last heard; null: never.'),
    disks: z.int().describe('Number of its disks.'),
    replicas: z.int().describe('Number of replicas on its disks.'),
    storage: storageSchema.describe('Space of its disks, in bytes.'),
    version,
  })
  .meta({ id: 'Node' });

export const diskSchema = z
  .object({
    id: uuid.describe("Id of the disk, from its identity file: it stays the disk's wherever it is mounted."),
    nodeId: uuid.describe('The node it is on.'),
    name: z.string().describe('Unique on its node.'),
    path: z.string().describe('Where it is on its node: a folder, or the file or device of a block disk.'),
    type: z
      .enum(['filesystem', 'block'])
      .describe('`filesystem`: a folder, for volumes of engine v1; `block`: a file or device, for v2.'),
    fileSystem: z.string().describe('Such as `ext4` or `xfs`; empty when unknown, and for block disks.'),
    tags: z.array(z.string()).describe("What volumes' disk selectors may ask for."),
    labels: labelsSchema,
    allowScheduling: z.boolean().describe('False: no new replica is placed on it.'),
    evictionRequested: z.boolean().describe('True: its replicas are replaced elsewhere, then removed.'),
    storageReserved: bytes.describe('Bytes kept free of replicas, for others who use the disk.'),
    storageMaximum: bytes.describe('Bytes that it holds in all.'),
    storageAvailable: bytes.describe('Bytes that are free, as its agent last reported.'),
    storageScheduled: bytes.describe('Bytes booked: the nominal sizes of the replicas on it.'),
    writtenBytes: bytes.describe('Bytes of those replicas that hold data.'),
    conditions: z
      .array(conditionSchema)
      .describe(
        '`Ready`: it can be read and written. `Schedulable`: it has room under the limits of the cluster. ' +
          '`DirectIo`: data goes past the page cache.',
      ),
    answers: z
      .object({
        calls: z.int().describe('Calls of two minutes that ended, of which at most 256 are kept.'),
        p50Ms: z.int().describe('Milliseconds that half of them took at most.'),
        p99Ms: z.int().describe('Milliseconds that 99 of 100 took at most.'),
        maxMs: z.int().describe('Milliseconds that the slowest took.'),
        oldestMs: z
          .int()
          .describe(
            'Milliseconds that the oldest call that has not ended has been waiting by now; 0: none has for over two seconds.',
          ),
        at: time.describe(
          'When the agent said so. It says so again when a disk becomes four times as slow or fast, and every five minutes.',
        ),
      })
      .meta({ id: 'DiskAnswers' })
      .nullable()
      .describe('How it has answered its agent lately; null: its agent does not say.'),
    addedAt: time
      .nullable()
      .describe(
        "When it was added through the API; null: it stands in its agent's configuration, or was found.",
      ),
    removalRequestedAt: time
      .nullable()
      .describe('When its removal was asked for: it is gone once its agent has let go of it. Null: never.'),
    version,
  })
  .meta({ id: 'Disk' });

export class NodePath extends dto(
  z.object({ clusterId: clusterIdInPath, nodeId: id<NodeId>().describe('Id of the node.') }),
) {}
export class DiskPath extends dto(
  z.object({
    clusterId: clusterIdInPath,
    nodeId: id<NodeId>().describe('Id of the node.'),
    diskId: id<DiskId>().describe('Id of the disk.'),
  }),
) {}

export class PatchNodeBody extends dto(
  z
    .strictObject({
      allowScheduling: z.boolean().describe('False: no new replica is placed on it.'),
      cordoned: z
        .boolean()
        .describe('True: no new replica is placed on it while `disable-scheduling-on-cordoned-node` is set.'),
      evictionRequested: z
        .boolean()
        .describe('True: replace its replicas elsewhere, then remove them; needs `allowScheduling` false.'),
      tags,
      labels: labelChanges,
      zone: label.describe('Failure domain of the node; null takes the label off.'),
      region: label.describe('Larger failure domain; null takes the label off.'),
    })
    .partial(),
) {}

export class MaintenanceBody extends dto(
  z.strictObject({
    until: time
      .transform((text) => new Date(text))
      .describe('When the window ends: a time to come, at most 7 days away.'),
    reason: z.string().trim().max(200).default('').describe('Shown wherever the window is.'),
  }),
) {}

/** More volumes than a user names by hand; a longer list goes in several requests, each of which adds to it. */
const LOSSES_MAX = 1_000;

export class ForgetNodeBody extends dto(
  z.strictObject({
    acceptLossOf: z
      .array(id<VolumeId>())
      .max(LOSSES_MAX)
      .default([])
      .describe(
        'Volumes of which data that only this node holds may be lost. Without them the request is refused, and the refusal names ' +
          'the volumes and what each would lose.',
      ),
  }),
) {}

export class CreateDiskBody extends dto(
  z.strictObject({
    path: z
      .string()
      .min(1)
      .max(1024)
      .describe(
        "Where it is on the node: a folder, or the file or device of a block disk, below the folders that its agent's " +
          '`HOLDFAST_DISK_ROOTS` names. A folder or file that is not there is made.',
      ),
    name: z
      .string()
      .regex(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/, 'letters, digits, . _ and -, at most 128')
      .optional()
      .describe('Unique on its node; left out: the last part of the path.'),
    type: z
      .enum(['filesystem', 'block'])
      .default('filesystem')
      .describe('`filesystem`: a folder, for volumes of engine v1; `block`: a file or device, for v2.'),
    size: bytes
      .min(1)
      .optional()
      .describe(
        'Most that the copies in a folder may take, or size of a file that is made; left out: what its agent gives a ' +
          'new disk. A device has its own.',
      ),
    tags: tags.default([]),
    labels: newLabels.optional(),
    allowScheduling: z
      .boolean()
      .default(true)
      .describe('False: no replica is placed on it before that is changed.'),
    storageReserved: bytes.default(0).describe('Bytes to keep free of replicas.'),
  }),
) {}

export class PatchDiskBody extends dto(
  z
    .strictObject({
      allowScheduling: z.boolean().describe('False: no new replica is placed on it.'),
      evictionRequested: z
        .boolean()
        .describe('True: replace its replicas elsewhere, then remove them; needs `allowScheduling` false.'),
      tags,
      labels: labelChanges,
      storageReserved: bytes.describe('Bytes to keep free of replicas; at most what the disk holds.'),
    })
    .partial(),
) {}

export class NodeDto extends dto(nodeSchema) {}
export class NodePage extends dto(pageOf(nodeSchema, 'NodeList')) {}
export class DiskDto extends dto(diskSchema) {}
export class DiskPage extends dto(pageOf(diskSchema, 'DiskList')) {}
