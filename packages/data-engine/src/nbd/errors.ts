import { StorageFault } from '@holdfast/core/model/faults.js';
import { systemCode } from '../replica/system-error.js';
import { NbdErrno } from './constants.js';

/** An error number that the other side of an NBD connection answered. */
export class NbdError extends Error {
  override readonly name = 'NbdError';

  constructor(
    readonly errno: number,
    message: string,
  ) {
    super(message);
  }
}

/** The other side broke the protocol; the connection can't go on. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** Which error number tells the client most about a failure. EIO where nothing better fits. */
export function errnoOf(error: unknown): number {
  if (error instanceof NbdError) return error.errno;
  if (error instanceof StorageFault) {
    if (error.code === 'disk.no_space') return NbdErrno.NoSpace;
    if (error.code === 'request.invalid') return NbdErrno.Invalid;
    if (error.code === 'engine.stale_epoch') return NbdErrno.Shutdown;
    return NbdErrno.Io;
  }
  const code = systemCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT' ? NbdErrno.NoSpace : NbdErrno.Io;
}
