/**
 * Transfer plan of a rebuild: how each frozen layer gets to the target: not at all, by comparing, or as a whole.
 *
 * One pure decision over what both sides say of themselves. A layer may be left out only where something proves that
 * the target has it: equal checksums that are valid for the files as they are, or an absence during which no engine could
 * change it. Everything else is compared or sent: on folders (v1) block by block, on block disks (v2) by stored
 * checksums of ranges, and as a whole where there are none.
 */
import { compareRecords } from '../model/copy-record.js';
import type { DiskType } from '../model/node.js';
import type { RebuildMethod } from '../model/rebuild.js';

/** Regions of a device, as pairs of first region and count. */
export type RegionRuns = {
  readonly regionBytes: number;
  readonly runs: readonly (readonly [number, number])[];
};

export type SourceLayer = {
  readonly id: string;
  readonly name: string;
  /** The layer it stands on; null for the lowest. */
  readonly parentId: string | null;
  /** When it was frozen, as the request for it said. */
  readonly createdAt: string;
  readonly heldBytes: number;
  /** Valid for the files as they are now; null when there is none that is. */
  readonly checksum: string | null;
  /** There are checksums of its ranges that belong to it. */
  readonly ranges: boolean;
  /** What `removed` and `origin` say of it; absent for layers of which nothing is given back while they stay. */
  readonly removed?: boolean | undefined;
  readonly origin?: 'user' | 'system' | undefined;
  /** Set on the layer up to which some copies took part before they were dropped. */
  readonly drop: {
    readonly replicaIds: readonly string[];
    /** Where they may differ from this layer. */
    readonly regions: RegionRuns;
    /** A copy with an older record is not the one that was dropped. */
    readonly sinceEpoch: number;
    /** Nor is one of that epoch whose record has a lower generation. Absent in marks of older versions. */
    readonly sinceGeneration?: number | undefined;
  } | null;
};

type OwnLayer = Pick<SourceLayer, 'id' | 'parentId' | 'createdAt' | 'heldBytes' | 'checksum' | 'ranges'>;

/** What the target holds before the rebuild. */
export type RebuildTarget = {
  readonly replicaId: string;
  /** What its disk is: copies on block disks are not compared block by block. */
  readonly disk: DiskType;
  /** Epoch of its record; null when it is no member, as after an interrupted rebuild. */
  readonly recordEpoch: number | null;
  /** And its generation; absent from agents that do not say, which then is the lowest. */
  readonly recordGeneration?: number | null | undefined;
  readonly layers: readonly OwnLayer[];
  /** What was written since its last frozen layer. */
  readonly head: { readonly id: string; readonly parentId: string | null; readonly heldBytes: number };
  /** Where its last writes may not have reached the other copies. */
  readonly intent: RegionRuns;
};

export type LayerPlan = {
  readonly id: string;
  readonly name: string;
  readonly method: RebuildMethod;
  /** Why that method, in words. */
  readonly reason: string;
  /** The layer of the target that it starts from: itself, or the old head; null for an empty one. */
  readonly from: string | null;
  /** The only regions that are looked at; null for all. */
  readonly regions: readonly RegionRuns[] | null;
};

export type LayerPlanOptions = {
  /** Setting `fast-replica-rebuild-enabled`. */
  readonly fastRebuild: boolean;
};

/** @param source frozen layers of a current copy, parents before their children */
export function planLayers(
  source: readonly SourceLayer[],
  target: RebuildTarget,
  options: LayerPlanOptions,
): LayerPlan[] {
  const dropped = source.findLast((layer) => wasDroppedAt(layer, target));
  const headBase = dropped ?? firstUnknownOnHead(source, target);
  const pruned = dropped === undefined ? new Set<string>() : prunedBeneath(dropped, source);
  return source.map((layer): LayerPlan => {
    const { id, name } = layer;
    const own = target.layers.find((one) => one.id === id);
    const whole = { id, name, method: 'full' as const, from: null, regions: null };
    if (own !== undefined && dropped?.drop && pruned.has(id) && own.parentId === layer.parentId) {
      const reason = 'frozen while the target was a current copy: compared where something was being written';
      return { id, name, method: 'delta', reason, from: id, regions: [dropped.drop.regions, target.intent] };
    }
    if (own !== undefined) {
      const how = known(layer, own, { ...options, disk: target.disk, dropped });
      // On a block disk what is sent as a whole replaces what was there.
      const from = how.method === 'full' && target.disk === 'block' ? null : id;
      return { id, name, from, regions: null, ...how };
    }
    if (layer !== headBase) return { ...whole, reason: 'the target does not have this layer' };
    if (layer === dropped && layer.drop !== null) {
      const reason = 'the target took part until this layer: only what was being written then is compared';
      return {
        id,
        name,
        method: 'delta',
        reason,
        from: target.head.id,
        regions: [layer.drop.regions, target.intent],
      };
    }
    if (target.disk === 'block') {
      return { ...whole, reason: 'there are no checksums of what the target wrote last' };
    }
    const reason = 'what the target wrote last is compared with it';
    return { id, name, method: 'delta', reason, from: target.head.id, regions: null };
  });
}

