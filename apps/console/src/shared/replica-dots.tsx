import { healthyCopies, type SilentNodes } from '@holdfast/core/policy/silent-nodes.js';
import { pulsing } from '@holdfast/ui/motion.js';
import { TONE_FILL, type Tone } from '@holdfast/ui/tone.js';
import { clsx } from 'clsx';
import { useSilentNodes } from '../api/silent-nodes';
import type { Volume } from '../api/types';
import { replicaLook } from '../states';

type Dot = { key: string; word: string; tone: Tone | undefined };

/**
 * A volume's copies at a glance: one block each, and an empty one for each that is missing; then how many are healthy.
 *
 * @param dotsClassName of the blocks, where there may be too little room for them
 */
export function ReplicaDots({ volume, dotsClassName }: { volume: Volume; dotsClassName?: string }) {
  const silent = useSilentNodes();
  const dots = dotsOf(volume, silent);
  const healthy = healthyCopies(volume, silent);
  const wanted = volume.numberOfReplicas;
  return (
    <span className="inline-flex items-center gap-2">
      <span
        role="img"
        aria-label={
          healthy !== undefined
            ? `${healthy} of ${wanted} copies healthy`
            : `${wanted} copies wanted, their state is not known`
        }
        className={clsx('inline-flex gap-1', dotsClassName)}
      >
        {dots.map(({ key, word, tone }) => (
          <span
            key={key}
            ref={tone === 'busy' ? pulsing : undefined}
            title={word}
            className={clsx(
              'size-3 rounded-[3px]',
              tone === undefined ? 'border border-dashed border-border-strong' : TONE_FILL[tone],
            )}
          />
        ))}
      </span>
      <span className="text-xs tabular-nums text-muted">
        {healthy ?? '?'}/{wanted}
      </span>
    </span>
  );
}

function dotsOf(volume: Volume, silent: SilentNodes): Dot[] {
  const copies = volume.replicas.map(
    (replica): Dot => ({ key: replica.id, ...replicaLook(replica, volume, silent) }),
  );
  const missing = Math.max(0, volume.numberOfReplicas - copies.length);
  const gaps = Array.from(
    { length: missing },
    (_, n): Dot => ({ key: `gap-${n}`, word: 'Missing', tone: undefined }),
  );
  return [...copies, ...gaps];
}
