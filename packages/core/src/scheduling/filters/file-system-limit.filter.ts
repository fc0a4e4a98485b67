import { formatBytes } from '../../model/bytes.js';
import { EXT_FILE_BYTES_END, fileBytesEnd } from '../../policy/file-size-limit.js';
import type { DiskFilter } from '../framework/framework.js';
import { formatSpace } from './format-space.js';

/** Rejects a disk whose file system can't hold one file as large as the volume. Block disks have no files. */
export const fileSystemLimitFilter: DiskFilter<'FileSystemLimit'> = {
  name: 'file-system-limit',
  description: 'File system takes so large a file',
  inIndex: 'kind',
  reasons: {
    FileSystemLimit: {
      summary: 'volume too large for the file system',
      refused: ['disk can not hold so large a file', 'disks can not hold so large a file'],
      detail: (_, numbers) => `files below ${formatSpace(numbers?.thresholdBytes)} only`,
    },
  },

  prepare({ request }) {
    if (request.sizeBytes < EXT_FILE_BYTES_END) return undefined;

    return (disk) => {
      if (fileBytesEnd(disk, request.dataEngine) === undefined) return undefined;
      return {
        rule: 'file-system-limit',
        reason: 'FileSystemLimit',
        message: `${disk.fileSystem} on disk ${disk.name} holds files below ${formatBytes(EXT_FILE_BYTES_END)} only`,
        cure: 'use a disk with xfs, or a smaller volume',
        numbers: {
          requiredBytes: request.sizeBytes,
          availableBytes: EXT_FILE_BYTES_END - 1,
          thresholdBytes: EXT_FILE_BYTES_END,
        },
      };
    };
  },
};
