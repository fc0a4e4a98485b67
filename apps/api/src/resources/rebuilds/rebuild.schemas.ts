import { rebuildBytesSchema } from '@holdfast/core/model/agent-protocol.js';
import type { RebuildId } from '@holdfast/core/model/ids.js';
import {
  REBUILD_BANDWIDTH_MIN,
  REBUILD_METHODS,
  REBUILD_PHASES,
  WAITING_REASONS,
} from '@holdfast/core/model/rebuild.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { bytes, id, pageOf, time, uuid, version } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';

export const rebuildSchema = z
  .object({
    id: uuid.describe('Id of the rebuild.'),
    clusterId: uuid.describe('Id of the cluster of its volume.'),
    volumeId: uuid.describe('Id of the rebuilt volume.'),
    targetReplicaId: uuid.describe('Id of the replica that becomes a full copy.'),
    targetNodeId: uuid.describe("Id of that replica's node."),
    sourceReplicaIds: z.array(uuid).describe('Ids of the full copies that it reads from.'),
    sourceNodeIds: z.array(uuid).describe("Ids of those copies' nodes."),
    state: z
      .enum(['queued', 'running', 'succeeded', 'failed', 'cancelled'])
      .describe(
        '`queued` until it is admitted, and while it is preempted by a rebuild of a volume on its last copy.',
      ),
    phase: z.enum(REBUILD_PHASES).describe('Its present step; after a failure, the failed one.'),
    queuePosition: z
      .int()
      .nullable()
      .describe('Place in the queue for admission, from 1; null: it does not wait.'),
    priority: z.int().describe('Number of full copies of the volume; fewest first.'),
    waitingFor: z.string().describe('Reason why it does not run, in a sentence; empty: it runs.'),
    waitingReason: z
      .enum(WAITING_REASONS)
      .nullable()
      .describe('Stable code of that reason; null: it runs, or was not reconciled yet.'),
    paused: z.boolean().describe('True: paused by a user. User writes still reach its target.'),
    bandwidthBytesPerSecond: bytes
      .nullable()
      .describe('Bandwidth limit of its own, in bytes per second; null: none.'),
    grantedBytesPerSecond: bytes
      .nullable()
      .describe(
        "Present limit in bytes per second: its own, and its share of its target node's. Null: no limit.",
      ),
    size: bytes.describe('Nominal size of the replica, in bytes.'),
    bytes: rebuildBytesSchema,
    percent: z
      .number()
      .min(0)
      .max(100)
      .describe('Completed share of the work, from 0 to 100; it never decreases.'),
    rateBytesPerSecond: bytes.describe('Present speed, in bytes per second; 0: it does not copy.'),
    eta: z
      .object({
        p50: time.describe('Estimated end with a probability of 50 percent.'),
        p90: time.describe('Estimated end with a probability of 90 percent.'),
      })
      .nullable()
      .describe(
        "Estimated end, also while it waits: from its own progress, otherwise from the last rebuilds' durations. Null: unknown.",
      ),
    snapshots: z
      .array(
        z.object({
          name: z.string().describe('Name of the layer: of a snapshot, or of one that a rebuild made.'),
          method: z
            .enum(REBUILD_METHODS)
            .describe(
              '`full`: all of it; `delta`: blocks that differ; `ranges`: as `delta`, only where stored checksums ' +
                'differ; `fast`: nothing, its checksums agree.',
            ),
          reason: z.string().describe('Reason for that method, in a sentence.'),
          bytesSent: bytes.describe('Bytes sent of it.'),
        }),
      )
      .describe("Transfer of each layer's data to the target, parents first; empty until known."),
    attempts: z.int().describe('Number of this attempt among the rebuilds of its target, from 1.'),
    error: z
      .object({
        code: z.string().describe('Stable code of the failure.'),
        message: z.string().describe('Error message for people.'),
      })
      .nullable()
      .describe('Error of its failure or last interruption; null: neither.'),
    queuedAt: time.describe('Time at which it was queued.'),
    startedAt: time.nullable().describe('Time of its admission; null: not yet.'),
    finishedAt: time.nullable().describe('Time of its end; null: not yet.'),
    version,
  })
  .meta({ id: 'Rebuild' });

export class RebuildPath extends dto(
  z.object({ clusterId: clusterIdInPath, rebuildId: id<RebuildId>().describe('Id of the rebuild.') }),
) {}
export class PatchRebuildBody extends dto(
  z.strictObject({
    paused: z.boolean().optional().describe('True pauses it, false resumes it; left out: unchanged.'),
    bandwidthBytesPerSecond: z
      .int()
      .min(REBUILD_BANDWIDTH_MIN)
      .nullish()
      .describe(
        'Bandwidth limit of its own in bytes per second, at least 1 MiB; null: none; left out: unchanged.',
      ),
  }),
) {}
export class RebuildDto extends dto(rebuildSchema) {}
export class RebuildPage extends dto(pageOf(rebuildSchema, 'RebuildList')) {}
