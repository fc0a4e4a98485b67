/**
 * Finds out which copy owns which cluster, from what the copies themselves say. For when nobody else has the disk open:
 * whoever was making a copy then is gone, and so is that copy.
 */
import type { BlockDisk } from './block-disk.js';
import { ClusterOwners } from './cluster-owners.js';
import { clustersOf, readCatalog, readMaps, readRoot, writeRoot } from './stored-copy.js';

export async function recoverOwners(disk: BlockDisk): Promise<void> {
  const owners = new Uint16Array(disk.layout.clusterCount);
  for (let place = 0; place < disk.layout.places; place += 1) {
    const found = await readRoot(disk, place);
    if (found === undefined || found.root.state === 'none') continue;
    if (found.root.state === 'making') {
      await clearPlace(disk, place, found.root.replicaId, found.root.generation);
      continue;
    }
    const maps = await readMaps(disk, await readCatalog(disk, found.root));
    // Two that name the same one are both found out when they are opened: only one of them owns it then.
    for (const cluster of clustersOf(found, maps.values())) owners[cluster] ||= place + 1;
  }
  // What was read may be in memory only, after a crash of processes: it must not be lost once others build on it.
  await disk.sync();
  await new ClusterOwners(disk).write(owners);
}

/** From now on there is no copy in the place; durable with the next sync. */
export async function clearPlace(
  disk: BlockDisk,
  place: number,
  replicaId: string,
  generation: number,
): Promise<void> {
  const root = { state: 'none' as const, replicaId, generation: generation + 1, clusters: [] };
  await writeRoot(disk, place, root, Buffer.alloc(0));
}
