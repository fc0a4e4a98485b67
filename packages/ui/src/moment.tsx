'use client';
import { useEffect, useState } from 'react';

const TICK_MS = 5_000;
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
 * A point in time as its age, or `coming`, as how far away it is; the exact time is in the tooltip. Which of the two is not
 * read off the clock: the server's may be a little ahead.
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
      {coming ? `in ${shortAge(now, date)}` : `${shortAge(date, now)} ago`}
    </time>
  );
}
