/** Freeing and preallocating file space without writing: `fallocate` of Linux. */
import { nativeCalls } from './native-calls.js';

/** FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE of linux/falloc.h. */
const PUNCH_HOLE_KEEP_SIZE = 0x03;
/** ENOSPC and EDQUOT of errno.h. */
const NO_SPACE: readonly number[] = [28, 122];

/** Frees the space of a range. False if that is not possible: the caller then writes zeros. */
export async function punchHole(fd: number, offset: number, lengthBytes: number): Promise<boolean> {
  return (await nativeCalls.fallocate(fd, PUNCH_HOLE_KEEP_SIZE, offset, lengthBytes)) === 0;
}

/**
 * Preallocates a range of a file, so that no later write there finds the disk full. No-op where it is not supported.
 *
 * @throws an error with the code `ENOSPC` when the disk is full
 */
export async function reserveSpace(fd: number, offset: number, lengthBytes: number): Promise<void> {
  const errno = await nativeCalls.posixFallocate(fd, offset, lengthBytes);
  if (!NO_SPACE.includes(errno)) return;
  throw Object.assign(new Error('ENOSPC: no space left for what describes the data'), { code: 'ENOSPC' });
}
