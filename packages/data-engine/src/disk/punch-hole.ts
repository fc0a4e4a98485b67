/** Freeing and preallocating file space without writing: `fallocate` of Linux. */
import os from 'node:os';
import { getSystemErrorName } from 'node:util';
import { isOutOfSpace, systemCode } from '../base/system-error.js';
import { nativeCalls } from './native-calls.js';

/** FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE of linux/falloc.h. */
const PUNCH_HOLE_KEEP_SIZE = 0x03;
const { EINVAL, ENODEV, ENOSYS, EOPNOTSUPP, ESPIPE } = os.constants.errno;
/** Errors of a file system or kernel that can't preallocate; -1: the call does not exist. */
const UNSUPPORTED: readonly number[] = [-1, EINVAL, ENODEV, ENOSYS, EOPNOTSUPP, ESPIPE];

/** Frees the space of a range. False if that is not possible: the caller then writes zeros. */
export async function punchHole(fd: number, offset: number, lengthBytes: number): Promise<boolean> {
  return (await nativeCalls.fallocate(fd, PUNCH_HOLE_KEEP_SIZE, offset, lengthBytes)) === 0;
}

/**
 * Preallocates a range of a file, so that no later write there finds the disk full. No-op where it is not supported.
 *
 * @throws an error with the system's code: `ENOSPC` when the disk is full
 */
export async function reserveSpace(fd: number, offset: number, lengthBytes: number): Promise<void> {
  const errno = await nativeCalls.posixFallocate(fd, offset, lengthBytes);
  if (errno === 0 || UNSUPPORTED.includes(errno)) return;
  const code = getSystemErrorName(-errno);
  const refused = Object.assign(new Error(), { code, errno: -errno });
  const what = isOutOfSpace(refused) ? 'no space left' : 'no space can be reserved';
  refused.message = `${systemCode(refused)}: ${what} for what describes the data`;
  throw refused;
}
