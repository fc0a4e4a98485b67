import { StorageFault } from '@holdfast/core/model/faults.js';

/** Something of a Longhorn target or folder is not what it must be. The file is named. */
export const damagedFile = (file: string, what: string, cause?: unknown): StorageFault =>
  new StorageFault('longhorn_backup.damaged', { publicMessage: `${file}: ${what}`, cause });

export const unsupported = (publicMessage: string): StorageFault =>
  new StorageFault('longhorn_backup.unsupported', { publicMessage });

export const notFound = (publicMessage: string): StorageFault =>
  new StorageFault('longhorn_backup.not_found', { publicMessage });

export const unusable = (publicMessage: string, cures: readonly string[] = []): StorageFault =>
  new StorageFault('longhorn_replica.unusable', { publicMessage, cures });
