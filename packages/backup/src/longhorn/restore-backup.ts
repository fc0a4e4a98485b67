/** A backup of Longhorn as blocks: all of them, or those that differ from an older one, for a standby volume that follows. */
import { isFault } from '@holdfast/core/model/faults.js';
import type { LonghornBlock } from './backup-file.js';
import type { LonghornBackup, LonghornBackupstore, LonghornVolume } from './backupstore.js';
import { damagedFile, unsupported } from './longhorn-faults.js';

/** Takes the blocks, in any order. */
export interface BlockTarget {
  write(offset: number, bytes: Buffer): Promise<void>;
  zero(offset: number, lengthBytes: number): Promise<void>;
}

export type LonghornChanges = {
  readonly write: readonly LonghornBlock[];
  /** Offsets of blocks that the older one had, and this one has not: they read as zeros now. */
  readonly zero: readonly number[];
};

/** Blocks at once: of 16 MiB, each is there twice while it is unpacked. */
const BLOCKS_AT_ONCE = 4;

/** @throws StorageFault `longhorn_backup.unsupported` where the backup is not the whole volume */
export function refuseBackingImage(volume: LonghornVolume): void {
  if (volume.backingImageName !== '')
    throw unsupported(
      `volume ${volume.name} stands on the backing image ${volume.backingImageName}: what its backups leave out is not zeros, but that image`,
    );
}

/** Blocks by which a newer backup differs from an older one of the same volume and block size. */
export function changesBetween(older: LonghornBackup | undefined, newer: LonghornBackup): LonghornChanges {
  if (older === undefined) return { write: newer.blocks, zero: [] };
  if (older.blockBytes !== newer.blockBytes)
    throw unsupported('the block size was changed: the backup is read whole');
  const before = new Map(older.blocks.map(({ offset, checksum }) => [offset, checksum]));
  const after = new Set(newer.blocks.map(({ offset }) => offset));
  return {
    write: newer.blocks.filter(({ offset, checksum }) => before.get(offset) !== checksum),
    zero: older.blocks.map(({ offset }) => offset).filter((offset) => !after.has(offset)),
  };
}

export type RestoreProgress = { readonly doneBytes: number; readonly totalBytes: number };

/**
 * Writes a backup's blocks. A block that is missing is looked for once more: Longhorn may have replaced the backup's file while it was read.
 *
 * @throws StorageFault `longhorn_backup.damaged`, with the name of the file
 */
export async function restoreLonghornBackup(
  backupstore: LonghornBackupstore,
  volume: LonghornVolume,
  backup: LonghornBackup,
  target: BlockTarget,
  { older, onProgress }: { older?: LonghornBackup; onProgress?: (progress: RestoreProgress) => void } = {},
): Promise<void> {
  refuseBackingImage(volume);
  const { write, zero } = changesBetween(older, backup);
  const last = write.at(-1);
  if (last !== undefined && last.offset >= volume.sizeBytes)
    throw damagedFile(backup.name, `a block at ${last.offset} lies behind the end of the volume`);
  const within = (offset: number) => Math.min(backup.blockBytes, volume.sizeBytes - offset);
  for (const offset of zero) if (offset < volume.sizeBytes) await target.zero(offset, within(offset));
  let next = 0;
  let doneBytes = 0;
  const totalBytes = write.length * backup.blockBytes;
  const lane = async () => {
    for (let block = write[next++]; block !== undefined; block = write[next++]) {
      const bytes = await blockOrReason(backupstore, backup, block);
      await target.write(block.offset, bytes.subarray(0, within(block.offset)));
      doneBytes += backup.blockBytes;
      onProgress?.({ doneBytes, totalBytes });
    }
  };
  const lanes = await Promise.allSettled(
    Array.from({ length: Math.min(BLOCKS_AT_ONCE, write.length) }, lane),
  );
  for (const one of lanes) if (one.status === 'rejected') throw one.reason;
}

async function blockOrReason(
  backupstore: LonghornBackupstore,
  backup: LonghornBackup,
  block: LonghornBlock,
): Promise<Buffer> {
  try {
    return await backupstore.block(backup, block);
  } catch (error) {
    if (!isFault(error, 'longhorn_backup.damaged')) throw error;
    // Not there any more: the backup was deleted while it was read. Else its file tells what is wrong.
    await backupstore.backup(backup.volumeName, backup.name);
    throw error;
  }
}
