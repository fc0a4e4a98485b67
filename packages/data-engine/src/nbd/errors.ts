import { StorageFault } from '@holdfast/core/model/faults.js';
import { isOutOfSpace, systemCode } from '../base/system-error.js';
import { NbdErrno } from './constants.js';

/** Error of an NBD reply, with its error number. */
export class NbdError extends Error {
  override readonly name = 'NbdError';

  constructor(
    readonly errno: number,
    message: string,
  ) {
    super(message);
  }
}

/** Protocol violation by the other side; the connection can't go on. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** The NBD error number that fits a failure best; EIO if none does. */
export function errnoOf(error: unknown): number {
  if (error instanceof NbdError) return error.errno;
  if (error instanceof StorageFault) {
    if (error.code === 'disk.no_space' || error.code === 'disk.file_too_large') return NbdErrno.NoSpace;
    if (error.code === 'request.invalid') return NbdErrno.Invalid;
    if (error.code === 'engine.stale_epoch') return NbdErrno.Shutdown;
    return NbdErrno.Io;
  }
  // NBD has no numbers for EDQUOT, EFBIG and EROFS.
  if (systemCode(error) === 'EFBIG' || isOutOfSpace(error)) return NbdErrno.NoSpace;
  return systemCode(error) === 'EROFS' ? NbdErrno.Perm : NbdErrno.Io;
}
