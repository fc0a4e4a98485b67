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
  .describe("Replaces all tags. A volume's selector matches where all of its tags are.");
const label = z.string().min(1).max(128).nullable();

export const nodeSchema = z
  .object({
    id: uuid.describe('Id of the node.'),
    clusterId: uuid.describe('Id of its cluster.'),
    name: z.string().describe('Name of its agent; unique in the cluster.'),
    zone: z
      .string()
      .nullable()
      .describe('Failure domain of the node; null: no label. Nodes without one form one unnamed zone.'),
    region: z.string().nullable().describe('Larger failure domain; null: no label.'),
    tags: z.array(z.string()).describe("Tags for volumes' node selectors."),
    labels: labelsSchema,
    allowScheduling: z.boolean().describe('False: no new replica is placed on it.'),
    cordoned: z
      .boolean()
      .describe('True: no new replica is placed on it while `disable-scheduling-on-cordoned-node` is set.'),
    evictionRequested: z.boolean().describe('True: its replicas are replaced elsewhere, then removed.'),
    maintenance: z
      .object({
        until: time.describe('End of the window, unless it is ended or extended before.'),
        reason: z.string().describe('Reason given by the user who opened it; empty: none.'),
      })
      .nullable()
      .describe(
        'Its open maintenance window: meanwhile copies on it are waited for, not rebuilt elsewhere, and none is placed ' +
          'on it. Null: none.',
      ),
    drain: nodeDrainSchema.nullable().describe('Its drain, until it is uncordoned; null: none.'),
    forget: z
      .object({
        requestedAt: time.describe('Time at which a user declared the node permanently lost.'),
        acceptedLosses: z
          .array(uuid)
          .describe('Volumes for which the user accepted the loss of data on this node only.'),
      })
      .nullable()
      .describe(
        'Set while the node is being forgotten: its certificate is revoked, and it is deleted when no volume refers to it. Null: not requested.',
      ),
    autoEvicting: z.boolean().describe('True: its drain replaces replicas elsewhere, then removes them.'),
    conditions: z
      .array(conditionSchema)
      .describe(
        '`Ready`: its agent answers. `Schedulable`: not in maintenance or drained, nor cordoned where the setting respects that. ' +
          '`Answering`: present, and `False`, while the agent of a node that is still `Ready` has missed a heartbeat and does not answer ' +
          'queries; it ends with the next heartbeat, or with `Ready` after `agent-heartbeat-timeout`.',
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
    lastHeartbeatAt: time.nullable().describe("Time of its agent's last heartbeat; null: never."),
    disks: z.int().describe('Number of its disks.'),
    replicas: z.int().describe('Number of replicas on its disks.'),
    storage: storageSchema.describe('Space of its disks, in bytes.'),
    version,
  })
  .meta({ id: 'Node' });

export const diskSchema = z
  .object({
    id: uuid.describe('Id of the disk, from its identity file; independent of where it is mounted.'),
    nodeId: uuid.describe('Id of its node.'),
    name: z.string().describe('Unique on its node.'),
    path: z.string().describe('Path on its node: a folder, or the file or device of a block disk.'),
    type: z
      .enum(['filesystem', 'block'])
      .describe('`filesystem`: a folder, for volumes of engine v1; `block`: a file or device, for v2.'),
    fileSystem: z.string().describe('Such as `ext4` or `xfs`; empty when unknown, and for block disks.'),
    tags: z.array(z.string()).describe("Tags for volumes' disk selectors."),
    labels: labelsSchema,
    allowScheduling: z.boolean().describe('False: no new replica is placed on it.'),
    evictionRequested: z.boolean().describe('True: its replicas are replaced elsewhere, then removed.'),
    storageReserved: bytes.describe('Bytes reserved for other uses of the disk.'),
    storageMaximum: bytes.describe('Total size, in bytes.'),
    storageAvailable: bytes.describe('Free space as last reported by its agent, in bytes.'),
    storageScheduled: bytes.describe('Bytes booked: the nominal sizes of the replicas on it.'),
    writtenBytes: bytes.describe('Bytes of those replicas that hold data.'),
    conditions: z
      .array(conditionSchema)
      .describe(
        '`Ready`: it can be read and written. `Schedulable`: it has space under the limits of the cluster. ' +
          '`DirectIo`: data goes past the page cache.',
      ),
    answers: z
      .object({
        calls: z.int().describe('Number of calls that ended in two minutes; at most 256 are kept.'),
        p50Ms: z.int().describe('Median duration of a call, in milliseconds.'),
        p99Ms: z.int().describe('99th percentile of the duration of a call, in milliseconds.'),
        maxMs: z.int().describe('Duration of the slowest call, in milliseconds.'),
        oldestMs: z
          .int()
          .describe(
            'Waiting time of the oldest pending call, in milliseconds; 0: none, or less than two seconds.',
          ),
        at: time.describe(
          "Time of the agent's report. It reports again when a disk becomes four times as slow or fast, and every five minutes.",
        ),
      })
      .meta({ id: 'DiskAnswers' })
      .nullable()
      .describe('Its recent latencies as measured by its agent; null: not reported.'),
    addedAt: time
      .nullable()
      .describe(
        "Time at which it was added through the API; null: it is in its agent's configuration, or was found.",
      ),
    removalRequestedAt: time
      .nullable()
      .describe(
        'Time of the request for its removal, which ends once its agent has released it. Null: not requested.',
      ),
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
      zone: label.describe('Failure domain of the node; null removes the label.'),
      region: label.describe('Larger failure domain; null removes the label.'),
    })
    .partial(),
) {}

export class MaintenanceBody extends dto(
  z.strictObject({
    until: time
      .transform((text) => new Date(text))
      .describe('End of the window: in the future, at most 7 days from now.'),
    reason: z.string().trim().max(200).default('').describe('Shown with the window.'),
  }),
) {}

/** More than a user names by hand; a longer list needs several requests, which add up. */
const LOSSES_MAX = 1_000;

export class ForgetNodeBody extends dto(
  z.strictObject({
    acceptLossOf: z
      .array(id<VolumeId>())
      .max(LOSSES_MAX)
      .default([])
      .describe(
        'Volumes whose data on this node only may be lost. Without them the request is refused, and the refusal names ' +
          'the volumes with their losses.',
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
        "Path on the node: a folder, or the file or device of a block disk, below the folders that its agent's " +
          '`HOLDFAST_DISK_ROOTS` names. A missing folder or file is created.',
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
        "Maximum bytes of the copies in a folder, or size of a created file; left out: the agent's default for a " +
          'new disk. A device has its own.',
      ),
    tags: tags.default([]),
    labels: newLabels.optional(),
    allowScheduling: z
      .boolean()
      .default(true)
      .describe('False: no replica is placed on it until that is changed.'),
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
      storageReserved: bytes.describe('Bytes to keep free of replicas; at most the size of the disk.'),
    })
    .partial(),
) {}

export class NodeDto extends dto(nodeSchema) {}
export class NodePage extends dto(pageOf(nodeSchema, 'NodeList')) {}
export class DiskDto extends dto(diskSchema) {}
export class DiskPage extends dto(pageOf(diskSchema, 'DiskList')) {}
