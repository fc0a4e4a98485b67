/**
 * Block disks that this process has open, each once for all users: its copies share its locks and syncs.
 *
 * A disk whose sync has failed takes no new users: it is reopened beside the old opening, which is closed after the
 * last copy that uses it.
 */
import { BlockDisk } from './block-disk.js';

type Shared = { disk: Promise<BlockDisk>; users: number };

const open = new Map<string, Shared>();
const sharedOf = new WeakMap<BlockDisk, Shared>();

export async function openShared(
  path: string,
  recover: (disk: BlockDisk) => Promise<void>,
): Promise<BlockDisk> {
  await letGoIfLost(path);
  let shared = open.get(path);
  if (shared === undefined) {
    shared = { disk: BlockDisk.open(path, recover), users: 0 };
    open.set(path, shared);
  }
  shared.users += 1;
  try {
    const disk = await shared.disk;
    sharedOf.set(disk, shared);
    return disk;
  } catch (error) {
    if (open.get(path) === shared) open.delete(path);
    throw error;
  }
}

export async function closeShared(disk: BlockDisk): Promise<void> {
  const shared = sharedOf.get(disk);
  if (shared === undefined) return;
  shared.users -= 1;
  if (shared.users > 0) return;
  if (open.get(disk.path) === shared) open.delete(disk.path);
  await disk.close();
}

/** Drops a disk like a process that dies: its locks are released, and nothing else is done. */
export async function abandonShared(path: string): Promise<void> {
  const shared = open.get(path);
  open.delete(path);
  (await shared?.disk)?.abandon();
}

async function letGoIfLost(path: string): Promise<void> {
  const shared = open.get(path);
  const disk = await shared?.disk.catch(() => undefined);
  if (disk?.hasLost === true && open.get(path) === shared) open.delete(path);
}
