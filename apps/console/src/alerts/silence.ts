/** Scope of a silence made in the console: one cause at one place, so that another one is reported. */
import type { Alert } from '../api/types';

export function matcherOf({ rule, subject }: Pick<Alert, 'rule' | 'subject'>): string {
  return `rule=${rule} AND subjectId=${JSON.stringify(subject.id)}`;
}

export const SILENCE_HOURS = [
  { hours: 1, label: '1 hour' },
  { hours: 4, label: '4 hours' },
  { hours: 24, label: '1 day' },
  { hours: 168, label: '7 days' },
] as const;
