/**
 * Device interface of a block disk: openings of one file or device, and the locks by which processes share it.
 * Injected, so that a simulation can replace both.
 */
import fs from 'node:fs';
import { BlockFile } from '../block-file.js';
import { closeFile, openFile } from '../file-calls.js';
import { sizeOf } from './device-size.js';
import { FileLocks } from './file-locks.js';

/** One opening of the file or device. */
export type BlockDevice = Pick<
  BlockFile,
  'readInto' | 'readCached' | 'readCachedNow' | 'write' | 'zero' | 'syncData' | 'close'
>;

export type DeviceLocks = Pick<FileLocks, 'try' | 'take' | 'release' | 'abandon'> & {
  close(): Promise<void>;
};

export interface BlockDevices {
  /** @param direct with direct I/O; fails with the code `EINVAL` where that is not supported */
  open(path: string, direct: boolean): Promise<BlockDevice>;
  sizeBytes(path: string): Promise<number>;
  /** @throws StorageFault `disk.not_ready` on a platform without such locks */
  locks(path: string): Promise<DeviceLocks>;
}

export const SYSTEM_DEVICES: BlockDevices = {
  open: (path, direct) => BlockFile.open(path, { direct }),
  sizeBytes: sizeOf,
  locks: async (path) => {
    const fd = await openFile(path, fs.constants.O_RDWR);
    try {
      const locks = await FileLocks.of(fd);
      return {
        try: (byte, kind) => locks.try(byte, kind),
        take: (byte, waitMs) => locks.take(byte, waitMs),
        release: (byte) => locks.release(byte),
        abandon: () => locks.abandon(),
        close: () => closeFile(fd),
      };
    } catch (error) {
      await closeFile(fd);
      throw error;
    }
  },
};
