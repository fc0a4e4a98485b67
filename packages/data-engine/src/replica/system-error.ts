/** The code of a failed system call (`ENOENT`, `ENOSPC`, …); `undefined` for any other error. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
