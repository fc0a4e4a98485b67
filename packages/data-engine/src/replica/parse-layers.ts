/** Parser of the layers in a copy's metadata. Invalid input is refused, never guessed at. */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { isCount, isObject, isUuid } from '../disk/stored-values.js';
import { type LayerMetadata } from '../layers/layer-tree.js';
import type { DropMark, LayerChecksum } from '../protocol/layers.js';
import { LAYERS_MAX } from '../protocol/layers.js';
import { corrupt } from '../protocol/replica-faults.js';

export function parseLayers(stored: unknown, volumeBytes: number): LayerMetadata[] {
  if (!Array.isArray(stored) || stored.length === 0 || stored.length > LAYERS_MAX) {
    throw corrupt('it has no layers, or too many');
  }
  const layers: LayerMetadata[] = [];
  for (const layer of stored) {
    const parsed = parseLayer(layer, volumeBytes);
    const hasParent = parsed.parentId === null || layers.some(({ id }) => id === parsed.parentId);
    if (!hasParent) throw corrupt('a layer stands on one that is not there');
    layers.push(parsed);
  }
  return layers;
}

function parseLayer(stored: unknown, volumeBytes: number): LayerMetadata {
  if (!isObject(stored)) throw corrupt('a layer is wrong');
  const { id, name, origin, file } = stored;
  if (!isUuid(id) || typeof name !== 'string' || !isUuid(file)) throw corrupt('a layer is wrong');
  if (origin !== 'user' && origin !== 'system') throw corrupt('a layer is wrong');
  const { parentId, sizeBytes, createdAt, removed } = stored;
  if (parentId !== null && !isUuid(parentId)) throw corrupt('the parent of a layer is wrong');
  if (!isCount(sizeBytes) || sizeBytes === 0 || sizeBytes % BLOCK_BYTES !== 0 || sizeBytes > volumeBytes) {
    throw corrupt('the size of a layer is wrong');
  }
  if (typeof createdAt !== 'string' || typeof removed !== 'boolean') throw corrupt('a layer is wrong');
  const drop = parseDrop(stored.drop);
  const checksum = parseChecksum(stored.checksum);
  return { id, name, origin, parentId, sizeBytes, createdAt, removed, drop, file, checksum };
}

function parseDrop(stored: unknown): DropMark | null {
  if (stored === undefined || stored === null) return null;
  if (!isObject(stored)) throw corrupt('a drop mark is wrong');
  const { replicaIds, regions, regionBytes, sinceEpoch } = stored;
  if (!Array.isArray(replicaIds) || !replicaIds.every(isUuid)) throw corrupt('a drop mark is wrong');
  if (!Array.isArray(regions) || !isCount(regionBytes) || !isCount(sinceEpoch)) {
    throw corrupt('a drop mark is wrong');
  }
  const { sinceGeneration } = stored;
  if (sinceGeneration !== undefined && !isCount(sinceGeneration)) throw corrupt('a drop mark is wrong');
  return { replicaIds, regionBytes, sinceEpoch, sinceGeneration, regions: regions.map(parseRun) };
}

function parseRun(stored: unknown): [number, number] {
  if (!Array.isArray(stored)) throw corrupt('a drop mark is wrong');
  const [first, count]: unknown[] = stored;
  if (!isCount(first) || !isCount(count)) throw corrupt('a drop mark is wrong');
  return [first, count];
}

/** An unreadable checksum counts as none: checksums only save work. */
function parseChecksum(stored: unknown): LayerChecksum | undefined {
  if (!isObject(stored)) return undefined;
  const { algorithm, value, heldBytes, changeTime, hashedAt } = stored;
  if (algorithm !== 'blake3' || typeof value !== 'string' || !isCount(heldBytes)) return undefined;
  if (typeof changeTime !== 'string' || typeof hashedAt !== 'string') return undefined;
  return { algorithm, value, heldBytes, changeTime, hashedAt };
}
