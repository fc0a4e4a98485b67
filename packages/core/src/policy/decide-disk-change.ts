import { conditionOf } from '../model/condition.js';
import { DISK_SET_BACK } from '../model/disk-stamp.js';
import { isNodeReady, type StorageDisk, type StorageNode } from '../model/node.js';
import { ALLOWED, type Decision, refuse, unchanged } from './decision.js';

/** As many as an agent takes; more than a machine has slots for. */
export const NODE_DISKS_MAX = 256;

/** A disk that a user wants added to a node. */
export type DiskAddition = Readonly<{
  path: string;
  /** `undefined`: named after the last part of the path. */
  name: string | undefined;
  type: StorageDisk['type'];
  /** `undefined`: what its agent gives a new disk. */
  sizeBytes: number | undefined;
}>;

/** May it be added? Whether it can be used there, its agent finds out and reports as a condition of the disk. */
export function decideDiskAddition(
  { path, name }: Required<Pick<DiskAddition, 'path' | 'name'>>,
  node: Pick<StorageNode, 'name'>,
  disksOfNode: readonly Pick<StorageDisk, 'path' | 'name'>[],
): Decision<'disk.exists' | 'request.invalid'> {
  const known = disksOfNode.find((disk) => disk.path === path || disk.name === name);
  if (known !== undefined) {
    const what = known.path === path ? `${path} is its disk ${known.name}` : `it has a disk ${known.name}`;
    return refuse('disk.exists', `node ${node.name} has that disk already: ${what}`, [
      known.path === path ? 'use the disk that is there' : 'give the disk another name',
    ]);
  }
  if (disksOfNode.length < NODE_DISKS_MAX) return ALLOWED;
  return refuse(
    'request.invalid',
    `node ${node.name} has ${NODE_DISKS_MAX} disks, as many as a node may have`,
  );
}

/** What is wrong with a path; `undefined`: nothing. One name for one place, so that a disk is not added twice. */
export function wrongWithPath(path: string): string | undefined {
  if (!path.startsWith('/')) return 'must be an absolute path';
  const parts = path.slice(1).split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    return "must name a folder, file or device, without empty parts, '.' or '..'";
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: such characters are what is refused here
  return /[\u0000-\u001f\u007f]/.test(path) ? 'must not hold control characters' : undefined;
}

type RemovalFacts = Readonly<{
  disk: Pick<StorageDisk, 'name' | 'storageScheduledBytes' | 'removalRequestedAt' | 'evictionRequested'>;
  orphans: number;
}>;

/** May the disk be taken off its node? Only when nothing is lost with it. */
export function decideDiskRemoval({ disk, orphans }: RemovalFacts): Decision<'disk.in_use'> {
  if (disk.removalRequestedAt !== undefined) return unchanged('its agent has been asked to let go of it');
  if (disk.storageScheduledBytes > 0) {
    return refuse(
      'disk.in_use',
      `disk ${disk.name} holds replicas`,
      disk.evictionRequested
        ? ['wait until its replicas have moved away']
        : ['set allowScheduling to false and evictionRequested to true, and wait until it is empty'],
    );
  }
  if (orphans === 0) return ALLOWED;
  const copies = orphans === 1 ? 'a copy' : `${orphans} copies`;
  return refuse('disk.in_use', `disk ${disk.name} holds ${copies} that no replica stands for`, [
    'delete the orphans on it, once their data is not needed',
  ]);
}

type AcceptanceFacts = Readonly<{
  disk: Pick<StorageDisk, 'name' | 'conditions' | 'duplicateOf'>;
  /** The disk that it is taken for, and its node; the disk itself where that holds an earlier state. */
  known: Pick<StorageDisk, 'name' | 'conditions'> | undefined;
  from: Pick<StorageNode, 'name' | 'conditions'> | undefined;
}>;

/** May a disk be taken for the known one although its stamp says that it is another state of it? Not while the known one is there. */
export function decideDiskAcceptance({ disk, known, from }: AcceptanceFacts): Decision<'disk.in_use'> {
  if (disk.duplicateOf === undefined) {
    const isSetBack = conditionOf(disk.conditions, 'Ready')?.reason === DISK_SET_BACK;
    return isSetBack ? ALLOWED : unchanged(`disk ${disk.name} is the one that is known`);
  }
  if (known === undefined || from === undefined || !isNodeReady(from) || !isNodeReady(known)) return ALLOWED;
  return refuse('disk.in_use', `node ${from.name} answers with disk ${known.name}, which is in use there`, [
    `if that one is the copy: stop the agent of node ${from.name}, or take the disk out there, and accept this one then`,
  ]);
}
