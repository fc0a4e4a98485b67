/**
 * How each frozen layer gets to the target of a rebuild (DESIGN section 5): not at all, by comparing, or as a whole.
 *
 * One pure decision over what both sides say of themselves. A layer may be left out only where something proves that
 * the target has it: equal checksums that are valid for the files as they are, or an absence during which nobody else
 * could change it. Everything else is compared block by block or sent.
 */
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
  readonly heldBytes: number;
  /** Valid for the files as they are now; null when there is none that is. */
  readonly checksum: string | null;
  /** Set on the layer up to which some copies took part before they were dropped. */
  readonly drop: {
    readonly replicaIds: readonly string[];
    /** Where they may differ from this layer. */
    readonly regions: RegionRuns;
    /** A copy with an older record is not the one that was dropped. */
    readonly sinceEpoch: number;
  } | null;
};

/** What the target holds before the rebuild. */
export type RebuildTarget = {
  readonly replicaId: string;
  /** Epoch of its record; null when it is no member, as after an interrupted rebuild. */
  readonly recordEpoch: number | null;
  readonly layers: readonly Pick<SourceLayer, 'id' | 'parentId' | 'heldBytes' | 'checksum'>[];
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
  return source.map((layer): LayerPlan => {
    const { id, name } = layer;
    const own = target.layers.find((one) => one.id === id);
    if (own !== undefined)
      return { id, name, from: id, regions: null, ...known(layer, own, dropped, options) };
    if (layer !== headBase) {
      return {
        id,
        name,
        method: 'full',
        reason: 'the target does not have this layer',
        from: null,
        regions: null,
      };
    }
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
  const { recordEpoch, head } = target;
  return recordEpoch !== null && recordEpoch >= drop.sinceEpoch && head.parentId === parentId;
}

/** The layer that froze, on the source, what the target still has in its head. */
function firstUnknownOnHead(source: readonly SourceLayer[], { head, layers }: RebuildTarget) {
  if (head.heldBytes === 0) return undefined;
  return source.find(
    ({ id, parentId }) => parentId === head.parentId && !layers.some((own) => own.id === id),
  );
}

function known(
  layer: SourceLayer,
  own: RebuildTarget['layers'][number],
  dropped: SourceLayer | undefined,
  { fastRebuild }: LayerPlanOptions,
): Pick<LayerPlan, 'method' | 'reason'> {
  if (dropped !== undefined && own.parentId === layer.parentId) {
    return { method: 'fast', reason: 'frozen while the target was a current copy' };
  }
  if (own.heldBytes === 0) return { method: 'full', reason: 'the target has none of this layer yet' };
  if (!fastRebuild) return { method: 'delta', reason: 'fast rebuilds are off' };
  if (layer.checksum === null) return { method: 'delta', reason: 'the source has no valid checksum of it' };
  if (own.checksum === null) return { method: 'delta', reason: 'the target has no valid checksum of it' };
  if (own.checksum !== layer.checksum || own.heldBytes !== layer.heldBytes) {
    return { method: 'delta', reason: 'the checksums differ' };
  }
  return { method: 'fast', reason: 'both sides have the same checksum of it' };
}
