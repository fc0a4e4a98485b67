import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { Bug } from '@holdfast/core/model/faults.js';
import type { LayerMetadata } from '../layers/layer-tree.js';
import type { ChainFacts, FrozenLayer, LayerFacts } from '../protocol/layers.js';
import type { Replica } from '../replica/replica.js';

/** Description of a copy's layers, for the engine and the control plane to plan with. */
export async function chainFacts(replica: Replica): Promise<ChainFacts> {
  const { layers, sizeBytes, record, lastRevertId } = replica.metadata;
  const head = layers.at(-1);
  if (head === undefined) throw new Bug('a copy without layers');
  return {
    layers: await Promise.all(layers.slice(0, -1).map((layer) => layerFacts(replica, layer))),
    head: { id: head.id, parentId: head.parentId, heldBytes: heldBytes(replica, head.id) },
    sizeBytes,
    disk: replica.diskKind,
    recordEpoch: record?.epoch ?? null,
    recordGeneration: record?.dataGeneration ?? null,
    lastRevertId: lastRevertId ?? null,
  };
}

async function layerFacts(replica: Replica, metadata: LayerMetadata): Promise<LayerFacts> {
  const { checksum } = metadata;
  const now = checksum === undefined ? undefined : await replica.layer(metadata.id)?.changeTime();
  const isValid = checksum !== undefined && checksum.changeTime === now;
  return {
    ...frozenPart(metadata),
    heldBytes: heldBytes(replica, metadata.id),
    checksum: isValid ? checksum.value : null,
    isChanged: checksum !== undefined && !isValid,
    ranges: replica.diskKind === 'block' && isValid && (await replica.ranges.areComplete(metadata.id)),
  };
}

function frozenPart(layer: LayerMetadata): FrozenLayer {
  const { id, name, origin, parentId, sizeBytes, createdAt, removed, drop } = layer;
  return { id, name, origin, parentId, sizeBytes, createdAt, removed, drop };
}

function heldBytes(replica: Replica, layerId: string): number {
  return (replica.layer(layerId)?.map.heldBlocks ?? 0) * BLOCK_BYTES;
}
