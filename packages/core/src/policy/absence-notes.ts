/** Consequences of taking a node or a disk away, in sentences for a plan. */
import { formatBytes } from '../model/bytes.js';
import type { DiskId, NodeId } from '../model/ids.js';
import type { StorageDisk } from '../model/node.js';
import { isHealthy, type Replica } from '../model/replica.js';
import { holderOf } from '../model/volume-lifecycle.js';

/** Names in one sentence; what is beyond them is counted. */
const NAMES_MAX = 5;

type WithCopies = {
  readonly volume: Parameters<typeof holderOf>[0] & { readonly name: string };
  readonly replicas: readonly Pick<Replica, 'nodeId' | 'intent' | 'healthyAt' | 'failedAt'>[];
};

/** What is missing while the node is away in a maintenance window, which nothing is built for meanwhile. */
export function maintenanceNotes(volumes: readonly WithCopies[], nodeId: NodeId): string[] {
  const served = volumes.filter(({ volume }) => holderOf(volume) === nodeId);
  const holding = volumes.filter(({ replicas }) => replicas.some((one) => isWantedOn(one, nodeId)));
  const last = holding.filter(({ replicas }) => {
    const healthy = replicas.filter(isHealthy);
    return healthy.length > 0 && healthy.every((one) => one.nodeId === nodeId);
  });
  if (served.length + holding.length === 0) return ['no copy is on it, and it serves no volume'];
  return [
    ...(holding.length === 0
      ? []
      : [
          `while it is away ${counted(holding.length)} a copy less, and no other is built until it is back or the window has ended`,
        ]),
    ...(last.length === 0
      ? []
      : [
          `${counted(last.length)} no healthy copy elsewhere and can not be read meanwhile: ${namesOf(last)}`,
        ]),
    ...(served.length === 0
      ? []
      : [
          `${served.length === 1 ? 'one volume is' : `${served.length} volumes are`} served by it: clients lose the connection when it is switched off: ${namesOf(served)}`,
        ]),
  ];
}

/** What goes with a disk that holds no copy, and what stays. */
export function diskRemovalNotes(disks: readonly RemovedDisk[], diskId: DiskId): string[] {
  const disk = disks.find(({ id }) => id === diskId);
  if (disk === undefined) return [];
  return [
    `the cluster has ${formatBytes(disk.storageMaximumBytes)} less room for copies`,
    `what is stored at ${disk.path} stays there`,
  ];
}

/** What goes with a node that holds no copy, and what stays. */
export function nodeDeletionNotes(disks: readonly RemovedDisk[], nodeId: NodeId): string[] {
  const own = disks.filter((disk) => disk.nodeId === nodeId);
  if (own.length === 0) return ['it has no disk'];
  const bytes = own.reduce((sum, { storageMaximumBytes }) => sum + storageMaximumBytes, 0);
  return [
    `${own.length === 1 ? 'its disk is' : `its ${own.length} disks are`} forgotten with it: the cluster has ${formatBytes(bytes)} less room for copies`,
    'what is stored on the machine stays there',
  ];
}

type RemovedDisk = Pick<StorageDisk, 'id' | 'nodeId' | 'path' | 'storageMaximumBytes'>;

function isWantedOn({ nodeId, intent }: WithCopies['replicas'][number], on: NodeId): boolean {
  return nodeId === on && intent !== 'remove';
}

function counted(volumes: number): string {
  return volumes === 1 ? 'one volume has' : `${volumes} volumes have`;
}

function namesOf(volumes: readonly WithCopies[]): string {
  const names = volumes.map(({ volume }) => volume.name).sort();
  const more = names.length - NAMES_MAX;
  return more > 0 ? `${names.slice(0, NAMES_MAX).join(', ')} and ${more} more` : names.join(', ');
}
