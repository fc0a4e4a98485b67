import type { NewVolume } from '@holdfast/core/lifecycle/decide-creation.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type DiskId, type NodeId } from '@holdfast/core/model/ids.js';
import { FleetCache } from '@holdfast/core/scheduling/index/fleet-cache.js';
import { AN_OWNER, aReplica, aVolume, NOON } from '@holdfast/testkit/builders.js';
import { aFleet } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import { BookingCheck } from './booking-check.js';
import type { LockedDisk } from './write-creations.js';

const FLEET = aFleet({ a: {}, b: {} });
const LIMIT_BYTES = 100 * GIB;

test('a volume that is refused takes nothing from those after it', () => {
  const check = new BookingCheck(
    new Map([lockedDisk('a', 60 * GIB), lockedDisk('b', LIMIT_BYTES)]),
    FleetCache.of(FLEET),
  );
  expect(check.take(wanting('a', 'b'))).toBe(false);
  expect(check.take(wanting('a'))).toBe(true);
  expect(check.take(wanting('a'))).toBe(false);
});

function lockedDisk(node: string, scheduledBytes: number): [DiskId, LockedDisk] {
  const id = asId<DiskId>(`${node}-disk`);
  const space = { storage_maximum_bytes: LIMIT_BYTES, storage_available_bytes: LIMIT_BYTES };
  const versions = { version: 1, node_version: 1, settings_version: 1 };
  return [
    id,
    { id, ...space, ...versions, storage_scheduled_bytes: scheduledBytes, storage_reserved_bytes: 0 },
  ];
}

/** A volume with a replica of 30 GiB on the disk of each of these nodes. */
function wanting(...nodes: string[]): NewVolume {
  const volume = aVolume({ ...AN_OWNER, clusterId: FLEET.clusterId });
  const event = {
    clusterId: FLEET.clusterId,
    type: 'VolumeCreated',
    subject: { kind: 'volume', id: volume.id },
    volumeId: volume.id,
    message: '',
    at: NOON,
  } as const;
  const replicas = nodes.map((node) => ({
    replica: aReplica({ volumeId: volume.id, nodeId: asId<NodeId>(node) }),
    zone: undefined,
    booking: {
      diskId: asId<DiskId>(`${node}-disk`),
      sizeBytes: 30 * GIB,
      limitBytes: LIMIT_BYTES,
      ifSettingsVersion: 1,
      ifDiskVersion: 1,
    },
  }));
  return { volume, replicas, event };
}
