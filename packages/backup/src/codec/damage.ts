import { StorageFault } from '@holdfast/core/model/faults.js';

/** The fault of bytes that are not what this repository wrote: missing, changed, exchanged or cut off. Nothing of them is used. */
export function damaged(what: string, cause?: unknown): StorageFault {
  return new StorageFault('backup.damaged', { publicMessage: `the repository is damaged: ${what}`, cause });
}
