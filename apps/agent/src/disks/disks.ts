import path from 'node:path';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { BlockDisk } from './block-disk.js';
import type { Disk, DiskEntry } from './disk.js';
import { FolderDisk } from './folder-disk.js';
import type { KnownDisks } from './known-disks.js';
import { WatchedDisk } from './watched-disk.js';

export type { DiskEntry } from './disk.js';

/** Adopts all configured disks. Refuses two with the same identity: they would be the same copies twice. */
export async function takeDisks(entries: readonly DiskEntry[], known: KnownDisks): Promise<Disk[]> {
  const disks: Disk[] = [];
  const names = new Set<string>();
  for (const { type, path: at, sizeBytes } of entries) {
    const base = path.basename(at) || 'disk';
    const name = names.has(base) ? `${base}-${names.size + 1}` : base;
    names.add(name);
    const kind = type === 'block' ? BlockDisk : FolderDisk;
    const taken = await kind.take(at, name, sizeBytes, known);
    const disk = new WatchedDisk(taken, { type, path: at, sizeBytes });
    const twin = disks.find(({ diskId }) => diskId === disk.diskId);
    if (twin !== undefined) {
      throw new StorageFault('disk.wrong_identity', {
        publicMessage: `${at} and ${twin.path} have the same identity: one was copied from the other`,
      });
    }
    disks.push(disk);
  }
  return disks;
}
