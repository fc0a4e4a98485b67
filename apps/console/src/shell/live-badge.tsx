'use client';
import { pulsing } from '@holdfast/ui/motion.js';
import { clsx } from 'clsx';
import { type Freshness, useFreshness } from '../shared/freshness';

const LOOK = {
  connecting: { text: 'Connecting…', dot: 'bg-idle' },
  live: { text: 'Live', dot: 'bg-good' },
  reconnecting: { text: 'Reconnecting…', dot: 'bg-warn' },
  cut: { text: 'No answer', dot: 'bg-bad' },
} satisfies Record<Freshness, { text: string; dot: string }>;

/** Whether the page is updated live right now. */
export function LiveBadge() {
  const freshness = useFreshness();
  const { text, dot } = LOOK[freshness];
  return (
    <p role="status" className="flex items-center gap-2 text-xs text-muted">
      <span
        aria-hidden
        ref={freshness === 'reconnecting' ? pulsing : undefined}
        className={clsx('size-2 rounded-full', dot)}
      />
      {text}
    </p>
  );
}
