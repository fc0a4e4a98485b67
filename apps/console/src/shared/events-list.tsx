'use client';
import { Message } from '@holdfast/ui/message.js';
import { Moment } from '@holdfast/ui/moment.js';
import { TONE_FILL, type Tone } from '@holdfast/ui/tone.js';
import { clsx } from 'clsx';
import type { ClusterEvent } from '../api/types';
import { type FoldedEvent, foldEvents } from './fold-events';

const SEVERITY_TONE = { info: 'idle', warning: 'warn', error: 'bad' } satisfies Record<
  ClusterEvent['severity'],
  Tone
>;

/** Folded events that are listed when they are opened; the events page has them all. */
const UNDER_MAX = 20;

type Props = { events: readonly ClusterEvent[]; shownMax?: number };

/** What happened, newest first; the effects of one cause are folded under it. */
export function EventsList({ events, shownMax = events.length }: Props) {
  if (events.length === 0) return <Message title="Nothing has happened yet" />;
  return (
    <ol>
      {foldEvents(events)
        .slice(0, shownMax)
        .map(({ event, under, why }) => (
          <li key={event.id} className="border-b border-border px-4 py-2 last:border-0">
            <EventLine event={event} />
            {under.length > 0 && <Under events={under} why={why} />}
          </li>
        ))}
    </ol>
  );
}

function EventLine({ event }: { event: ClusterEvent }) {
  return (
    <div className="flex items-baseline gap-3">
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
    </div>
  );
}

function Under({ events, why }: { events: readonly ClusterEvent[]; why: FoldedEvent['why'] }) {
  const more = events.length - UNDER_MAX;
  return (
    <details className="mt-1 ml-5 text-xs text-muted">
      <summary className="min-h-6 cursor-pointer">
        {why === 'like'
          ? `and ${events.length} more of this kind`
          : `${events.length} ${events.length === 1 ? 'change' : 'changes'} of volumes in the minute that followed`}
      </summary>
      <ol className="mt-1 flex flex-col gap-1">
        {events.slice(0, UNDER_MAX).map((event) => (
          <li key={event.id}>
            <EventLine event={event} />
          </li>
        ))}
        {more > 0 && <li>and {more} more</li>}
      </ol>
    </details>
  );
}
