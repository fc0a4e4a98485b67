import type { NewReplica, NewVolume } from '@holdfast/core/lifecycle/decide-creation.js';
import type { DiskId } from '@holdfast/core/model/ids.js';
import { leavesFreeSpace, spaceLimits } from '@holdfast/core/policy/disk-space.js';
import type { FleetCache } from '@holdfast/core/scheduling/index/fleet-cache.js';
import type { LockedDisk } from './write-creations.js';

/** A new volume holds nothing yet. */
const WRITTEN_BYTES = 0;

/**
 * Compares decisions with the disks under their locks: a decision from a stale cache is not stored. Decisions are taken one after the
 * other, each beside those taken before it.
 */
export class BookingCheck {
  constructor(
    private readonly disks: ReadonlyMap<DiskId, LockedDisk>,
    private readonly fleet: FleetCache,
  ) {}

  /** Takes all places of a volume, or none. */
  take({ replicas }: NewVolume): boolean {
    const taken: NewReplica[] = [];
    for (const replica of replicas) {
      if (replica.booking === undefined) continue;
      if (!this.holds(replica)) {
        for (const earlier of taken) this.count(earlier, -1);
        return false;
      }
      this.count(replica, 1);
      taken.push(replica);
    }
    return true;
  }

  private holds({ replica, booking }: NewReplica): boolean {
    if (booking === undefined || replica.nodeId === undefined) return false;
    const disk = this.disks.get(booking.diskId);
    if (disk === undefined) return false;
    const space = {
      storageScheduledBytes: disk.storage_scheduled_bytes,
      storageMaximumBytes: disk.storage_maximum_bytes,
      storageAvailableBytes: disk.storage_available_bytes,
      storageReservedBytes: disk.storage_reserved_bytes,
    };
    return (
      disk.settings_version === booking.ifSettingsVersion &&
      disk.version === booking.ifDiskVersion &&
      disk.node_version === this.fleet.nodeVersionOf(replica.nodeId) &&
      disk.storage_scheduled_bytes + booking.sizeBytes <= booking.limitBytes &&
      leavesFreeSpace(space, WRITTEN_BYTES, spaceLimits(this.fleet.settings))
    );
  }

  private count({ booking }: NewReplica, sign: 1 | -1): void {
    const disk = booking === undefined ? undefined : this.disks.get(booking.diskId);
    if (disk === undefined || booking === undefined) return;
    disk.storage_scheduled_bytes += sign * booking.sizeBytes;
  }
}
