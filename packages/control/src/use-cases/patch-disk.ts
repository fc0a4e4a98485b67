import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, DiskId } from '@holdfast/core/model/ids.js';
import { changedLabels, type LabelChanges } from '@holdfast/core/model/labels.js';
import type { StorageDisk } from '@holdfast/core/model/node.js';
import { decideDiskEviction, nodeForDiskMoves } from '@holdfast/core/policy/decide-eviction.js';
import { diskChangeNews, diskEvent } from '@holdfast/core/policy/disk-events.js';
import type { Change } from '../ports/store.js';
import {
  assertMayEvict,
  assertVersion,
  changedPart,
  hasToAct,
  retryConflicts,
  type UseCasePorts,
} from './use-case.js';

export type DiskSpecPatch = {
  allowScheduling?: boolean | undefined;
  evictionRequested?: boolean | undefined;
  tags?: readonly string[] | undefined;
  storageReservedBytes?: number | undefined;
  /** Those that are named change. */
  labels?: LabelChanges | undefined;
};

/**
 * Changes the wanted state of a disk.
 *
 * @throws StorageFault `disk.not_found`, `request.invalid`, `disk.last_ready`
 */
export function patchDisk(
  ports: UseCasePorts,
  input: { clusterId: ClusterId; diskId: DiskId; patch: DiskSpecPatch; ifVersion?: number | undefined },
): Promise<void> {
  return retryConflicts(async () => {
    const fleet = await ports.store.loadFleet(input.clusterId);
    const { nodes, disks } = fleet;
    const disk = disks.find(({ id }) => id === input.diskId);
    const node = nodes.find(({ id }) => id === disk?.nodeId);
    if (disk === undefined || node === undefined) {
      throw new StorageFault('disk.not_found', { publicMessage: `the cluster has no disk ${input.diskId}` });
    }
    assertVersion(disk.version, input.ifVersion);
    const wanted = patchedDisk(disk, input.patch);
    assertDiskSpec(disk, wanted);
    if (input.patch.allowScheduling === true) assertStays(disk);
    const isToBeEmptied = wanted.evictionRequested && !disk.evictionRequested;
    if (isToBeEmptied) hasToAct(decideDiskEviction(disk, fleet));
    const patch = changedPart(disk, wanted);
    if (Object.keys(patch).length === 0) return;
    const told = diskChangeNews(`${disk.name} of node ${node.name}`, disk, wanted).map(
      (news): Change => ({ kind: 'event', event: diskEvent(input.clusterId, disk, news, ports.clock.now()) }),
    );
    const countsOn = isToBeEmptied ? nodeForDiskMoves(disk, fleet) : undefined;
    await ports.store.commit({ kind: 'node', nodeId: node.id, ifVersion: node.version, countsOn }, [
      { kind: 'disk.patch', diskId: disk.id, patch },
      ...told,
    ]);
  });
}

/** A disk pending removal takes no booking: if it were open, the scheduler would choose it in vain. */
function assertStays({ name, removalRequestedAt }: StorageDisk): void {
  if (removalRequestedAt === undefined) return;
  const detail = 'can not be true: the agent has been asked to let go of the disk';
  throw new StorageFault('request.invalid', {
    publicMessage: `allowScheduling of disk ${name} ${detail}`,
    errors: [{ pointer: '/allowScheduling', detail }],
    cures: ['add the disk again once it has been taken off'],
  });
}

type DiskSpec = Pick<
  StorageDisk,
  'allowScheduling' | 'evictionRequested' | 'tags' | 'storageReservedBytes' | 'labels'
>;

function patchedDisk(disk: StorageDisk, patch: DiskSpecPatch): DiskSpec {
  return {
    allowScheduling: patch.allowScheduling ?? disk.allowScheduling,
    evictionRequested: patch.evictionRequested ?? disk.evictionRequested,
    tags: patch.tags ?? disk.tags,
    labels: changedLabels(disk.labels, patch.labels ?? {}),
    storageReservedBytes: patch.storageReservedBytes ?? disk.storageReservedBytes,
  };
}

function assertDiskSpec(disk: StorageDisk, wanted: DiskSpec): void {
  const { storageReservedBytes: reserved } = wanted;
  if (!Number.isSafeInteger(reserved) || reserved < 0 || reserved > disk.storageMaximumBytes) {
    const detail = `must be a whole number of bytes from 0 to ${disk.storageMaximumBytes}`;
    throw new StorageFault('request.invalid', {
      publicMessage: `storageReserved ${detail}`,
      errors: [{ pointer: '/storageReserved', detail }],
    });
  }
  assertMayEvict(`disk ${disk.name}`, wanted);
}
