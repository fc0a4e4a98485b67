/** Meaning of a status for the reader. Red is kept for data at risk. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'idle';

export const TONE_TEXT: Record<Tone, string> = {
  good: 'text-good',
  busy: 'text-busy',
  warn: 'text-warn',
  bad: 'text-bad',
  idle: 'text-idle',
};

export const TONE_SOFT: Record<Tone, string> = {
  good: 'bg-good-soft text-good',
  busy: 'bg-busy-soft text-busy',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  idle: 'bg-idle-soft text-idle',
};

export const TONE_FILL: Record<Tone, string> = {
  good: 'bg-good',
  busy: 'bg-busy',
  warn: 'bg-warn',
  bad: 'bg-bad',
  idle: 'bg-idle',
};
