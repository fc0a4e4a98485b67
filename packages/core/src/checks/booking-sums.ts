/** Invariant of bookings: each disk has booked exactly the replicas that are placed on it. */
import type { StorageDisk } from '../model/node.js';
import type { Replica } from '../model/replica.js';

export function checkBookedSums(
  disks: readonly Pick<StorageDisk, 'id' | 'name' | 'storageScheduledBytes'>[],
  replicas: readonly Pick<Replica, 'diskId' | 'sizeBytes'>[],
): string[] {
  const sums = new Map<string, number>();
  for (const { diskId, sizeBytes } of replicas) {
    if (diskId !== undefined) sums.set(diskId, (sums.get(diskId) ?? 0) + sizeBytes);
  }
  return disks.flatMap(({ id, name, storageScheduledBytes }) => {
    const sum = sums.get(id) ?? 0;
    return sum === storageScheduledBytes
      ? []
      : [`disk ${name} has booked ${storageScheduledBytes} bytes, its replicas have ${sum}`];
  });
}
