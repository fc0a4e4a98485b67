/** Reading and writing of a copy's metadata: its roots, its catalog and its files' map pages. */

import { setTimeout as pause } from 'node:timers/promises';
import { CLUSTER_BYTES } from '@holdfast/core/model/bytes.js';
import { blake3Of } from '../../base/blake3.js';
import { corrupt } from '../../protocol/replica-faults.js';
import type { BlockDisk } from './block-disk.js';
import { type Catalog, decodeCatalog } from './catalog.js';
import { ClusterMap, PAGES_PER_CLUSTER, type StoredPage, sideInCluster } from './cluster-map.js';
import { type CopyRoot, SlotRoots, type SlotState } from './copy-root.js';
import { clusterOffset, FIRST_FULL_ROOTS, type Layout, rootOffset } from './layout.js';
import { SLOT_SIDE_BYTES } from './sealed-pair.js';

export type FoundRoot = Extract<SlotState, { kind: 'root' }>;

/** Reads before a slot counts as damaged: the process that has the copy open writes a root within microseconds. */
const READS_MAX = 4;
const READ_PAUSE_MS = 5;

/** Reads a slot, even while another process updates it. */
export async function readSlot(disk: BlockDisk, slot: number): Promise<SlotState> {
  const roots = new SlotRoots(disk.layout.diskId, slot);
  for (let reads = 1; ; reads += 1) {
    const state = roots.decode(await readRoots(disk, slot), disk.layout.format < FIRST_FULL_ROOTS);
    if (state.kind !== 'damaged' || reads === READS_MAX) return state;
    await pause(READ_PAUSE_MS);
  }
}

/** Roots of all slots of a disk without copies, as they lie on it. */
export function freeRoots({ diskId, slots }: Layout): Buffer {
  return Buffer.concat(
    Array.from({ length: slots }, (_, slot) => new SlotRoots(diskId, slot).encodeFree(diskId)),
  );
}

type Blocks = [Buffer | undefined, Buffer | undefined];

/** `undefined` for an unreadable root: that costs one copy, not the disk. */
async function readRoots(disk: BlockDisk, slot: number): Promise<Blocks> {
  const both = Buffer.alloc(2 * SLOT_SIDE_BYTES);
  const blocks: [Buffer, Buffer] = [both.subarray(0, SLOT_SIDE_BYTES), both.subarray(SLOT_SIDE_BYTES)];
  try {
    await disk.plain.readInto(both, rootOffset(slot, 0));
    return blocks;
  } catch {
    const readOne = (which: 0 | 1) =>
      disk.plain.readInto(blocks[which], rootOffset(slot, which)).then(
        () => blocks[which],
        () => undefined,
      );
    return [await readOne(0), await readOne(1)];
  }
}

/**
 * Reads with direct I/O, like the maps: the page cache may hold bytes that a sync failed to write, which are no part of the copy.
 *
 * @throws StorageFault `replica.corrupt` when its hash differs from the root's
 */
export async function readCatalog(disk: BlockDisk, root: CopyRoot): Promise<Catalog> {
  const catalog = await readClusters(disk, root);
  if (!hashOf(catalog).equals(root.catalogHash)) throw corrupt('its catalog is not what was written there');
  return decodeCatalog(catalog);
}

/** Writes a catalog; it has to be durable before a root names it. */
export async function writeCatalog(
  disk: BlockDisk,
  clusters: readonly number[],
  catalog: Buffer,
): Promise<Pick<CopyRoot, 'catalogBytes' | 'catalogHash' | 'clusters'>> {
  for (const [index, cluster] of clusters.entries()) {
    const part = catalog.subarray(index * CLUSTER_BYTES, (index + 1) * CLUSTER_BYTES);
    await disk.plain.write([part], clusterOffset(disk.layout, cluster));
  }
  return { clusters, catalogBytes: catalog.length, catalogHash: hashOf(catalog) };
}

/** Writes a root over the older one. It takes effect when it is synced. */
export async function writeRoot(disk: BlockDisk, slot: number, root: CopyRoot): Promise<void> {
  const { block, which } = new SlotRoots(disk.layout.diskId, slot).encode(root);
  await disk.plain.write([block], rootOffset(slot, which));
}

/** Reads a map's pages; its directory is already loaded. @throws StorageFault `replica.corrupt` */
async function readPages(disk: BlockDisk, map: ClusterMap, name: string): Promise<void> {
  const buffer = Buffer.alloc(CLUSTER_BYTES);
  for (const [index, cluster] of map.directory) {
    await disk.direct.readInto(buffer, clusterOffset(disk.layout, cluster));
    for (let page = 0; page < PAGES_PER_CLUSTER; page += 1) {
      const side = (which: 0 | 1) => buffer.subarray(sideInCluster(page, which)).subarray(0, SLOT_SIDE_BYTES);
      if (map.load(index * PAGES_PER_CLUSTER + page, [side(0), side(1)])) continue;
      throw corrupt(
        `page ${index * PAGES_PER_CLUSTER + page} of where ${name} is, is not what was written there`,
      );
    }
  }
}

export async function writePages(
  disk: BlockDisk,
  map: ClusterMap,
  pages: readonly StoredPage[],
): Promise<void> {
  for (const { index, block, which } of pages) {
    const cluster = map.directory.get(Math.floor(index / PAGES_PER_CLUSTER)) ?? 0;
    await disk.plain.write([block], clusterOffset(disk.layout, cluster) + sideInCluster(index, which));
  }
}

/** The maps of all files of a catalog. */
export async function readMaps(disk: BlockDisk, { files }: Catalog): Promise<Map<string, ClusterMap>> {
  const maps = new Map<string, ClusterMap>();
  for (const { name, id, directory } of files) {
    const map = new ClusterMap(id);
    for (const [index, cluster] of directory) map.directory.set(index, cluster);
    await readPages(disk, map, name);
    maps.set(name, map);
  }
  return maps;
}

/** Every cluster that the copy's metadata names. */
export function* clustersOf(
  { root, spare }: Pick<FoundRoot, 'root' | 'spare'>,
  maps: Iterable<ClusterMap>,
): Generator<number> {
  yield* root.clusters;
  yield* spare;
  for (const map of maps) {
    yield* map.directory.values();
    for (const { cluster } of map.mapped()) yield cluster;
  }
}

async function readClusters(disk: BlockDisk, { clusters, catalogBytes }: CopyRoot): Promise<Buffer> {
  const catalog = Buffer.alloc(Math.min(catalogBytes, clusters.length * CLUSTER_BYTES));
  for (const [index, cluster] of clusters.entries()) {
    const part = catalog.subarray(index * CLUSTER_BYTES, (index + 1) * CLUSTER_BYTES);
    await disk.direct.readInto(part, clusterOffset(disk.layout, cluster));
  }
  return catalog;
}

function hashOf(catalog: Buffer): Buffer {
  return blake3Of([catalog]);
}
