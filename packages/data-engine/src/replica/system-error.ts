/** The code of a failed system call (`ENOENT`, `ENOSPC`, …); `undefined` for any other error. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** A write that was refused for want of space: nothing that was acknowledged is lost, and there may be space later. */
export function isOutOfSpace(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}
