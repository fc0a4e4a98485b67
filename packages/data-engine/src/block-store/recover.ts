/**
 * Finds out which copy owns which cluster, from what the copies themselves say. For when nobody else has the disk open:
 * whoever was making a copy then is gone, and so is that copy.
 *
 * A copy that can't be read keeps what describes it, which may be space that the disk fails to read, and loses the rest:
 * others may take that. It says so when it is opened.
 */
import { Blake3Hasher } from '@napi-rs/blake-hash';
import type { BlockDisk } from './block-disk.js';
import { ClusterOwners } from './cluster-owners.js';
import { clustersOf, readCatalog, readMaps, readPlace, writeRoot } from './stored-copy.js';

export async function recoverOwners(disk: BlockDisk): Promise<void> {
  const owners = new Uint16Array(disk.layout.clusterCount);
  for (let place = 0; place < disk.layout.places; place += 1) {
    // Two that name the same one are both found out when they are opened: only one of them owns it then.
    for (const cluster of await clustersIn(disk, place)) owners[cluster] ||= place + 1;
  }
  // What was read may be in memory only, after a crash of processes: it must not be lost once others build on it.
  await disk.sync();
  await new ClusterOwners(disk).write(owners);
}

async function clustersIn(disk: BlockDisk, place: number): Promise<Iterable<number>> {
  const found = await readPlace(disk, place);
  if (found.kind !== 'root') return [];
  if (found.root.state === 'making') {
    await clearPlace(disk, place, found.root.replicaId, found.root.generation);
    return [];
  }
  const described = [...found.root.clusters, ...found.spare];
  try {
    const catalog = await readCatalog(disk, found.root);
    for (const { directory } of catalog.files) described.push(...directory.map(([, cluster]) => cluster));
    return clustersOf(found, (await readMaps(disk, catalog)).values());
  } catch {
    // Damaged, or the disk fails to read it. Opening the copy fails the same way, and tells.
    return described;
  }
}

/** From now on there is no copy in the place; durable with the next sync. */
export async function clearPlace(
  disk: BlockDisk,
  place: number,
  replicaId: string,
  generation: number,
): Promise<void> {
  const nothing = { clusters: [], catalogBytes: 0, catalogHash: new Blake3Hasher().digestBuffer() };
  await writeRoot(disk, place, { ...nothing, state: 'none', replicaId, generation: generation + 1 });
}
