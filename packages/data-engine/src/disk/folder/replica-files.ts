/** Directories of the copies in a folder: creation, listing, removal, and how much they take. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { isId } from '@holdfast/core/model/ids.js';
import { systemCode } from '../../base/system-error.js';
import { syncDirectory } from '../durable-file.js';

const REPLICAS_FOLDER = 'replicas';
const NEW_PREFIX = '.new-';
const DELETED_PREFIX = '.deleted-';

/** Temporary names of the directories that this process is filling. No other process makes copies on the disk. */
const making = new Set<string>();

export function replicaDirectory(diskPath: string, replicaId: string): string {
  return path.join(diskPath, REPLICAS_FOLDER, replicaId);
}

/** Fills a new directory under a temporary name, then renames it: a half-made one is never listed. */
export async function makeReplicaDirectory(
  diskPath: string,
  replicaId: string,
  fill: (directory: string) => Promise<void>,
): Promise<void> {
  const folder = path.join(diskPath, REPLICAS_FOLDER);
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  // Also if it existed: its creator may have died before the name was durable.
  await syncDirectory(diskPath);
  const temporary = path.join(folder, `${NEW_PREFIX}${replicaId}`);
  making.add(temporary);
  try {
    await fs.rm(temporary, { recursive: true, force: true });
    await fs.mkdir(temporary, { mode: 0o700 });
    await fill(temporary);
    await syncDirectory(temporary);
    await renameUnlessThere(temporary, replicaDirectory(diskPath, replicaId));
  } finally {
    making.delete(temporary);
  }
  await syncDirectory(folder);
}

/** An earlier request has made the directory, and its answer was an error, or was lost: its copy stays, and this one goes. */
async function renameUnlessThere(temporary: string, directory: string): Promise<void> {
  try {
    await fs.rename(temporary, directory);
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    await fs.rm(temporary, { recursive: true, force: true });
  }
}

/** Removes a replica. It disappears atomically, however long deleting its files takes. */
export async function removeReplicaDirectory(diskPath: string, replicaId: string): Promise<void> {
  const folder = path.join(diskPath, REPLICAS_FOLDER);
  const doomed = path.join(folder, `${DELETED_PREFIX}${replicaId}`);
  await fs.rm(doomed, { recursive: true, force: true });
  try {
    await fs.rename(replicaDirectory(diskPath, replicaId), doomed);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  await syncDirectory(folder);
  await fs.rm(doomed, { recursive: true, force: true });
}

/** Ids of the replicas on a disk. Also removes leftovers of an interrupted create or delete, and leaves alone what is being made. */
export async function listReplicas(diskPath: string): Promise<string[]> {
  const folder = path.join(diskPath, REPLICAS_FOLDER);
  const names = await namesIn(folder);
  for (const name of names) {
    const file = path.join(folder, name);
    const isLeftover = name.startsWith(NEW_PREFIX) || name.startsWith(DELETED_PREFIX);
    if (isLeftover && !making.has(file)) await fs.rm(file, { recursive: true, force: true });
  }
  return names.filter(isId).sort();
}

/** Bytes that a replica's files take on the disk, without opening it. */
export async function allocatedBytes(directory: string): Promise<number> {
  let total = 0;
  for (const name of await fs.readdir(directory)) {
    if (name.endsWith('.img')) total += (await fs.stat(path.join(directory, name))).blocks * 512;
  }
  return total;
}

/** Bytes allocated for all copies on a disk. */
export async function bytesOnDisk(diskPath: string): Promise<number> {
  const folder = path.join(diskPath, REPLICAS_FOLDER);
  let total = 0;
  for (const name of await namesIn(folder)) {
    // A copy that is being deleted concurrently counts as zero.
    if (isId(name)) total += await allocatedBytes(path.join(folder, name)).catch(() => 0);
  }
  return total;
}

/** No names if the folder is missing: a disk gets it with its first copy. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await fs.readdir(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}
