/** Limits of a quota: names, units, and texts of the form. */
import { formatBytes, GIB } from '@holdfast/core/model/bytes.js';
import type { Quota, QuotaLimits } from '../api/organization';

export type LimitName = keyof Quota['limits'];
type Limit = { readonly title: string; readonly unit: 'GiB' | 'number' };

export const QUOTA_LIMITS = {
  provisionedBytes: { title: 'Size of all volumes', unit: 'GiB' },
  physicalBytes: { title: 'Space of all copies', unit: 'GiB' },
  volumes: { title: 'Volumes', unit: 'number' },
  snapshots: { title: 'Snapshots', unit: 'number' },
  runningRebuilds: { title: 'Rebuilds at once', unit: 'number' },
  requestsPerMinute: { title: 'Requests in a minute', unit: 'number' },
} satisfies Record<LimitName, Limit>;

export const LIMIT_NAMES = Object.keys(QUOTA_LIMITS).filter(
  (name): name is LimitName => name in QUOTA_LIMITS,
);

export function limitWords(name: LimitName, value: number): string {
  return QUOTA_LIMITS[name].unit === 'GiB' ? formatBytes(value) : value.toLocaleString('en');
}

/** The number that a field of the form shows; empty: no limit. */
export function fieldOf(name: LimitName, limit: number | null): string {
  if (limit === null) return '';
  return String(QUOTA_LIMITS[name].unit === 'GiB' ? limit / GIB : limit);
}

/** Request made of a form's fields: an empty one removes its limit. */
export function limitsOf(form: FormData): QuotaLimits {
  return Object.fromEntries(
    LIMIT_NAMES.map((name) => {
      const text = String(form.get(name) ?? '').trim();
      const factor = QUOTA_LIMITS[name].unit === 'GiB' ? GIB : 1;
      return [name, text === '' ? null : Math.round(Number(text) * factor)];
    }),
  );
}
