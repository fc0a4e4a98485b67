/** The middle value, or the higher one of two. @throws RangeError where there is none: a benchmark has measured something. */
export function median(values: readonly number[]): number {
  const middle = values.toSorted((a, b) => a - b)[values.length >> 1];
  if (middle === undefined) throw new RangeError('nothing was measured');
  return middle;
}
