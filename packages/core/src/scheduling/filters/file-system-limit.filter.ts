import { formatBytes, TIB } from '../../model/bytes.js';
import type { DiskFilter } from '../framework.js';
import { formatSpace } from './format-space.js';

/** ext4 files end just below 16 TiB. xfs ends near 8 EiB, which no volume reaches (VOLUME_BYTES_MAX). */
export const EXT_FILE_BYTES_END = 16 * TIB;

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
    if (request.dataEngine !== 'v1' || request.sizeBytes < EXT_FILE_BYTES_END) return undefined;

    return (disk) => {
      if (!disk.fileSystem.startsWith('ext')) return undefined;
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
