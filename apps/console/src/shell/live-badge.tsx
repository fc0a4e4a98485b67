'use client';
import { clsx } from 'clsx';
import { type Freshness, useFreshness } from '../shared/freshness';

const LOOK = {
  connecting: { text: 'Connecting…', dot: 'bg-idle' },
  live: { text: 'Live', dot: 'bg-good' },
  reconnecting: { text: 'Reconnecting…', dot: 'bg-warn motion-safe:animate-pulse' },
  cut: { text: 'No answer', dot: 'bg-bad' },
} satisfies Record<Freshness, { text: string; dot: string }>;

/** Whether the page is updated live right now. */
export function LiveBadge() {
  const { text, dot } = LOOK[useFreshness()];
  return (
    <p role="status" className="flex items-center gap-2 text-xs text-muted">
      <span aria-hidden className={clsx('size-2 rounded-full', dot)} />
      {text}
    </p>
  );
}
