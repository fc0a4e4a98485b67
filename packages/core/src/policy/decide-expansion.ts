/** Decides whether a volume may grow to a size, and what is booked for it. */

import { BLOCK_BYTES, formatBytes, VOLUME_BYTES_MAX } from '../model/bytes.js';
import type { Change } from '../model/changes.js';
import type { StorageDisk } from '../model/node.js';
import type { Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { nodeName } from '../model/volume-facts.js';
import { actionFacts } from './action-facts.js';
import { decideGrowth } from './decide-change.js';
import { type Decision, refuse, unchanged } from './decision.js';
import { spaceLimits } from './disk-space.js';
import { fitsExpansion, growthRoom } from './expansion.js';
import { fileBytesEnd, replicaBytesMax } from './file-size-limit.js';
import { bookingOn } from './space-booking.js';

export type ExpansionDecision =
  | { readonly kind: 'allow'; readonly changes: readonly Change[] }
  | Exclude<Decision, { kind: 'allow' }>;

type Growth = { readonly replica: Replica; readonly growthBytes: number };

/** Every disk is asked for all replicas of the volume that it holds together. */
export function decideExpansion(view: VolumeView, sizeBytes: number): ExpansionDecision {
  const { volume, replicas, fleet } = view;
  const { task } = volume;
  const isWanted = task?.kind === 'expand' && task.sizeBytes === sizeBytes;
  if (isWanted || volume.spec.sizeBytes === sizeBytes) {
    return unchanged(`volume ${volume.name} has that size, or grows to it already`);
  }
  const growth = decideGrowth(actionFacts(view));
  if (growth.kind !== 'allow') return growth;
  if (sizeBytes < volume.spec.sizeBytes) {
    return refuse('request.invalid', `a volume can only grow; it has ${formatBytes(volume.spec.sizeBytes)}`);
  }
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes % BLOCK_BYTES !== 0 || sizeBytes > VOLUME_BYTES_MAX) {
    return refuse(
      'request.invalid',
      `must be a whole number of ${BLOCK_BYTES}-byte blocks, at most ${VOLUME_BYTES_MAX}`,
    );
  }
  const growths = replicas.map((replica) => ({ replica, growthBytes: sizeBytes - replica.sizeBytes }));
  const refusals = fleet.disks
    .flatMap((disk) => [...tooLarge(view, disk, growths, sizeBytes), ...refusalOf(view, disk, growths)])
    .sort();
  if (refusals.length > 0) {
    // In another organization's cluster its users are told nothing of what the disks hold.
    const why =
      volume.grantedTags === undefined
        ? `${refusals.join('; ')}; ${largestText(view)}`
        : 'the disks of its copies have no room';
    return refuse('volume.expansion_impossible', `${volume.name} can't grow: ${why}`, [
      'make room on these disks, or move the replicas to larger ones',
    ]);
  }
  return { kind: 'allow', changes: growths.map((growth) => resize(view, growth, sizeBytes)) };
}

/** What creation asks of a disk's file system too: a copy past its largest file would be lost by growing. */
function tooLarge(
  { volume, fleet }: VolumeView,
  disk: StorageDisk,
  growths: readonly Growth[],
  sizeBytes: number,
): string[] {
  const isHere = growths.some(({ replica }) => replica.diskId === disk.id);
  const end = fileBytesEnd(disk, volume.spec.dataEngine);
  if (!isHere || end === undefined || sizeBytes < end) return [];
  return [
    `${nodeName(fleet, disk.nodeId)}/${disk.name} can't hold so large a file: ` +
      `${disk.fileSystem} takes files below ${formatBytes(end)} only`,
  ];
}

function refusalOf({ fleet }: VolumeView, disk: StorageDisk, growths: readonly Growth[]): string[] {
  const here = growths.filter(({ replica }) => replica.diskId === disk.id);
  const growthBytes = here.reduce((sum, growth) => sum + growth.growthBytes, 0);
  const limits = spaceLimits(fleet.settings);
  if (here.length === 0 || fitsExpansion(disk, growthBytes, limits)) return [];
  const { storageAvailableBytes, storageScheduledBytes, storageMaximumBytes, storageReservedBytes } = disk;
  const { bytes, setting } = growthRoom(disk, limits);
  return [
    `${nodeName(fleet, disk.nodeId)}/${disk.name} can't take ${formatBytes(growthBytes)} more: ` +
      `${setting} ${fleet.settings[setting]} leaves ${formatBytes(bytes)} ` +
      `(${formatBytes(storageAvailableBytes)} of ${formatBytes(storageMaximumBytes)} free, ` +
      `${formatBytes(storageScheduledBytes)} promised, ${formatBytes(storageReservedBytes)} reserved)`,
  ];
}

function largestText(view: VolumeView): string {
  const bytes = largestSize(view);
  return bytes <= view.volume.spec.sizeBytes
    ? 'no larger size fits'
    : `the largest size that fits is ${formatBytes(bytes)} (${bytes} bytes)`;
}

/** The largest size for which every disk has room, in whole blocks. */
export function largestSize({
  volume,
  replicas,
  fleet,
}: Pick<VolumeView, 'volume' | 'replicas' | 'fleet'>): number {
  const limits = spaceLimits(fleet.settings);
  const sizes = fleet.disks.flatMap((disk) => {
    const here = replicas.filter(({ diskId }) => diskId === disk.id);
    if (here.length === 0) return [];
    const heldBytes = here.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const ofSpace = (heldBytes + growthRoom(disk, limits).bytes) / here.length;
    return [Math.min(ofSpace, replicaBytesMax(disk, volume.spec.dataEngine))];
  });
  return Math.floor(Math.min(VOLUME_BYTES_MAX, ...sizes) / BLOCK_BYTES) * BLOCK_BYTES;
}

function resize({ fleet }: VolumeView, { replica, growthBytes }: Growth, sizeBytes: number): Change {
  const disk = fleet.disks.find(({ id }) => id === replica.diskId);
  const booking = disk === undefined ? undefined : bookingOn(disk, growthBytes, fleet);
  return { kind: 'replica.resize', replicaId: replica.id, sizeBytes, booking };
}
