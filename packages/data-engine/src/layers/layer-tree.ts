/**
 * Layer tree of a copy: every frozen layer names its parent, and the head stands on one of them.
 *
 * A revert leaves the layers after the snapshot as a branch of their own. All functions here are pure: they compute
 * the next tree without touching a file; `ReplicaState` then makes the files match.
 */
import crypto from 'node:crypto';
import {
  chainUpTo,
  childrenOf,
  type FrozenLayer,
  LAYERS_MAX,
  type LayerChecksum,
  REVERT_LAYER_NAME,
  type SnapshotAsk,
} from '../protocol/layers.js';
import { snapshotInUse, snapshotNotFound, tooManyLayers } from '../protocol/replica-faults.js';

/**
 * A layer, and what only this copy knows of it: its file, and the checksum of its content. In a list of layers
 * parents come before their children, and the head is the last one.
 */
export type LayerMetadata = FrozenLayer & { file: string; checksum?: LayerChecksum | undefined };

/** The layers that the device is read from, oldest first, the head last. */
export function chainOf(layers: readonly LayerMetadata[]): LayerMetadata[] {
  return chainUpTo(layers, layers.at(-1)?.id ?? null);
}

/** Freezes the head under the given name, and adds an empty head above it. */
export function withSnapshot(
  layers: readonly LayerMetadata[],
  { id, name, origin, createdAt, drop }: SnapshotAsk,
  headBytes: number,
  headId?: string,
): LayerMetadata[] {
  requireRoom(layers, 1);
  const { head, frozen } = split(layers);
  // The parent comes from this copy's own tree, whatever the caller believes.
  const now: LayerMetadata = { ...head, id, name, origin, createdAt, drop, removed: false };
  return [...frozen, now, newHead(now.id, headBytes, headId)];
}

/**
 * Rolls back a freeze that only some copies have done. The head above the layer is empty. It becomes as large as the layer was, as
 * an expansion that was not done needs no space to be taken back.
 */
export function withoutFreeze(
  layers: readonly LayerMetadata[],
  layerId: string,
  headId?: string,
): LayerMetadata[] {
  const { head, frozen } = split(layers);
  const layer = frozen.find(({ id }) => id === layerId);
  if (layer === undefined || head.parentId !== layerId) throw snapshotNotFound();
  if (childrenOf(layers, layerId).length > 1) throw snapshotInUse();
  const thawed: LayerMetadata = {
    ...head,
    id: headId ?? head.id,
    parentId: layer.parentId,
    file: layer.file,
    sizeBytes: layer.sizeBytes,
  };
  return [...frozen.filter((one) => one !== layer), thawed];
}

/** Gives the head another id, so that commands which expect the one of before are refused. */
export function withHeadId(layers: readonly LayerMetadata[], headId: string): LayerMetadata[] {
  const { head, frozen } = split(layers);
  return [...frozen, { ...head, id: headId }];
}

/**
 * Puts an empty head on a frozen layer. The old head's content is discarded; layers above stay as a branch.
 *
 * @param isHeadEmpty its file then becomes the new head's, and the layer that this revert has frozen is removed: it takes no space
 */
export function withRevert(
  layers: readonly LayerMetadata[],
  layerId: string,
  headId: string,
  isHeadEmpty = false,
): LayerMetadata[] {
  const { head, frozen } = split(layers);
  const target = frozen.find(({ id }) => id === layerId);
  if (target === undefined || target.removed) throw snapshotNotFound();
  const next = newHead(layerId, head.sizeBytes, headId);
  const begun = frozen.find(({ id }) => id === head.parentId);
  const isBegun = isHeadEmpty && begun?.origin === 'system' && begun.name.startsWith(REVERT_LAYER_NAME);
  if (!isBegun || childrenOf(layers, begun.id).length > 1) return [...frozen, next];
  return [...frozen.filter((layer) => layer !== begun), { ...next, file: head.file }];
}

/** Marks frozen layers as deleted. A purge removes them when it can. */
export function withRemoved(layers: readonly LayerMetadata[], layerId: string): LayerMetadata[] {
  const { head, frozen } = split(layers);
  if (!frozen.some(({ id }) => id === layerId)) throw snapshotNotFound();
  return [...frozen.map((layer) => (layer.id === layerId ? { ...layer, removed: true } : layer)), head];
}

/** Removes a layer without children. */
export function withoutLeaf(layers: readonly LayerMetadata[], layerId: string): LayerMetadata[] {
  if (childrenOf(layers, layerId).length > 0) throw snapshotInUse();
  return layers.filter(({ id }) => id !== layerId);
}

/** Removes a layer after its only child's blocks were copied into its file: the file now belongs to the child. */
export function withMerged(layers: readonly LayerMetadata[], layerId: string): LayerMetadata[] {
  const merged = layers.find(({ id }) => id === layerId);
  const [child, ...others] = childrenOf(layers, layerId);
  if (merged === undefined || child === undefined || others.length > 0) throw snapshotInUse();
  return layers
    .filter((layer) => layer !== merged)
    .map((layer) =>
      layer === child
        ? { ...child, parentId: merged.parentId, file: merged.file, checksum: undefined }
        : layer,
    );
}

/** A layer of the source, as adopted by a rebuild target. */
export type Adoption = FrozenLayer & {
  /**
   * The target's own layer whose file the adopted one starts from: the same layer, or the old head. Null for an empty
   * file.
   */
  from: string | null;
};

/**
 * The tree of a rebuild target: its source's frozen layers under a new head. Files that no layer starts from are
 * removed.
 */
export function withAdopted(
  layers: readonly LayerMetadata[],
  adopted: readonly Adoption[],
  headParentId: string | null,
  sizeBytes: number,
  headId?: string,
): LayerMetadata[] {
  requireRoom(adopted, 1);
  const used = new Set<string>();
  const frozen = adopted.map(({ from, ...layer }) => {
    const own = layers.find(({ id }) => id === from);
    // Two layers in one file would overwrite each other.
    const file = own === undefined || used.has(own.file) ? crypto.randomUUID() : own.file;
    used.add(file);
    const kept = own !== undefined && own.file === file && own.id === layer.id ? own.checksum : undefined;
    return { ...layer, file, checksum: kept };
  });
  return [...frozen, newHead(headParentId, sizeBytes, headId)];
}

export function newHead(parentId: string | null, sizeBytes: number, id?: string): LayerMetadata {
  return {
    id: id ?? crypto.randomUUID(),
    name: 'head',
    origin: 'system',
    parentId,
    sizeBytes,
    createdAt: '',
    removed: false,
    drop: null,
    file: crypto.randomUUID(),
  };
}

function split(layers: readonly LayerMetadata[]): { head: LayerMetadata; frozen: LayerMetadata[] } {
  const head = layers.at(-1);
  if (head === undefined) throw snapshotNotFound();
  return { head, frozen: layers.slice(0, -1) };
}

function requireRoom(layers: readonly unknown[], more: number): void {
  if (layers.length + more > LAYERS_MAX) throw tooManyLayers(LAYERS_MAX);
}
