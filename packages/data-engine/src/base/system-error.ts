/** The code of a failed system call (`ENOENT`, `ENOSPC`, …); `undefined` for any other error. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** True for a write that was refused for lack of space: nothing acknowledged is lost, and a retry may succeed. */
export function isOutOfSpace(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}
