/** A disk's state in words for people. */
import type { Disk } from '../types.js';

/** A condition that does not make a disk bad: without direct I/O it works, at a cost. */
const DIRECT_IO = 'DirectIo';
/** As well: another node has a copy of it, which is not used. */
const UNIQUE = 'Unique';

export function directIoRefusal({ conditions }: Disk): string | undefined {
  return conditions.find(({ status, type }) => status === 'False' && type === DIRECT_IO)?.message;
}

export function diskStatus(disk: Disk): string {
  if (disk.removalRequestedAt !== null) return '… being taken off';
  const wrong = disk.conditions.find(
    ({ status, type }) => status === 'False' && type !== DIRECT_IO && type !== UNIQUE,
  );
  if (wrong?.reason === 'DiskPending') return '… being set up';
  if (wrong !== undefined) return `✕ ${wrong.reason}`;
  if (disk.evictionRequested) return '▲ evicting';
  if (!disk.allowScheduling) return '○ scheduling off';
  if (disk.conditions.some(({ status, type }) => status === 'False' && type === UNIQUE))
    return '▲ ready, DuplicateDisk';
  return directIoRefusal(disk) === undefined ? '✓ ready' : '▲ ready, no direct I/O';
}
