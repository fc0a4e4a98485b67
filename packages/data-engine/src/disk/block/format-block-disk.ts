/** Formats an empty file or device as a block disk. Anything else is refused: it is never overwritten. */
import crypto from 'node:crypto';
import { constants } from 'node:fs';
import { dirname } from 'node:path';
import { CLUSTER_BYTES, MIB } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { BlockFile } from '../block-file.js';
import { syncDirectory } from '../durable-file.js';
import { closeFile, openFile, resizeFile, syncFile } from '../file-calls.js';
import { BLOCK_SEALED_BYTES } from '../sealed-block.js';
import { requireWhole } from './block-disk.js';
import { sizeOf } from './device-size.js';
import { writeEmptyNote } from './disk-note.js';
import { DISK_BYTES_MIN, layoutIn, layoutOf, rootOffset, superblockOf } from './layout.js';
import { freeRoots } from './stored-copy.js';

/** Bytes checked for content: file systems, partition tables and volume managers all have something in them. */
const HEAD_BYTES = MIB;

/**
 * Id of the block disk at the path.
 *
 * @returns `undefined` if there is nothing, or nothing but zeros
 * @throws StorageFault `disk.wrong_identity` for anything else, or a damaged disk
 */
export async function blockDiskAt(path: string): Promise<string | undefined> {
  const sizeBytes = await sizeOf(path);
  if (sizeBytes === 0) return undefined;
  const file = await BlockFile.open(path);
  try {
    const superblock = Buffer.alloc(BLOCK_SEALED_BYTES);
    await file.readInto(superblock, 0);
    const layout = layoutIn(superblock);
    if (layout !== undefined) {
      requireWhole(layout, sizeBytes);
      return layout.diskId;
    }
    const head = Buffer.alloc(HEAD_BYTES);
    await file.readInto(head, 0);
    if (head.every((byte) => byte === 0)) return undefined;
  } finally {
    await file.close();
  }
  throw new StorageFault('disk.wrong_identity', {
    publicMessage: `${path} holds something that is no block disk of Holdfast`,
    cures: [`if what it holds is not needed, put zeros over its first MiB`],
  });
}

/**
 * Formats an empty file or device. A missing file is created and preallocated; a device, or a file that has a size
 * already, keeps its size.
 *
 * @returns the disk's id
 */
export async function formatBlockDisk(
  path: string,
  sizeBytes: number,
  diskId: string = crypto.randomUUID(),
): Promise<string> {
  if ((await blockDiskAt(path)) !== undefined) {
    throw new StorageFault('disk.wrong_identity', { publicMessage: `${path} is a block disk already` });
  }
  const there = await sizeOf(path);
  const isNew = there === 0;
  const layout = layoutOf(diskId, isNew ? sizeBytes : there);
  if (layout.sizeBytes < DISK_BYTES_MIN) {
    throw new StorageFault('disk.no_space', {
      publicMessage: `a block disk has at least ${DISK_BYTES_MIN} bytes; ${path} would have ${layout.sizeBytes}`,
    });
  }
  if (isNew) await preallocate(path, sizeBytes);
  const file = await BlockFile.open(path);
  try {
    // Clears roots and owners of an earlier disk. A new file reads as zeros anyway.
    if (!isNew) await file.zero(CLUSTER_BYTES, layout.clustersOffset - CLUSTER_BYTES, false);
    await file.write([freeRoots(layout)], rootOffset(0, 0));
    await writeEmptyNote(file, layout);
    await file.syncData();
    await file.write([superblockOf(layout)], 0);
    await file.syncData();
  } finally {
    await file.close();
  }
  return layout.diskId;
}

/**
 * Creates the file, or gives an empty one its size, with all of its space: writing into it never finds the file system
 * full.
 *
 * @throws StorageFault `disk.no_space`
 */
async function preallocate(file: string, sizeBytes: number): Promise<void> {
  const { default: koffi } = await import('koffi');
  const call = koffi.load('libc.so.6').func('int posix_fallocate(int fd, int64_t offset, int64_t length)');
  const fd = await openFile(file, constants.O_RDWR | constants.O_CREAT);
  try {
    await resizeFile(fd, sizeBytes);
    const errno = await new Promise<number>((resolve, reject) => {
      call.async(fd, 0, sizeBytes, (error: Error | null, status: number) =>
        error === null ? resolve(status) : reject(error),
      );
    });
    if (errno !== 0) {
      throw new StorageFault('disk.no_space', {
        publicMessage: `${file} can't be given ${sizeBytes} bytes (error ${errno})`,
      });
    }
    await syncFile(fd);
  } finally {
    await closeFile(fd);
  }
  await syncDirectory(dirname(file));
}
