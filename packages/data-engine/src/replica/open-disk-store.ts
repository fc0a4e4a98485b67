import fs from 'node:fs/promises';
import { systemCode } from '../base/system-error.js';
import { BlockStore } from '../disk/block/block-store.js';
import type { DiskStore } from '../disk/disk-store.js';
import { FolderStore } from '../disk/folder/folder-store.js';

/** Opens the disk at a path. The caller closes it. */
export type OpenDisk = (diskPath: string) => Promise<DiskStore>;

/** Opens the disk at a path: a folder, or else a block disk. The caller closes it. */
export async function openDiskStore(diskPath: string): Promise<DiskStore> {
  return (await isBlockDisk(diskPath)) ? BlockStore.open(diskPath) : new FolderStore(diskPath);
}

async function isBlockDisk(diskPath: string): Promise<boolean> {
  try {
    return !(await fs.stat(diskPath)).isDirectory();
  } catch (error) {
    // A missing folder counts as one: it is created when something is first put into it.
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}
