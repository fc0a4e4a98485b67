'use client';
import { TONE_FILL } from '@holdfast/ui/tone.js';
import { clsx } from 'clsx';
import Link from 'next/link';
import { useSilentNodes } from '../api/silent-nodes';
import type { Replica, Volume } from '../api/types';
import { paths } from '../paths';
import { replicaLook } from '../states';

export type Copy = { readonly volume: Volume; readonly replica: Replica };

/** One block for each copy on a disk, which leads to its volume. */
export function CopyBlocks({ copies }: { copies: readonly Copy[] }) {
  const silent = useSilentNodes();
  if (copies.length === 0) return <span className="text-xs text-faint">no copies</span>;
  return (
    <span className="flex flex-wrap">
      {copies.map(({ volume, replica }) => {
        const { tone, word } = replicaLook(replica, volume, silent);
        return (
          <Link
            key={replica.id}
            href={paths.volume(volume.id)}
            title={`${volume.name}: ${word}`}
            aria-label={`${volume.name}: ${word}`}
            // The block is smaller than a finger's target.
            className="flex size-6 items-center justify-center"
          >
            <span className={clsx('size-3.5 rounded-[3px]', TONE_FILL[tone])} />
          </Link>
        );
      })}
    </span>
  );
}
