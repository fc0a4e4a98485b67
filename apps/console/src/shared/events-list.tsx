'use client';
import { Message } from '@holdfast/ui/message.js';
import { Moment } from '@holdfast/ui/moment.js';
import { TONE_FILL, type Tone } from '@holdfast/ui/tone.js';
import { clsx } from 'clsx';
import type { ClusterEvent } from '../api/types';

const SEVERITY_TONE = { info: 'idle', warning: 'warn', error: 'bad' } satisfies Record<
  ClusterEvent['severity'],
  Tone
>;

/** What happened, newest first. */
export function EventsList({ events }: { events: readonly ClusterEvent[] }) {
  if (events.length === 0) return <Message title="Nothing has happened yet" />;
  return (
    <ol>
      {events.map((event) => (
        <li
          key={event.id}
          className="flex items-baseline gap-3 border-b border-border px-4 py-2 last:border-0"
        >
          <span
            aria-hidden
            className={clsx(
              'size-2 shrink-0 translate-y-px rounded-full',
              TONE_FILL[SEVERITY_TONE[event.severity]],
            )}
          />
          <p className="min-w-0 flex-1 text-sm">
            <span className="sr-only">{event.severity}: </span>
            {event.message}
          </p>
          <span className="shrink-0 text-xs text-muted">
            <Moment at={event.at} />
          </span>
        </li>
      ))}
    </ol>
  );
}
