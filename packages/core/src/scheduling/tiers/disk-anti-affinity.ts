import type { StorageDisk } from '../../model/node.js';
import type { PlacementCycle, Rejection } from '../framework/framework.js';
import { type Occupancy, replicaOn } from '../framework/occupancy.js';
import { diskAntiAffinityRule } from '../framework/sharing-rules.js';

/**
 * Keeps the disks on which a further replica of the volume does the least harm: those without one; where sharing is
 * allowed and all hold some, those that hold the fewest.
 *
 * It judges all disks of a tier together, so that a free disk on another node is preferred to sharing one here.
 */
export function leastSharedDisks(
  { request, profile }: PlacementCycle,
  disks: readonly StorageDisk[],
  { replicasByDisk }: Occupancy,
): readonly StorageDisk[] {
  const countOf = (disk: StorageDisk) => replicasByDisk.get(disk.id) ?? 0;
  const free = disks.filter((disk) => countOf(disk) === 0);
  if (free.length > 0) return free;
  if (request.diskAntiAffinity === 'required') return [];
  if (profile.sharedDisks === 'any') return disks;

  const fewest = disks.reduce((least, disk) => Math.min(least, countOf(disk)), Number.POSITIVE_INFINITY);
  return disks.filter((disk) => countOf(disk) === fewest);
}

/** Why a disk that passed its filters was still not taken, when none was. */
export function rejectionBySharing(disk: StorageDisk): Rejection {
  return {
    rule: diskAntiAffinityRule.name,
    reason: 'DiskOccupied',
    message: `disk ${disk.name} holds ${replicaOn(undefined)} of this volume`,
    cure: 'add a disk, or enable replicaDiskSoftAntiAffinity',
  };
}
