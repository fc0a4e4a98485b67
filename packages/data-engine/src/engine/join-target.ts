/**
 * Start of a rebuild: chooses a sync method for each layer, prepares the target, and joins it under the same barrier
 * in which a system snapshot freezes the source data on all current copies.
 */
import crypto from 'node:crypto';
import type { RebuildOptions } from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { portsOf } from '../nbd/ports.js';
import { type ChainFacts, type FrozenLayer, LAYERS_MAX, type LayerFacts } from '../protocol/layers.js';
import type { ByteRange, PulledLayer } from '../protocol/pull.js';
import { tooManyLayers } from '../protocol/replica-faults.js';
import type { Copies } from './copies.js';
import type { DropMarks } from './drop-marks.js';
import type { EngineDependencies, PlannedLayer, Regions } from './engine-state.js';
import { followMerges } from './follow-merges.js';
import { freezeAll } from './freeze.js';
import type { ReplicaLink } from './replica-link.js';

export interface RebuildHost {
  readonly spec: { epoch: number; grantId?: string | undefined };
  readonly replicaTimeoutMs: number;
  readonly copies: Copies;
  readonly drops: Pick<DropMarks, 'marked'>;
  readonly dependencies: EngineDependencies;
  readonly device: {
    readonly sizeBytes: number;
    readonly requests: number;
    exclusive<T>(work: () => Promise<T>): Promise<T>;
    flush(): Promise<void>;
    flushCopies(): Promise<void>;
  };
  equal(): Promise<void>;
}

export type JoinSpec = { rebuildId: string; options: Pick<RebuildOptions, 'fastRebuild'> };

/**
 * Maximum attempts. A snapshot that a user takes meanwhile restarts the join; this many in a row are no coincidence.
 */
const ATTEMPTS_MAX = 10;

/** @throws StorageFault `replica.too_many_layers` before anything is done */
export async function joinTarget(
  host: RebuildHost,
  spec: JoinSpec,
  link: ReplicaLink,
  source: ReplicaLink,
): Promise<PulledLayer[]> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const layers = await tryToJoin(host, spec, link, source);
    if (layers !== undefined) return layers;
  }
  throw new StorageFault('rebuild.failed', {
    publicMessage: `snapshots were taken ${ATTEMPTS_MAX} times while the copy was about to join`,
  });
}

/** `undefined` if the layers changed between the plan and the freeze. */
async function tryToJoin(
  host: RebuildHost,
  { rebuildId, options }: JoinSpec,
  link: ReplicaLink,
  source: ReplicaLink,
): Promise<PulledLayer[] | undefined> {
  const { epoch } = host.spec;
  const { time } = portsOf(host.dependencies);
  const before = await source.control.command('chain', { epoch });
  // Two more are added: the snapshot of this rebuild, and the head.
  if (before.layers.length + 2 > LAYERS_MAX) throw tooManyLayers(LAYERS_MAX);
  // Errors are ignored: without the merge more is compared or sent.
  await followMerges(link, epoch, before, () => host.copies.requireServing()).catch(() => undefined);
  const snapshot = rebuildSnapshot(rebuildId, before, host.device.sizeBytes, time.date());
  const plans = await planFor(host, options, link, [
    ...before.layers,
    { ...snapshot, heldBytes: before.head.heldBytes, checksum: null, ranges: false },
  ]);
  await link.change('prepare', {
    epoch,
    rebuildId,
    headId: crypto.randomUUID(),
    lastRevertId: before.lastRevertId,
    layers: [...before.layers.map(frozenPart), snapshot].map((layer) => ({
      ...layer,
      from: plans.get(layer.id)?.from ?? null,
    })),
    headParentId: snapshot.id,
    sizeBytes: host.device.sizeBytes,
  });
  // Flushes before the barrier, so that little is left to flush while writes wait.
  await host.device.flush();
  return host.device.exclusive(async () => {
    const now = await source.control.command('chain', { epoch });
    if (!sameLayers(before, now)) return undefined;
    await freezeAll(host.copies, epoch, { layer: snapshot, sizeBytes: host.device.sizeBytes });
    host.copies.add(link);
    const frozen = await source.control.command('chain', { epoch });
    return [...before.layers, snapshot].map(({ id }) => {
      const layer = frozen.layers.find((one) => one.id === id);
      const plan = plans.get(id);
      // The freeze may have failed on the source, which is then dropped and does not hold the frozen data.
      if (layer === undefined || plan === undefined) throw sourceLost(source);
      return pulled(layer, plan);
    });
  });
}

