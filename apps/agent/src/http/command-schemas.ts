/**
 * Schemas of the commands that engines send to copies. What the commands mean is in the data engine's `commands.ts`.
 */
import { copyRecordSchema } from '@holdfast/core/model/agent-protocol.js';
import { REGION_BYTES, TIB } from '@holdfast/core/model/bytes.js';
import { counterField as counter, uuidField as uuid } from '@holdfast/core/model/message-fields.js';
import { REBUILD_METHODS } from '@holdfast/core/model/rebuild.js';
import type { Ask, CommandName } from '@holdfast/data-engine/protocol/commands.js';
import { LAYERS_MAX } from '@holdfast/data-engine/protocol/layers.js';
import { BLOCK_HASHES, PROGRESS_WAIT_MS, PULL_STATES } from '@holdfast/data-engine/protocol/pull.js';
import { RANGES_PER_ANSWER } from '@holdfast/data-engine/pull/differing-ranges.js';
import { z } from 'zod';

const epoch = counter;

/** Pairs of counters, checked by a loop: there may be millions, and a zod schema takes microseconds for each. */
const pairs = (countMax: number) =>
  z.custom<[number, number][]>(
    (value) => Array.isArray(value) && value.length <= countMax && value.every(isPair),
    `at most ${countMax} pairs of counters`,
  );

function isPair(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length === 2 && value.every((one) => Number.isSafeInteger(one) && one >= 0)
  );
}

const drop = z.object({
  replicaIds: z.array(uuid).max(64),
  regions: pairs(4096),
  regionBytes: counter,
  sinceEpoch: counter,
  sinceGeneration: counter.optional(),
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
  nodeId: uuid,
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
  // The union of two maps, each with at most 4,096 runs.
  ranges: pairs(8192).nullable(),
});

/** Most runs of marked regions: every second region of the largest volume, 64 TiB. */
const RUNS_MAX = (64 * TIB) / REGION_BYTES / 2;

const blockHash = z.enum(BLOCK_HASHES);
const tuning = z.object({
  bandwidthBytesPerSecond: counter.min(1).nullable(),
  paused: z.boolean(),
  yields: z.boolean().optional(),
});
const term = z.object({ epoch, lease: counter.optional() });
const rebuild = term.extend({ rebuildId: uuid });
const layer = term.extend({ layerId: uuid });
/** Ids of the head that the command is about, and of the one it makes. */
const headChange = { expectedHeadId: uuid.optional(), headId: uuid.optional() };

export const COMMAND_SCHEMAS: { readonly [Name in CommandName]: z.ZodType<Ask<Name>> } = {
  open: z.object({
    epoch,
    afresh: z.boolean().optional(),
    grantId: uuid.optional(),
    count: counter.optional(),
  }),
  record: term.extend({ record: copyRecordSchema }),
  snapshot: term.extend({ layer: snapshotAsk, sizeBytes: counter, ...headChange }),
  unfreeze: layer.extend(headChange),
  revert: layer.extend({ ...headChange, headId: uuid, revertId: uuid.optional() }),
  'mark-removed': layer,
  purge: layer.extend({ firstWindow: counter }),
  chain: term,
  stat: term,
  intent: term,
  unflushed: term.extend({ from: counter }),
  'clear-intent': term.extend({
    marker: z.object({ life: z.string().max(64), changes: counter }).optional(),
    regions: pairs(RUNS_MAX).optional(),
  }),
  prepare: rebuild.extend({
    layers: z.array(frozenLayer.extend({ from: uuid.nullable() })).max(LAYERS_MAX),
    headParentId: uuid.nullable(),
    sizeBytes: counter,
    lastRevertId: uuid.nullable().optional(),
    ...headChange,
  }),
  pull: rebuild.extend({
    sources: z.array(pullSource).min(1).max(64),
    layers: z.array(pulledLayer).max(LAYERS_MAX),
    blockHash,
    tuning,
    attempt: counter.optional(),
  }),
  'tune-pull': rebuild.extend({ tuning }),
  progress: rebuild.extend({
    wait: z.object({ state: z.enum(PULL_STATES), atMostMs: counter.max(PROGRESS_WAIT_MS) }).optional(),
  }),
  'cancel-pull': rebuild.extend({ attempt: counter.optional() }),
  hashes: layer.extend({ firstWindow: counter, endWindow: counter }),
  'block-hashes': layer.extend({ blockHash, firstWindow: counter, endWindow: counter }),
  'range-sums': layer.extend({ first: counter, count: z.number().int().min(1).max(RANGES_PER_ANSWER) }),
  'hash-layer': layer.extend({ force: z.boolean() }),
};
