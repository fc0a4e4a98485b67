'use client';
import { useEffect, useState } from 'react';

const TICK_MS = 5_000;
/** The server's clock may be this far from the browser's: a time within it is still what its label says it is. */
const CLOCK_SKEW_MS = 60_000;
const STEPS = [
  { seconds: 60, unit: 's', per: 1 },
  { seconds: 3600, unit: 'm', per: 60 },
  { seconds: 86_400, unit: 'h', per: 3600 },
  { seconds: Number.POSITIVE_INFINITY, unit: 'd', per: 86_400 },
] as const;

/** The time between the two, in the shortest form: `4m`. Nothing where the second is before the first. */
export function shortAge(at: Date, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - at.getTime()) / 1000));
  const step = STEPS.find((candidate) => seconds < candidate.seconds) ?? STEPS[3];
  return `${Math.floor(seconds / step.per)}${step.unit}`;
}

/**
 * `4m ago` or `in 4m`. Within the skew of clocks the label beside it decides; beyond that, the time itself.
 *
 * @param coming whether the label speaks of a future time
 */
export function relativeTime(at: Date, now: Date, coming: boolean): string {
  const aheadMs = at.getTime() - now.getTime();
  const isAhead = coming ? aheadMs >= -CLOCK_SKEW_MS : aheadMs > CLOCK_SKEW_MS;
  return isAhead ? `in ${shortAge(now, at)}` : `${shortAge(at, now)} ago`;
}

/**
 * A point in time as its age, or as the time until it; the exact time is in the tooltip.
 *
 * @param coming the words around it speak of a future time
 */
export function Moment({ at, coming = false }: { at: string; coming?: boolean }) {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const date = new Date(at);
  return (
    <time
      dateTime={at}
      title={`${date.toLocaleString()} (${date.toISOString()})`}
      className="tabular-nums"
      suppressHydrationWarning
    >
      {relativeTime(date, now, coming)}
    </time>
  );
}
