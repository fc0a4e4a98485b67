'use client';
import { Hourglass } from 'lucide-react';
import Link from 'next/link';
import type { Volume } from '../api/types';
import { paths } from '../paths';
import { sentence } from '../sentence';

/** Why nothing rebuilds a copy of the volume that is missing; `undefined` when none is, or one is in the queue. */
export function waitingText({ conditions }: Volume): string | undefined {
  const waiting = conditions.find(({ type, status }) => type === 'RebuildWaiting' && status === 'True');
  return waiting === undefined ? undefined : sentence(waiting.message);
}

/** Volumes with missing copies that are not in the queue, and what they wait for. Nothing when there are none. */
export function WaitingCopies({ volumes }: { volumes: readonly Volume[] }) {
  const waiting = volumes.flatMap((volume) => {
    const why = waitingText(volume);
    return why === undefined ? [] : [{ volume, why }];
  });
  if (waiting.length === 0) return null;
  return (
    <ul aria-label="Not in the queue yet">
      {waiting.map(({ volume, why }) => (
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
    </ul>
  );
}
