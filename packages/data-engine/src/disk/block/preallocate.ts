/** Preallocation of files, so that writing into them never finds the file system full. */
import fs from 'node:fs';
import path from 'node:path';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { syncDirectory } from '../durable-file.js';
import { closeFile, openFile, resizeFile, syncFile } from '../file-calls.js';

const { O_CREAT, O_RDWR } = fs.constants;

/** Creates the file, or gives an empty one its size. @throws StorageFault `disk.no_space` */
export async function preallocate(file: string, sizeBytes: number): Promise<void> {
  const { default: koffi } = await import('koffi');
  const call = koffi.load('libc.so.6').func('int posix_fallocate(int fd, int64_t offset, int64_t length)');
  const fd = await openFile(file, O_RDWR | O_CREAT);
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
  await syncDirectory(path.dirname(file));
}
