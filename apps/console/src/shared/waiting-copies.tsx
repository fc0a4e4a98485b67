'use client';
import { Hourglass } from 'lucide-react';
import Link from 'next/link';
import { useSomeVolumes } from '../api/queries';
import type { Volume } from '../api/types';
import { paths } from '../paths';
import { sentence } from '../sentence';

/** A page of the list: there may be more than were read. */
const READ_MAX = 100;
/** One cause often has many effects: the panel stays a panel. */
const SHOWN_MAX = 4;

/** Why nothing rebuilds a copy of the volume that is missing; `undefined` when none is, or one is in the queue. */
export function waitingText({ conditions }: Volume): string | undefined {
  const waiting = conditions.find(({ type, status }) => type === 'RebuildWaiting' && status === 'True');
  return waiting === undefined ? undefined : sentence(waiting.message);
}

/** Volumes with missing copies that are not in the queue, with their reasons for waiting. Nothing when there are none. */
export function WaitingCopies() {
  const volumes = useSomeVolumes('robustness in (degraded, faulted)', { sort: '-risk,name' });
  const waiting = (volumes.data ?? []).flatMap((volume) => {
    const why = waitingText(volume);
    return why === undefined ? [] : [{ volume, why }];
  });
  if (waiting.length === 0) return null;
  const more = waiting.length - SHOWN_MAX;
  return (
    <ul aria-label="Not in the queue yet">
      {waiting.slice(0, SHOWN_MAX).map(({ volume, why }) => (
        <li
          key={volume.id}
          className="flex items-start gap-2 border-b border-border px-4 py-3 text-sm last:border-0"
        >
          <Hourglass aria-hidden size={15} className="mt-0.5 shrink-0 text-warn" />
          <p className="min-w-0">
            <Link href={paths.volume(volume.id)} className="font-medium hover:underline">
              {volume.name}
            </Link>
            <span className="block text-xs text-muted">{why}</span>
          </p>
        </li>
      ))}
      {more > 0 && (
        <li className="px-4 py-2 text-xs text-muted">{moreText(more, volumes.data?.length ?? 0)}</li>
      )}
    </ul>
  );
}

function moreText(more: number, read: number): string {
  if (read >= READ_MAX) return `more than ${more} more wait`;
  return more === 1 ? '1 more waits' : `${more} more wait`;
}