function sourceLost({ replicaId }: ReplicaLink): StorageFault {
  return new StorageFault('rebuild.failed', {
    publicMessage: `copy ${replicaId} was to be read from, and was lost when the layers were frozen`,
  });
}

function sameLayers(before: ChainFacts, now: ChainFacts): boolean {
  const ids = ({ layers, head, sizeBytes }: ChainFacts) =>
    [...layers.map(({ id }) => id), head.id, sizeBytes].join();
  return ids(before) === ids(now);
}

function rebuildSnapshot(
  rebuildId: string,
  { head }: ChainFacts,
  sizeBytes: number,
  createdAt: Date,
): FrozenLayer {
  return {
    id: crypto.randomUUID(),
    name: `rebuild-${rebuildId}`,
    origin: 'system',
    parentId: head.parentId,
    sizeBytes,
    createdAt: createdAt.toISOString(),
    removed: false,
    drop: null,
  };
}

async function planFor(
  { spec, dependencies }: RebuildHost,
  options: JoinSpec['options'],
  link: ReplicaLink,
  layers: readonly LayerFacts[],
): Promise<Map<string, PlannedLayer>> {
  const { epoch } = spec;
  const own = await link.control.command('chain', { epoch });
  link.headId = own.head.id;
  const intent = await link.control.command('intent', { epoch });
  const plans = dependencies.planLayers(
    layers.map((layer) => ({
      ...layer,
      drop: layer.drop && { ...layer.drop, regions: markedRegions(layer.drop) },
    })),
    {
      replicaId: link.replicaId,
      recordEpoch: own.recordEpoch,
      recordGeneration: own.recordGeneration,
      disk: own.disk,
      layers: own.layers,
      head: own.head,
      intent: { regionBytes: intent.regionBytes, runs: intent.regions },
    },
    options,
  );
  return new Map(plans.map((plan) => [plan.id, plan]));
}

function markedRegions(drop: NonNullable<FrozenLayer['drop']>): Regions {
  return { regionBytes: drop.regionBytes, runs: drop.regions };
}

function frozenPart(layer: FrozenLayer): FrozenLayer {
  const { id, name, origin, parentId, sizeBytes, createdAt, removed, drop } = layer;
  return { id, name, origin, parentId, sizeBytes, createdAt, removed, drop };
}

function pulled({ id, name, heldBytes, sizeBytes }: LayerFacts, plan: PlannedLayer): PulledLayer {
  const { method, reason, regions } = plan;
  return {
    id,
    name,
    method,
    reason,
    heldBytes,
    ranges: regions === null ? null : rangesOf(regions, sizeBytes),
  };
}

/** The union of regions, perhaps of several sizes, as ordered byte ranges. */
export function rangesOf(regions: readonly Regions[], sizeBytes: number): ByteRange[] {
  const all = regions.flatMap(({ regionBytes, runs }) =>
    runs.map(([first, count]): ByteRange => [first * regionBytes, (first + count) * regionBytes]),
  );
  const union: ByteRange[] = [];
  for (const [start, end] of all.sort(([a], [b]) => a - b)) {
    const last = union.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else union.push([start, end]);
  }
  return union
    .filter(([start]) => start < sizeBytes)
    .map(([start, end]): ByteRange => [start, Math.min(end, sizeBytes)]);
}
