import path from 'node:path';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { Disk } from './disk.js';
import type { KnownDisks } from './known-disks.js';

/** Takes all configured folders. Two with one identity would be the same copies twice, so that is refused. */
export async function takeDisks(
  folders: readonly string[],
  maximumBytes: number,
  known: KnownDisks,
): Promise<Disk[]> {
  const disks: Disk[] = [];
  const names = new Set<string>();
  for (const folder of folders) {
    const base = path.basename(folder) || 'disk';
    const name = names.has(base) ? `${base}-${names.size + 1}` : base;
    names.add(name);
    const disk = await Disk.take(folder, name, maximumBytes, known);
    const twin = disks.find(({ diskId }) => diskId === disk.diskId);
    if (twin !== undefined) {
      throw new StorageFault('disk.wrong_identity', {
        publicMessage: `${folder} and ${twin.path} have the same identity: one was copied from the other`,
      });
    }
    disks.push(disk);
  }
  return disks;
}
