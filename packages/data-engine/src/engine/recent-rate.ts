/** Rate of a count that grows, over the last seconds only: an average over hours would hide that it stands still now. */
const WINDOW_MS = 10_000;

type Sample = { readonly atMs: number; readonly bytes: number };

/** @returns a function that takes the count at a time and gives its rate in bytes per second; 0 for the first */
export function recentRate(): (sample: Sample) => number {
  let samples: readonly Sample[] = [];
  return (now) => {
    // One that is as old as the window stays: the rate is measured from there.
    const old = samples.filter(({ atMs }) => atMs <= now.atMs - WINDOW_MS).length;
    samples = [...samples.slice(Math.max(0, old - 1)), now];
    const [first = now] = samples;
    const seconds = (now.atMs - first.atMs) / 1000;
    return seconds > 0 ? Math.max(0, Math.round((now.bytes - first.bytes) / seconds)) : 0;
  };
}
