import { clsx } from 'clsx';
import { TONE_FILL, type Tone } from './tone.js';

type Props = { label: string; percent: number; tone?: Tone; text?: string; className?: string };

/** Progress of something long. The text beside it says the same in words. */
export function Meter({ label, percent, tone = 'busy', text, className }: Props) {
  const shown = Math.min(100, Math.max(0, percent));
  return (
    <div className={clsx('flex items-center gap-2', className)}>
      <div
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(shown)}
        className="h-1.5 min-w-20 flex-1 overflow-hidden rounded-full bg-sunken"
      >
        <div
          className={clsx('h-full rounded-full transition-[width] duration-500', TONE_FILL[tone])}
          style={{ width: `${shown}%` }}
        />
      </div>
      <span className="w-14 text-right text-xs tabular-nums text-muted">
        {text ?? `${shown.toFixed(shown < 100 ? 1 : 0)} %`}
      </span>
    </div>
  );
}

/** `promised` is claimed but not used yet; `reserve` is not to be used. */
export type Segment = { label: string; value: number; tone: Tone | 'promised' | 'reserve' };

function fillOf(tone: Segment['tone']): string {
  if (tone === 'reserve') return 'stripes';
  return tone === 'promised' ? 'bg-border-strong' : TONE_FILL[tone];
}

/** How a whole is divided: one bar, its parts named for those who can't see it. */
export function StackedBar({
  label,
  total,
  segments,
}: {
  label: string;
  total: number;
  segments: readonly Segment[];
}) {
  return (
    <div role="img" aria-label={label} className="flex h-2.5 overflow-hidden rounded-full bg-sunken">
      {segments.map((segment) => (
        <div
          key={segment.label}
          title={segment.label}
          className={fillOf(segment.tone)}
          style={{ width: `${total > 0 ? (100 * segment.value) / total : 0}%` }}
        />
      ))}
    </div>
  );
}
