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
    clusterId: uuid.describe('The cluster of its volume.'),
    volumeId: uuid.describe('The volume that gets a full copy again.'),
    targetReplicaId: uuid.describe('The replica that is made a full copy.'),
    targetNodeId: uuid.describe('The node of that replica.'),
    sourceReplicaIds: z.array(uuid).describe('The full copies that it reads from at once.'),
    sourceNodeIds: z.array(uuid).describe('The nodes of those copies.'),
    state: z
      .enum(['queued', 'running', 'succeeded', 'failed', 'cancelled'])
      .describe(
        '`queued` until admission lets it run, and while it is preempted by a rebuild of a volume on its last copy.',
      ),
    phase: z.enum(REBUILD_PHASES).describe('The step it is at, in their order; it stays where it failed.'),
    queuePosition: z
      .int()
      .nullable()
      .describe('1 for the next one to be admitted; null when it does not wait.'),
    priority: z.int().describe('Full copies the volume has: fewest first.'),
    waitingFor: z.string().describe('Why it does not run, in a sentence; empty when it does.'),
    waitingReason: z
      .enum(WAITING_REASONS)
      .nullable()
      .describe('The same in a code; null when it runs, and until it was looked at.'),
    paused: z
      .boolean()
      .describe('Held up by a user: it does not start, or stands still. User writes still reach its target.'),
    bandwidthBytesPerSecond: bytes.nullable().describe('Its own limit, in bytes per second; null: none.'),
    grantedBytesPerSecond: bytes
      .nullable()
      .describe(
        "Bytes per second that it may copy now: its own limit, and its share of its target node's. Null: no limit.",
      ),
    size: bytes.describe('Nominal bytes of the replica.'),
    bytes: rebuildBytesSchema,
    percent: z
      .number()
      .min(0)
      .max(100)
      .describe('Share of the work that is done, from 0 to 100; it never falls.'),
    rateBytesPerSecond: bytes.describe('How fast it copies now, in bytes per second; 0 when it does not.'),
    eta: z
      .object({
        p50: time.describe('When it is done with even odds.'),
        p90: time.describe('When it is done with nine in ten odds.'),
      })
      .nullable()
      .describe(
        'When it will be done, also while it waits: from its own progress, else from what the last rebuilds took. Null while unknown.',
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
          reason: z.string().describe('Why that method, in a sentence.'),
          bytesSent: bytes.describe('Bytes of it that were sent.'),
        }),
      )
      .describe("How each layer's data got to the target, parents first; empty until it is known."),
    attempts: z.int().describe('Number of this attempt among the rebuilds of its target, from 1.'),
    error: z
      .object({
        code: z.string().describe('Stable code of the failure.'),
        message: z.string().describe('What went wrong, for people.'),
      })
      .nullable()
      .describe('Why it failed or was last interrupted; null: it was not.'),
    queuedAt: time.describe('When it was queued.'),
    startedAt: time.nullable().describe('When it was admitted; null: it was not yet.'),
    finishedAt: time.nullable().describe('When it ended; null: it has not.'),
    version,
  })
  .meta({ id: 'Rebuild' });

export class RebuildPath extends dto(
  z.object({ clusterId: clusterIdInPath, rebuildId: id<RebuildId>().describe('Id of the rebuild.') }),
) {}
export class PatchRebuildBody extends dto(
  z.strictObject({
    paused: z.boolean().optional().describe('True holds it up, false lets it go on; left out: as it is.'),
    bandwidthBytesPerSecond: z
      .int()
      .min(REBUILD_BANDWIDTH_MIN)
      .nullish()
      .describe('Its own limit in bytes per second, at least 1 MiB; null for none, left out: as it is.'),
  }),
) {}
export class RebuildDto extends dto(rebuildSchema) {}
export class RebuildPage extends dto(pageOf(rebuildSchema, 'RebuildList')) {}
