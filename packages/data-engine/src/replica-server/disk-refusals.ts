/**
 * Faults of a copy's own disk, as its commands answer with them: an error of the system keeps its code only within this process,
 * and its engine has to know why the disk refuses (docs/design/write-path.md).
 */
import { type FaultCode, isFault, StorageFault } from '@holdfast/core/model/faults.js';
import { isOutOfSpace, systemCode } from '../base/system-error.js';

/** The error as a fault, if a disk refused a command; any other error as it is. */
export function asDiskRefusal(error: unknown): unknown {
  if (isFault(error)) return error;
  const code = systemCode(error);
  if (code === undefined) return error;
  const told = error instanceof Error ? error.message : code;
  if (isOutOfSpace(error)) return refusal('disk.no_space', `the disk is full (${told})`, error);
  if (code === 'EFBIG') {
    const what = `the file system can not hold a file of that size (${told})`;
    return refusal('disk.file_too_large', what, error);
  }
  return refusal('disk.failed', `the disk failed: ${told}`, error);
}

function refusal(code: FaultCode, publicMessage: string, cause: unknown): StorageFault {
  return new StorageFault(code, { publicMessage, cause });
}
