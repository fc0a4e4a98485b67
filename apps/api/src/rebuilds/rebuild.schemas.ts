import type { ClusterId, RebuildId } from '@holdfast/core/model/ids.js';
import {
  REBUILD_BANDWIDTH_MIN,
  REBUILD_METHODS,
  REBUILD_PHASES,
  WAITING_REASONS,
} from '@holdfast/core/model/rebuild.js';
import { z } from 'zod';
import { dto } from '../platform/dto.js';
import { bytes, id, pageOf, time, uuid } from '../platform/schemas.js';

export const rebuildSchema = z
  .object({
    id: uuid,
    clusterId: uuid,
    volumeId: uuid,
    targetReplicaId: uuid,
    targetNodeId: uuid,
    sourceReplicaIds: z.array(uuid),
    sourceNodeIds: z.array(uuid),
    state: z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled']),
    phase: z.enum(REBUILD_PHASES),
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
    paused: z.boolean(),
    bandwidthBytesPerSecond: bytes.nullable().describe('Its own limit; null for none.'),
    grantedBytesPerSecond: bytes
      .nullable()
      .describe("What it may copy now: its own limit, and its share of its target node's. Null: no limit."),
    size: bytes,
    bytes: z.object({ total: bytes, compared: bytes, skipped: bytes, sent: bytes, written: bytes }),
    percent: z.number().min(0).max(100),
    rateBytesPerSecond: bytes,
    eta: z.object({ p50: time, p90: time }).nullable().describe('When it will be done; null while unknown.'),
    snapshots: z.array(
      z.object({
        name: z.string(),
        method: z.enum(REBUILD_METHODS),
        reason: z.string(),
        bytesSent: bytes,
      }),
    ),
    attempts: z.int(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    queuedAt: time,
    startedAt: time.nullable(),
    finishedAt: time.nullable(),
    version: z.int(),
  })
  .meta({ id: 'Rebuild' });

export class RebuildPath extends dto(z.object({ clusterId: id<ClusterId>(), rebuildId: id<RebuildId>() })) {}
export class PatchRebuildBody extends dto(
  z.strictObject({
    paused: z.boolean().optional(),
    bandwidthBytesPerSecond: z
      .int()
      .min(REBUILD_BANDWIDTH_MIN)
      .nullish()
      .describe('Its own limit, at least 1 MiB/s; null for none.'),
  }),
) {}
export class RebuildDto extends dto(rebuildSchema) {}
export class RebuildPage extends dto(pageOf(rebuildSchema, 'RebuildList')) {}
