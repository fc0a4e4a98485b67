/**
 * Imbalance of a fleet, which is how unevenly usable space is spread: 0 is perfectly even. The definition of the balance
 * proposal, kept as it is written there; `chooseBalanced` finds its optimum without evaluating it for every option.
 */
export type Capacity = { readonly usableBytes: number; readonly totalBytes: number };

/** `(max − min) / mean`. Without a positive mean nothing is left to balance: no option is better than another. */
export function balanceScore(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (!(mean > 0)) return Number.POSITIVE_INFINITY;
  const max = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const min = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  return (max - min) / mean;
}

/** `α · BalanceScore(usable) + (1 − α) · BalanceScore(usable / total)`. */
export function hybridScore(values: readonly Capacity[], alpha: number): number {
  const absolute = alpha === 0 ? 0 : balanceScore(values.map(({ usableBytes }) => usableBytes));
  const ratio = alpha === 1 ? 0 : balanceScore(values.map(usableShare));
  return alpha * absolute + (1 - alpha) * ratio;
}

export function usableShare({ usableBytes, totalBytes }: Capacity): number {
  return shareOf(usableBytes, totalBytes);
}

/** A place without capacity counts as full. */
export function shareOf(usableBytes: number, totalBytes: number): number {
  return totalBytes > 0 ? usableBytes / totalBytes : 0;
}

/** The values once `sizeBytes` has been placed on the option at `index`. */
export function afterPlacing<T extends Capacity>(
  values: readonly T[],
  index: number,
  sizeBytes: number,
): Capacity[] {
  return values.map(({ usableBytes, totalBytes }, at) => ({
    usableBytes: at === index ? usableBytes - sizeBytes : usableBytes,
    totalBytes,
  }));
}
