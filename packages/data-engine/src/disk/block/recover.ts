/**
 * Recovery of a block disk: rebuilds the owner table from the copies' own metadata. Runs while no other process has
 * the disk open; a copy whose creation was interrupted is removed.
 *
 * A copy that can't be read keeps the clusters of its metadata, which may be unreadable ones, and loses the rest:
 * other copies may allocate those. The copy reports the damage when it is opened.
 */
import { blake3Of } from '../../base/blake3.js';
import type { BlockDisk } from './block-disk.js';
import { ClusterOwners } from './cluster-owners.js';
import { SlotRoots } from './copy-root.js';
import { renewNote } from './disk-note.js';
import { FIRST_FULL_ROOTS, FORMAT_VERSION, rootOffset, superblockOf } from './layout.js';
import { clustersOf, readCatalog, readMaps, readSlot, writeRoot } from './stored-copy.js';

export async function recoverOwners(disk: BlockDisk): Promise<void> {
  if (disk.layout.format < FORMAT_VERSION) await renew(disk);
  const owners = new Uint16Array(disk.layout.clusterCount);
  for (let slot = 0; slot < disk.layout.slots; slot += 1) {
    // If two copies name the same cluster, only one becomes its owner; opening the copies detects both.
    for (const cluster of await clustersIn(disk, slot)) owners[cluster] ||= slot + 1;
  }
  // Makes what was read durable: after a crash of processes it may be in the page cache only, and others will build
  // on it.
  await disk.sync();
  await new ClusterOwners(disk).write(owners);
}

/** Upgrades a disk of an earlier version, durably before its superblock states that none of these structures is blank. */
async function renew(disk: BlockDisk): Promise<void> {
  await renewNote(disk.plain, disk.layout);
  if (disk.layout.format < FIRST_FULL_ROOTS) await fillRoots(disk);
  await disk.plain.write([superblockOf(disk.layout)], 0);
  await disk.sync();
}

async function fillRoots(disk: BlockDisk): Promise<void> {
  const { diskId, slots } = disk.layout;
  for (let slot = 0; slot < slots; slot += 1) {
    const found = await readSlot(disk, slot);
    if (found.kind !== 'free' || found.generation > 0) continue;
    await disk.plain.write([new SlotRoots(diskId, slot).encodeFree(diskId)], rootOffset(slot, 0));
  }
  await disk.sync();
}

async function clustersIn(disk: BlockDisk, slot: number): Promise<Iterable<number>> {
  const found = await readSlot(disk, slot);
  if (found.kind !== 'root') return [];
  if (found.root.state === 'making') {
    await clearSlot(disk, slot, found.root.replicaId, found.root.generation);
    return [];
  }
  const described = [...found.root.clusters, ...found.spare];
  try {
    const catalog = await readCatalog(disk, found.root);
    for (const { directory } of catalog.files) described.push(...directory.map(([, cluster]) => cluster));
    return clustersOf(found, (await readMaps(disk, catalog)).values());
  } catch {
    // Damaged, or unreadable. Opening the copy fails the same way, and reports it.
    return described;
  }
}

/** Marks a slot as having no copy; durable with the next sync. */
export async function clearSlot(
  disk: BlockDisk,
  slot: number,
  replicaId: string,
  generation: number,
): Promise<void> {
  const nothing = { clusters: [], catalogBytes: 0, catalogHash: blake3Of([]) };
  await writeRoot(disk, slot, { ...nothing, state: 'none', replicaId, generation: generation + 1 });
}
