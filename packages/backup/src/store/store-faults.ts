/** Faults of targets, by what a caller can do about them. */
import { StorageFault } from '@holdfast/core/model/faults.js';

export const unreachable = (what: string, cause?: unknown): StorageFault =>
  new StorageFault('backup.target_unreachable', {
    publicMessage: `the backup target does not answer as it must: ${what}`,
    cause,
  });

export const refused = (what: string, cause?: unknown): StorageFault =>
  new StorageFault('backup.target_refused', {
    publicMessage: `the backup target refuses it: ${what}`,
    cures: ['check the credentials, and what they may do'],
    cause,
  });

export const full = (cause?: unknown): StorageFault =>
  new StorageFault('backup.target_full', {
    publicMessage: 'the backup target is full',
    cures: ['delete backups and prune the repository', 'give the target more space'],
    cause,
  });

export const tooLarge = (name: string, sizeBytes: number, bytesMax: number): StorageFault =>
  new StorageFault('backup.too_large', {
    publicMessage: `${name} has ${sizeBytes} bytes, of which ${bytesMax} are allowed`,
  });
