import { TONE_FILL, type Tone } from '@holdfast/ui/tone.js';
import { clsx } from 'clsx';
import type { Volume } from '../api/types';
import { replicaLook } from '../states';

type Dot = { key: string; word: string; tone: Tone | undefined };

/** A volume's copies at a glance: one block each, and an empty one for each that is missing. */
export function ReplicaDots({ volume }: { volume: Volume }) {
  const dots = dotsOf(volume);
  const healthy = dots.filter((dot) => dot.word === 'Healthy').length;
  return (
    <span className="inline-flex items-center gap-2">
      <span
        role="img"
        aria-label={`${healthy} of ${volume.numberOfReplicas} copies healthy`}
        className="inline-flex gap-1"
      >
        {dots.map(({ key, word, tone }) => (
          <span
            key={key}
            title={word}
            className={clsx(
              'size-3 rounded-[3px]',
              tone === undefined ? 'border border-dashed border-border-strong' : TONE_FILL[tone],
              tone === 'busy' && 'motion-safe:animate-pulse',
            )}
          />
        ))}
      </span>
      <span className="text-xs tabular-nums text-muted">
        {healthy}/{volume.numberOfReplicas}
      </span>
    </span>
  );
}

function dotsOf(volume: Volume): Dot[] {
  const copies: Dot[] = volume.replicas.map((replica) => ({ key: replica.id, ...replicaLook(replica) }));
  const missing = Math.max(0, volume.numberOfReplicas - copies.length);
  const gaps = Array.from(
    { length: missing },
    (_, n): Dot => ({ key: `gap-${n}`, word: 'Missing', tone: undefined }),
  );
  return [...copies, ...gaps];
}