/**
 * True for the layer up to which the target was a current copy, if nothing else has changed it since: then both sides
 * can differ only in the regions that were being written, by either side's own map.
 */
function wasDroppedAt({ drop, parentId }: SourceLayer, target: RebuildTarget): boolean {
  if (drop === null || !drop.replicaIds.includes(target.replicaId)) return false;
  const { recordEpoch, recordGeneration, head } = target;
  if (recordEpoch === null || head.parentId !== parentId) return false;
  const own = { epoch: recordEpoch, dataGeneration: recordGeneration ?? 0 };
  const since = { epoch: drop.sinceEpoch, dataGeneration: drop.sinceGeneration ?? 0 };
  // A copy that was set back lacks what it is known to have stored, wherever that was written.
  return compareRecords(own, since) >= 0;
}

/**
 * Layers right beneath the one at which the target was dropped that purges may have given blocks of back, each copy those
 * that its own head held. After a crash a head may hold a block that another copy's does not. Where the newer layer is made
 * equal to the source's, and forgets such a block, the older one has to have it again: so it is compared in the same regions.
 */
function prunedBeneath({ parentId }: SourceLayer, source: readonly SourceLayer[]): ReadonlySet<string> {
  const found = new Set<string>();
  let layer = source.find(({ id }) => id === parentId);
  while (
    layer !== undefined &&
    (layer.removed === true || (layer.origin === 'system' && layer.drop === null))
  ) {
    found.add(layer.id);
    const below = layer.parentId;
    layer = source.find(({ id }) => id === below);
  }
  return found;
}

/** The layer that froze, on the source, what the target still has in its head. */
function firstUnknownOnHead(source: readonly SourceLayer[], { head, layers }: RebuildTarget) {
  if (head.heldBytes === 0) return undefined;
  return source.find(
    ({ id, parentId }) => parentId === head.parentId && !layers.some((own) => own.id === id),
  );
}

type Known = LayerPlanOptions & { disk: DiskType; dropped: SourceLayer | undefined };

function known(
  layer: SourceLayer,
  own: OwnLayer,
  { fastRebuild, disk, dropped }: Known,
): Pick<LayerPlan, 'method' | 'reason'> {
  if (dropped !== undefined && own.parentId === layer.parentId) {
    return { method: 'fast', reason: 'frozen while the target was a current copy' };
  }
  if (own.heldBytes === 0) return { method: 'full', reason: 'the target has none of this layer yet' };
  const difference = fastRebuild ? differenceOf(layer, own, disk) : 'fast rebuilds are off';
  if (difference === undefined) {
    return { method: 'fast', reason: 'both sides have the same checksum of it' };
  }
  if (disk === 'filesystem') return { method: 'delta', reason: difference };
  return byRanges(layer, own, difference);
}

/** Why a layer can't be left out; `undefined` when it can. */
function differenceOf(layer: SourceLayer, own: OwnLayer, disk: DiskType): string | undefined {
  if (layer.checksum === null) return 'the source has no valid checksum of it';
  if (own.checksum === null) return 'the target has no valid checksum of it';
  if (disk === 'block' && own.createdAt !== layer.createdAt) return 'it was frozen at another time';
  if (own.checksum !== layer.checksum || own.heldBytes !== layer.heldBytes) return 'the checksums differ';
  return undefined;
}

function byRanges(layer: SourceLayer, own: OwnLayer, why: string): Pick<LayerPlan, 'method' | 'reason'> {
  if (layer.ranges && own.ranges) {
    return { method: 'ranges', reason: `${why}: only ranges with other checksums are looked at` };
  }
  const side = layer.ranges ? 'target' : 'source';
  return { method: 'full', reason: `${why}, and the ${side} has no checksums of its ranges` };
}
