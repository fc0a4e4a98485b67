import type { SpaceBooking } from '../model/changes.js';
import type { StorageDisk } from '../model/node.js';
import type { FleetView } from '../model/views.js';
import { provisionableBytes } from './disk-space.js';

/** The claim of a replica on a disk, with what it was computed from. */
export function bookingOn(
  disk: StorageDisk,
  sizeBytes: number,
  { settings, settingsVersion }: Pick<FleetView, 'settings' | 'settingsVersion'>,
): SpaceBooking {
  const limitBytes = provisionableBytes(disk, settings);
  return {
    diskId: disk.id,
    sizeBytes,
    limitBytes,
    ifSettingsVersion: settingsVersion,
    ifDiskVersion: disk.version,
  };
}
