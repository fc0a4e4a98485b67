/**
 * Auto-balance by disk pressure: a copy on a disk that is nearly full goes to an emptier disk of the same node, where it
 * crosses no network and no failure domain. One copy at a time leaves a disk, so that each sees what the one before freed.
 */
import { compareIds, type DiskId } from '../model/ids.js';
import type { StorageDisk } from '../model/node.js';
import type { Replica } from '../model/replica.js';
import type { ClusterSettings } from '../model/setting.js';
import type { VolumeView } from '../model/views.js';
import { diskById, lastingCopies, nodeById } from '../model/volume-facts.js';
import { spaceLimits } from '../policy/disk-space.js';
import { fitsBelowPressure, isUnderPressure } from '../scheduling/tiers/disk-pressure.js';
import { isSettled, mayBeTaken } from './balance-guards.js';
import { placeInstead } from './place-instead.js';
import { type MoveAnswer, placeOf } from './planned-move.js';

export function isDiskPressed(disk: StorageDisk, settings: ClusterSettings): boolean {
  const percentage = settings['replica-auto-balance-disk-pressure-percentage'];
  return percentage > 0 && isUnderPressure(disk, percentage);
}

export function pressureMove(view: VolumeView, now: Date): MoveAnswer {
  const pressed = lastingCopies(view)
    .flatMap((replica) => {
      const disk = diskById(view.fleet, replica.diskId);
      return disk !== undefined && isDiskPressed(disk, view.fleet.settings) ? [{ replica, disk }] : [];
    })
    .sort((a, b) => compareIds(a.replica.id, b.replica.id));
  if (pressed.length === 0) return undefined;
  for (const { replica, disk } of pressed) {
    const answer = relief(view, replica, disk, now);
    if (answer !== undefined) return answer;
  }
  return { kind: 'blocked', why: 'no other disk of the node has enough room' };
}

function relief(view: VolumeView, replica: Replica, disk: StorageDisk, now: Date): MoveAnswer {
  const { fleet, relocations } = view;
  const node = nodeById(fleet, disk.nodeId);
  const isBeingRelieved = relocations.underWay.some(({ relocation }) => relocation.from.diskId === disk.id);
  if (node === undefined || !isSettled(node, fleet.settings, now) || isBeingRelieved) return undefined;
  if (!mayBeTaken(view, replica, now)) return undefined;
  const diskIds = emptierDisks(view, disk);
  const placement = placeInstead(view, replica, { nodeId: node.id, diskIds }, now);
  const from = placeOf(replica);
  if (from === undefined || placement.kind !== 'placed') return undefined;
  const target = diskById(fleet, placement.diskId);
  const usedThere = target === undefined ? 0 : usedPercent(target, view.volume.writtenBytes);
  const gain = `${usedPercent(disk)} % of disk ${disk.name} are used, and ${usedThere} % of ${target?.name ?? 'the other'} with this copy on it`;
  const to = { nodeId: node.id, diskId: placement.diskId };
  return { kind: 'move', move: { replica, from, to, reason: 'balance', gain } };
}

/** Those that would be less used than the disk under pressure by the margin, and not under pressure themselves. */
function emptierDisks({ fleet, volume }: VolumeView, pressed: StorageDisk): Set<DiskId> {
  const { settings } = fleet;
  const percentage = settings['replica-auto-balance-disk-pressure-percentage'];
  const margin = settings['replica-auto-balance-disk-margin-percentage'];
  const demand = { sizeBytes: volume.spec.sizeBytes, writtenBytes: volume.writtenBytes };
  const fitting = fleet.disks.filter(
    (disk) =>
      disk.nodeId === pressed.nodeId &&
      disk.id !== pressed.id &&
      fitsBelowPressure(disk, demand, spaceLimits(settings), percentage) &&
      usedPercent(pressed) - usedPercent(disk, demand.writtenBytes) >= margin,
  );
  return new Set(fitting.map(({ id }) => id));
}

/** Of its maximum, the reserve included, with further bytes on it. */
function usedPercent(disk: StorageDisk, moreBytes = 0): number {
  const { storageMaximumBytes, storageAvailableBytes, storageReservedBytes } = disk;
  if (storageMaximumBytes <= 0) return 100;
  const used = storageMaximumBytes - storageAvailableBytes + storageReservedBytes + moreBytes;
  return Math.min(100, Math.floor((used / storageMaximumBytes) * 100));
}
