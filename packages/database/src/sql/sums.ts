/**
 * SQL for a sum of bytes, at most the largest whole number that JSON and JavaScript carry: sums of what agents report must not
 * make an answer fail.
 */
export function bytesSum(column: string): string {
  return `least(coalesce(sum(${column}), 0), ${Number.MAX_SAFE_INTEGER})`;
}
