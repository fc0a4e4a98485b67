/**
 * The beginning of a copy: two blocks of which one holds. Each names the clusters of a catalog, its length and its hash,
 * so a change needs one sync: what reached the disk in part is not believed, and the other root still is.
 */
import { isUuid } from '../replica/stored-values.js';
import { BLOCK_SEALED_BYTES, CONTENT_BYTES, isSealed, seal } from './sealed-block.js';

/** `making`: its creation has not ended. `none`: removed, or never there. */
export type RootState = 'none' | 'making' | 'copy';
const STATES: readonly RootState[] = ['none', 'making', 'copy'];

export type CopyRoot = {
  state: RootState;
  replicaId: string;
  /** Grows with each change. The other root holds the one before. */
  generation: number;
  catalogBytes: number;
  catalogHash: Buffer;
  clusters: readonly number[];
};

const MAGIC = 'HF-COPY\n';
const CLUSTERS_OFFSET = 136;
/** 62 MiB of catalog: 250 layers of a volume of 16 TiB take some 30 MiB. */
export const CATALOG_CLUSTERS_MAX = Math.floor((CONTENT_BYTES - CLUSTERS_OFFSET) / 4);

export function encodeRoot(root: CopyRoot, diskId: string): Buffer {
  const block = Buffer.alloc(BLOCK_SEALED_BYTES);
  block.write(MAGIC, 0, 'latin1');
  block.writeBigUInt64LE(BigInt(root.generation), 8);
  block.writeUInt32LE(STATES.indexOf(root.state), 16);
  block.writeUInt32LE(root.catalogBytes, 20);
  root.catalogHash.copy(block, 24);
  block.write(root.replicaId, 56, 'latin1');
  block.write(diskId, 92, 'latin1');
  block.writeUInt32LE(root.clusters.length, 128);
  for (const [index, cluster] of root.clusters.entries()) {
    block.writeUInt32LE(cluster, CLUSTERS_OFFSET + index * 4);
  }
  seal(block);
  return block;
}

/** @returns `undefined` for one that is not whole, or that is another disk's: an earlier format left it there */
export function decodeRoot(block: Buffer, diskId: string): CopyRoot | undefined {
  if (block.toString('latin1', 0, MAGIC.length) !== MAGIC || !isSealed(block)) return undefined;
  const state = STATES[block.readUInt32LE(16)];
  const replicaId = block.toString('latin1', 56, 92);
  const count = block.readUInt32LE(128);
  if (state === undefined || !isUuid(replicaId) || count > CATALOG_CLUSTERS_MAX) return undefined;
  if (block.toString('latin1', 92, 128) !== diskId) return undefined;
  return {
    state,
    replicaId,
    generation: Number(block.readBigUInt64LE(8)),
    catalogBytes: block.readUInt32LE(20),
    catalogHash: Buffer.from(block.subarray(24, 56)),
    clusters: Array.from({ length: count }, (_, index) => block.readUInt32LE(CLUSTERS_OFFSET + index * 4)),
  };
}
