/** Largest file of a disk's file system, which bounds the replicas that it can hold. */
import { BLOCK_BYTES, TIB } from '../model/bytes.js';
import type { StorageDisk } from '../model/node.js';
import type { VolumeSpec } from '../model/volume.js';

/** ext4 files end just below 16 TiB. xfs ends near 8 EiB, which no volume reaches (VOLUME_BYTES_MAX). */
export const EXT_FILE_BYTES_END = 16 * TIB;

/** Size in bytes that files on the disk stay below; `undefined` where no volume reaches it. Block disks have no files. */
export function fileBytesEnd(
  { fileSystem }: Pick<StorageDisk, 'fileSystem'>,
  dataEngine: VolumeSpec['dataEngine'],
): number | undefined {
  return dataEngine === 'v1' && fileSystem.startsWith('ext') ? EXT_FILE_BYTES_END : undefined;
}

/** Largest replica that the disk's file system can hold, in whole blocks; without a limit, infinity. */
export function replicaBytesMax(
  disk: Pick<StorageDisk, 'fileSystem'>,
  dataEngine: VolumeSpec['dataEngine'],
): number {
  const end = fileBytesEnd(disk, dataEngine);
  return end === undefined ? Number.POSITIVE_INFINITY : end - BLOCK_BYTES;
}
