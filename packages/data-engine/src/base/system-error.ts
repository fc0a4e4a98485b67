import os from 'node:os';

/**
 * The code of a failed system call (`ENOENT`, `ENOSPC`, …); `undefined` for any other error.
 *
 * Node has no name for EDQUOT: its errors say `Unknown system error -122`.
 */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  if ('errno' in error && error.errno === -os.constants.errno.EDQUOT) return 'EDQUOT';
  return typeof error.code === 'string' ? error.code : undefined;
}

/**
 * True for a write that was refused for lack of space: nothing acknowledged is lost, and a retry may succeed. So it is with a size that the
 * file system has no files of, and where it has become read-only; a failed sync has a code of its own, whatever the kernel called it.
 */
export function isRefusedWrite(error: unknown): boolean {
  const code = systemCode(error);
  return isOutOfSpace(error) || code === 'EFBIG' || code === 'EROFS';
}

/** True for want of space, of the disk's or of a quota's. */
export function isOutOfSpace(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}
