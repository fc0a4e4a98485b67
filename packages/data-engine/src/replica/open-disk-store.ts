import type { DiskStore } from './disk-store.js';
import { FolderStore } from './folder-store.js';

/** Opens the disk at a path. The caller closes it. */
export async function openDiskStore(diskPath: string): Promise<DiskStore> {
  return new FolderStore(diskPath);
}
