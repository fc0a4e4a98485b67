import { clsx } from 'clsx';
import { Check, createLucideIcon, type LucideProps, TriangleAlert, X } from 'lucide-react';
import type { ComponentType } from 'react';
import { Spinner } from './motion.js';
import { TONE_SOFT, TONE_TEXT, type Tone } from './tone.js';

/** One element, where the library's own has eight: most badges of a list of volumes are idle ones. Eight dashes go round it. */
const CircleDashed = createLucideIcon('circle-dashed', [
  ['circle', { cx: '12', cy: '12', r: '10', strokeDasharray: '3.93', key: 'circle' }],
]);

const GLYPH: Record<Tone, ComponentType<LucideProps>> = {
  good: Check,
  busy: Spinner,
  warn: TriangleAlert,
  bad: X,
  idle: CircleDashed,
};

type Props = { tone: Tone; children: string; quiet?: boolean };

/** A status as glyph, word and colour, so that colour is never the only sign. `quiet` leaves the background out. */
export function Badge({ tone, children, quiet = false }: Props) {
  const Glyph = GLYPH[tone];
  return (
    <span
      className={clsx(
        // On the line of the text around it: the glyph would put the whole badge above it.
        'inline-flex items-baseline gap-1 whitespace-nowrap text-xs font-medium',
        quiet ? TONE_TEXT[tone] : ['rounded-full px-2 py-0.5', TONE_SOFT[tone]],
      )}
    >
      <Glyph aria-hidden size={13} strokeWidth={2.5} className="shrink-0 self-center" />
      {children}
    </span>
  );
}
