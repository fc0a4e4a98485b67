/** Checks the commands that engines send to copies; their meaning is in the data engine's `commands.ts`. */
import { copyRecordSchema } from '@holdfast/core/model/agent-protocol.js';
import { REBUILD_METHODS } from '@holdfast/core/model/rebuild.js';
import { BLOCK_HASHES, type CommandName } from '@holdfast/data-engine/replica/commands.js';
import { LAYERS_MAX } from '@holdfast/data-engine/replica/layer-tree.js';
import { RANGES_PER_ANSWER } from '@holdfast/data-engine/sync/differing-ranges.js';
import { z } from 'zod';

const counter = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const uuid = z.string().uuid();
const epoch = counter;

const drop = z.object({
  replicaIds: z.array(uuid).max(64),
  regions: z.array(z.tuple([counter, counter])).max(4096),
  regionBytes: counter,
  sinceEpoch: counter,
});

const snapshotAsk = z.object({
  id: uuid,
  name: z.string().min(1).max(256),
  origin: z.enum(['user', 'system']),
  createdAt: z.string().max(64),
  drop: drop.nullable(),
});

const frozenLayer = snapshotAsk.extend({
  parentId: uuid.nullable(),
  sizeBytes: counter,
  removed: z.boolean(),
});

const pullSource = z.object({
  replicaId: uuid,
  controlUrl: z.string().url(),
  nbdHost: z.string().max(255),
  nbdPort: z.number().int().min(1).max(65535),
  secret: z.string().max(256),
});

const pulledLayer = z.object({
  id: uuid,
  name: z.string().min(1).max(256),
  method: z.enum(REBUILD_METHODS),
  reason: z.string().max(1024),
  heldBytes: counter,
  // Of two maps, each with at most 4,096 runs.
  ranges: z
    .array(z.tuple([counter, counter]))
    .max(8192)
    .nullable(),
});

const blockHash = z.enum(BLOCK_HASHES);
const tuning = z.object({
  bandwidthBytesPerSecond: counter.min(1).nullable(),
  paused: z.boolean(),
  yields: z.boolean().optional(),
});
const rebuild = z.object({ epoch, rebuildId: uuid });
const layer = z.object({ epoch, layerId: uuid });

export const COMMAND_SCHEMAS = {
  open: z.object({ epoch, afresh: z.boolean().optional() }),
  record: z.object({ epoch, record: copyRecordSchema }),
  snapshot: z.object({ epoch, layer: snapshotAsk, sizeBytes: counter }),
  unfreeze: layer,
  revert: layer.extend({ headId: uuid }),
  'mark-removed': layer,
  purge: layer.extend({ firstWindow: counter }),
  chain: z.object({ epoch }),
  stat: z.object({ epoch }),
  intent: z.object({ epoch }),
  settle: z.object({ epoch }),
  prepare: rebuild.extend({
    layers: z.array(frozenLayer.extend({ from: uuid.nullable() })).max(LAYERS_MAX),
    headParentId: uuid.nullable(),
    sizeBytes: counter,
  }),
  pull: rebuild.extend({
    sources: z.array(pullSource).min(1).max(64),
    layers: z.array(pulledLayer).max(LAYERS_MAX),
    blockHash,
    tuning,
  }),
  'tune-pull': rebuild.extend({ tuning }),
  progress: rebuild,
  'cancel-pull': rebuild,
  hashes: layer.extend({ firstWindow: counter, endWindow: counter }),
  'block-hashes': layer.extend({ blockHash, firstWindow: counter, endWindow: counter }),
  'range-sums': layer.extend({ first: counter, count: z.number().int().min(1).max(RANGES_PER_ANSWER) }),
  'hash-layer': layer.extend({ force: z.boolean() }),
} satisfies Record<CommandName, z.ZodType>;
