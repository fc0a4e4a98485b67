'use client';
import { clsx } from 'clsx';
import type { LiveState } from '../api/use-live';

const LOOK = {
  connecting: { text: 'Connecting…', dot: 'bg-idle' },
  live: { text: 'Live', dot: 'bg-good' },
  reconnecting: { text: 'Reconnecting…', dot: 'bg-warn motion-safe:animate-pulse' },
} satisfies Record<LiveState, { text: string; dot: string }>;

/** Whether the page is updated live right now. */
export function LiveBadge({ state }: { state: LiveState }) {
  const { text, dot } = LOOK[state];
  return (
    <p role="status" className="flex items-center gap-2 text-xs text-muted">
      <span aria-hidden className={clsx('size-2 rounded-full', dot)} />
      {text}
    </p>
  );
}
