/** Disk pressure: when a disk is so full that auto-balance moves replicas off it (docs/longhorn-rules.md). */
import { type DiskSpace, fitsInSpace, type SpaceDemand, type SpaceLimits } from '../../policy/disk-space.js';

export function isUnderPressure(disk: DiskSpace, pressurePercentage: number): boolean {
  const unused = wholePercent(
    disk.storageAvailableBytes - disk.storageReservedBytes,
    disk.storageMaximumBytes,
  );
  return Math.max(0, unused) < 100 - pressurePercentage;
}

/** Would the disk take the replica without coming under pressure by it? */
export function fitsBelowPressure(
  disk: DiskSpace,
  demand: SpaceDemand,
  limits: SpaceLimits,
  pressurePercentage: number,
): boolean {
  if (!fitsInSpace(disk, demand, limits)) return false;
  const used = demand.writtenBytes + disk.storageScheduledBytes + disk.storageReservedBytes;
  return wholePercent(used, disk.storageMaximumBytes) < pressurePercentage;
}

/** Truncated towards zero; in big integers, because a hundred times a large disk is more than a double holds. */
function wholePercent(bytes: number, ofBytes: number): number {
  if (ofBytes <= 0) return 0;
  return Number((BigInt(bytes) * 100n) / BigInt(ofBytes));
}
