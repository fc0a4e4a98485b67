/** Stretches: runs of blocks that are read in one call, because a disk is slower when small runs are requested one by one. */

/** Consecutive blocks of the device. */
export type Run = { readonly first: number; readonly count: number };

/** A stretch, with the runs that lie in it. */
export type Stretch = Run & { readonly runs: readonly Run[] };

/**
 * @param runs in order
 * @param gapMax most blocks between two runs of one stretch
 */
export function stretchesOf(runs: readonly Run[], gapMax: number): Stretch[] {
  const stretches: { first: number; count: number; runs: Run[] }[] = [];
  for (const run of runs) {
    const last = stretches.at(-1);
    if (last === undefined || run.first - (last.first + last.count) > gapMax) {
      stretches.push({ ...run, runs: [run] });
      continue;
    }
    last.count = run.first + run.count - last.first;
    last.runs.push(run);
  }
  return stretches;
}

export function blocksIn(runs: readonly Run[]): number {
  return runs.reduce((sum, { count }) => sum + count, 0);
}
