/** Layers of a copy as its engine sees them, and the questions that both sides ask of them. */

/** Drop mark: the last layer in which some copies took part before they were dropped (docs/adr/0090-drop-marks.md). */
export type DropMark = {
  replicaIds: string[];
  /** Regions where those copies may differ from this layer, as pairs of first region and count. */
  regions: [number, number][];
  regionBytes: number;
  /**
   * Epoch of the oldest valid record: a dropped copy that holds an older one was set back, and the mark does not
   * apply.
   */
  sinceEpoch: number;
  /** The lowest valid generation of that epoch, likewise. */
  sinceGeneration?: number | undefined;
};

/** A frozen layer, in the form that all copies of a volume share. */
export type FrozenLayer = {
  id: string;
  name: string;
  origin: 'user' | 'system';
  /** The next older layer; null for the lowest. */
  parentId: string | null;
  /** Size of the volume while the layer took writes, in bytes: volumes grow. */
  sizeBytes: number;
  /** Time of the freeze, by the requester's clock; RFC 3339. */
  createdAt: string;
  /** Marked as deleted; a purge removes the layer. */
  removed: boolean;
  drop: DropMark | null;
};

/** Checksum of a layer's content, valid for one state of its files. */
export type LayerChecksum = {
  algorithm: 'blake3';
  value: string;
  /** Bytes that the layer held. */
  heldBytes: number;
  /** Change times of the layer's files. If they differ now, the content may differ too. */
  changeTime: string;
  hashedAt: string;
};

/** A frozen layer of one copy, with what only that copy knows. */
export type LayerFacts = FrozenLayer & {
  heldBytes: number;
  /** Null if the layer was never hashed, or its files have changed since. */
  checksum: string | null;
  /** True if it was hashed, and its files have changed since. Absent in answers of older versions. */
  isChanged?: boolean | undefined;
  /** True if valid checksums of the layer's ranges are stored. */
  ranges: boolean;
};

export type SnapshotAsk = Pick<FrozenLayer, 'id' | 'name' | 'origin' | 'createdAt' | 'drop'>;

export type ChainFacts = {
  /** Frozen layers, including those on branches; parents before their children. */
  layers: LayerFacts[];
  head: { id: string; parentId: string | null; heldBytes: number };
  sizeBytes: number;
  /** Kind of the disk that the copy is on. */
  disk: 'filesystem' | 'block';
  /** Null for a copy that is no member, such as the target of an unfinished rebuild. */
  recordEpoch: number | null;
  recordGeneration?: number | null | undefined;
  /** The idempotency key of the last revert. */
  lastRevertId?: string | null | undefined;
};

/** Maximum number of layers, as every read of an unwritten block walks the chain. The same bound as Longhorn's. */
export const LAYERS_MAX = 250;

/** Beginning of the name of the layer that a revert freezes first: with it every copy has the files of its new head (docs/design/write-path.md). */
export const REVERT_LAYER_NAME = 'revert-';

/** A layer and its ancestors, oldest first. */
export function chainUpTo<T extends Pick<FrozenLayer, 'id' | 'parentId'>>(
  layers: readonly T[],
  layerId: string | null,
): T[] {
  const chain: T[] = [];
  // Terminates: parents come before their children, so each step goes to an earlier index.
  for (let at = layers.length - 1, wanted = layerId; at >= 0 && wanted !== null; at -= 1) {
    const layer = layers[at];
    if (layer?.id !== wanted) continue;
    chain.unshift(layer);
    wanted = layer.parentId;
  }
  return chain;
}

export function childrenOf<T extends Pick<FrozenLayer, 'parentId'>>(
  layers: readonly T[],
  layerId: string,
): T[] {
  return layers.filter(({ parentId }) => parentId === layerId);
}

/**
 * True for a layer that may be removed: deleted by a user, or left by a rebuild and not a drop mark that is still
 * needed.
 */
export function isPurgeable({ origin, removed, drop }: FrozenLayer): boolean {
  return removed || (origin === 'system' && drop === null);
}
