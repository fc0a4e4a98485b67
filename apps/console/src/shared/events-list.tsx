'use client';
import { Message, Skeleton } from '@holdfast/ui/message.js';
import { Moment } from '@holdfast/ui/moment.js';
import { TONE_FILL, type Tone } from '@holdfast/ui/tone.js';
import { clsx } from 'clsx';
import Link from 'next/link';
import { type ReactNode, useState } from 'react';
import { useEvents } from '../api/queries';
import type { ClusterEvent } from '../api/types';
import { paths } from '../paths';
import { capitalized } from '../sentence';
import { foldEvents } from './fold-events';

const SEVERITY_TONE = { info: 'idle', warning: 'warn', error: 'bad' } satisfies Record<
  ClusterEvent['severity'],
  Tone
>;

/** Folded events that are listed when they are opened; the events page has them all. */
const UNDER_MAX = 20;

/** The number of an event, as filters have it. */
function numberOf(id: string): number {
  return Number(id.split('-')[1] ?? 0);
}

type Props = { events: readonly ClusterEvent[]; shownMax?: number };

/** Events, newest first; those that follow from an event are folded under it. */
export function EventsList({ events, shownMax = events.length }: Props) {
  if (events.length === 0) return <Message title="Nothing has happened yet" />;
  return (
    <ol>
      {foldEvents(events)
        .slice(0, shownMax)
        .map(({ event, alike }) => (
          <li key={event.id} className="border-b border-border px-4 py-2 last:border-0">
            <EventLine event={event} />
            {event.effects > 0 && <Effects event={event} />}
            {alike.length > 0 && (
              <Folded summary={`and ${alike.length} more of this kind`}>
                <Lines events={alike} total={alike.length} />
              </Folded>
            )}
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
      <p className="min-w-0 flex-1 text-sm wrap-anywhere">
        <span className="sr-only">{event.severity}: </span>
        {capitalized(event.message)}
      </p>
      <span className="shrink-0 text-xs text-muted">
        <Moment at={event.at} />
      </span>
    </div>
  );
}

/** Asked for when it is opened. */
function Effects({ event }: { event: ClusterEvent }) {
  const count = event.effects.toLocaleString('en');
  return (
    <Folded summary={event.effects === 1 ? '1 event follows from it' : `${count} events follow from it`}>
      <EffectsOf event={event} />
    </Folded>
  );
}

function EffectsOf({ event }: { event: ClusterEvent }) {
  const filter = `causeId=${numberOf(event.id)}`;
  const { data, isError } = useEvents(filter, UNDER_MAX);
  if (isError) return <p>They can not be read now.</p>;
  if (data === undefined) return <Skeleton rows={2} />;
  return (
    <Lines events={data} total={event.effects}>
      <Link
        href={`${paths.events}?q=${encodeURIComponent(filter)}`}
        className="inline-flex min-h-6 items-center text-accent hover:underline"
      >
        All {event.effects.toLocaleString('en')}
      </Link>
    </Lines>
  );
}

type LinesProps = { events: readonly ClusterEvent[]; total: number; children?: ReactNode };

function Lines({ events, total, children }: LinesProps) {
  const shown = events.slice(0, UNDER_MAX);
  return (
    <ol className="mt-1 flex flex-col gap-1">
      {shown.map((event) => (
        <li key={event.id}>
          <EventLine event={event} />
        </li>
      ))}
      {total > shown.length && <li>{children ?? `and ${total - shown.length} more`}</li>}
    </ol>
  );
}

function Folded({ summary, children }: { summary: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className="mt-1 ml-5 text-xs text-muted"
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="min-h-6 cursor-pointer">{summary}</summary>
      {isOpen && children}
    </details>
  );
}
