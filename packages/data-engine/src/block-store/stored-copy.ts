/** Reads and writes what describes a copy: its roots, its catalog and the pages of its files' maps. */
import { Blake3Hasher } from '@napi-rs/blake-hash';
import type { BlockDisk } from './block-disk.js';
import { type Catalog, decodeCatalog } from './catalog.js';
import { ClusterMap, PAGES_PER_CLUSTER, placeInCluster, type StoredPage } from './cluster-map.js';
import { type CopyRoot, decodeRoot, encodeRoot } from './copy-root.js';
import { CLUSTER_BYTES, clusterOffset, rootOffset } from './layout.js';
import { BLOCK_SEALED_BYTES } from './sealed-block.js';

/** The root that holds, and the clusters of the catalog before it, which the next one takes. */
export type FoundRoot = { root: CopyRoot; spare: readonly number[] };

/** @returns `undefined` for a place where there never was a copy */
export async function readRoot(disk: BlockDisk, place: number): Promise<FoundRoot | undefined> {
  const both = Buffer.alloc(2 * BLOCK_SEALED_BYTES);
  await disk.plain.readInto(both, rootOffset(place, 0));
  const roots = [both.subarray(0, BLOCK_SEALED_BYTES), both.subarray(BLOCK_SEALED_BYTES)]
    .map((block) => decodeRoot(block, disk.layout.diskId))
    .filter((root) => root !== undefined)
    .sort((a, b) => b.generation - a.generation);
  for (const [index, root] of roots.entries()) {
    const catalog = await readClusters(disk, root);
    if (!hashOf(catalog).equals(root.catalogHash)) continue;
    const before = roots[index + 1];
    return { root, spare: before?.replicaId === root.replicaId ? before.clusters : [] };
  }
  return undefined;
}

export async function readCatalog(disk: BlockDisk, root: CopyRoot): Promise<Catalog> {
  return decodeCatalog(await readClusters(disk, root));
}

/** Writes a root over the older one. It holds once it was synced, with the catalog that it names. */
export async function writeRoot(
  disk: BlockDisk,
  place: number,
  root: Omit<CopyRoot, 'catalogBytes' | 'catalogHash'>,
  catalog: Buffer,
): Promise<void> {
  for (const [index, cluster] of root.clusters.entries()) {
    const part = catalog.subarray(index * CLUSTER_BYTES, (index + 1) * CLUSTER_BYTES);
    await disk.plain.write([part], clusterOffset(disk.layout, cluster));
  }
  const whole = { ...root, catalogBytes: catalog.length, catalogHash: hashOf(catalog) };
  const which = root.generation % 2 === 0 ? 0 : 1;
  await disk.plain.write([encodeRoot(whole, disk.layout.diskId)], rootOffset(place, which));
}

/** Reads the pages of a map whose directory is known. */
export async function readPages(disk: BlockDisk, map: ClusterMap): Promise<void> {
  const buffer = Buffer.alloc(CLUSTER_BYTES);
  for (const [index, cluster] of map.directory) {
    await disk.plain.readInto(buffer, clusterOffset(disk.layout, cluster));
    for (let page = 0; page < PAGES_PER_CLUSTER; page += 1) {
      const place = (which: 0 | 1) =>
        buffer.subarray(placeInCluster(page, which)).subarray(0, BLOCK_SEALED_BYTES);
      map.load(index * PAGES_PER_CLUSTER + page, [place(0), place(1)]);
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
    await disk.plain.write([block], clusterOffset(disk.layout, cluster) + placeInCluster(index, which));
  }
}

/** The maps of all files of a catalog. */
export async function readMaps(disk: BlockDisk, { files }: Catalog): Promise<Map<string, ClusterMap>> {
  const maps = new Map<string, ClusterMap>();
  for (const { name, id, directory } of files) {
    const map = new ClusterMap(Buffer.from(id, 'hex'));
    for (const [index, cluster] of directory) map.directory.set(index, cluster);
    await readPages(disk, map);
    maps.set(name, map);
  }
  return maps;
}

/** Every cluster that the copy's descriptions name. */
export function* clustersOf({ root, spare }: FoundRoot, maps: Iterable<ClusterMap>): Generator<number> {
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
    await disk.plain.readInto(part, clusterOffset(disk.layout, cluster));
  }
  return catalog;
}

function hashOf(catalog: Buffer): Buffer {
  return new Blake3Hasher().update(catalog).digestBuffer();
}
