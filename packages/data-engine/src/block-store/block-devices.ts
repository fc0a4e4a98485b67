/**
 * What a block disk is made of, as its code uses it: openings of one file or device, and the locks by which processes share
 * it. They are passed in, so that a simulation can make them its own.
 */
import fs from 'node:fs';
import { BlockFile } from '../replica/block-file.js';
import { closeFile, openFile } from '../replica/file-calls.js';
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
  /** @param direct past the page cache; fails with the code `EINVAL` where that is not possible */
  open(path: string, direct: boolean): Promise<BlockDevice>;
  /** @throws StorageFault `disk.not_ready` on a platform without such locks */
  locks(path: string): Promise<DeviceLocks>;
}

export const SYSTEM_DEVICES: BlockDevices = {
  open: (path, direct) => BlockFile.open(path, { direct }),
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
