/**
 * Forecast of a cluster's capacity from its history: when it will be full if it goes on growing as it did.
 *
 * Two things run out, each by the rule that placement has for it: what may be promised to volumes, and free space. The one that
 * runs out first decides. The pace is the median of the slopes between samples, which one large delete or one new disk does not
 * turn around as it would turn a straight line by least squares; the quartiles of those slopes give the range.
 */
import { percentOf } from '../model/bytes.js';
import type { SpaceLimits } from './disk-space.js';

const SECOND_MS = 1_000;
const DAY_MS = 24 * 3_600 * SECOND_MS;

/** Less than a day tells the hour of the day, not the trend. */
export const TREND_HISTORY_MS_MIN = DAY_MS;
/** What was longer ago says less of the weeks to come than what has changed since. */
export const TREND_HISTORY_MS_MAX = 30 * DAY_MS;
/** Past five years a date is not a forecast. */
const DAYS_MAX = 5 * 365;
/** Samples that slopes are taken between: each pair of them costs a division and a place in a sort. */
const POINTS_MAX = 96;

/** Sums over all disks of a cluster at a moment, in bytes. */
export type CapacityUse = {
  readonly at: Date;
  readonly maximumBytes: number;
  readonly availableBytes: number;
  readonly reservedBytes: number;
  /** Sizes of all copies that are placed. */
  readonly scheduledBytes: number;
};

/** What runs out first. */
export const CAPACITY_LIMITS = ['promised', 'free-space'] as const;
export type CapacityLimit = (typeof CAPACITY_LIMITS)[number];

export type CapacityTrend =
  /** The history is too short for a pace. */
  | { readonly kind: 'unknown' }
  /** Nothing grows, or so slowly that it is not full within five years. */
  | { readonly kind: 'steady' }
  | { readonly kind: 'full'; readonly limitedBy: CapacityLimit }
  | {
      readonly kind: 'growing';
      readonly limitedBy: CapacityLimit;
      readonly bytesPerDay: number;
      readonly days: number;
      readonly daysLeast: number;
      /** `undefined`: at the slower pace it is not full within five years. */
      readonly daysMost: number | undefined;
    };

/** @param history oldest first; what is older than a forecast looks at is left out */
export function capacityTrend(history: readonly CapacityUse[], limits: SpaceLimits): CapacityTrend {
  const last = history.at(-1);
  if (last === undefined || last.maximumBytes <= 0) return { kind: 'unknown' };
  const uses = CAPACITY_LIMITS.map((limitedBy) => ({
    limitedBy,
    roomBytes: roomFor(limitedBy, last, limits),
  }));
  const full = uses.find(({ roomBytes }) => roomBytes <= 0);
  if (full !== undefined) return { kind: 'full', limitedBy: full.limitedBy };

  const recent = history.filter(({ at }) => last.at.getTime() - at.getTime() <= TREND_HISTORY_MS_MAX);
  const historyMs = last.at.getTime() - (recent[0] ?? last).at.getTime();
  if (historyMs < TREND_HISTORY_MS_MIN) return { kind: 'unknown' };
  const points = thinned(recent);
  const found = uses
    .map((use) => growth(points, use))
    .filter((trend) => trend !== undefined)
    .sort((a, b) => a.days - b.days)[0];
  return found ?? { kind: 'steady' };
}

type Growing = Extract<CapacityTrend, { kind: 'growing' }>;

function growth(
  points: readonly CapacityUse[],
  { limitedBy, roomBytes }: { limitedBy: CapacityLimit; roomBytes: number },
): Growing | undefined {
  const paces = slopes(points.map((use) => ({ atMs: use.at.getTime(), bytes: usedOf(limitedBy, use) })));
  const days = daysUntil(roomBytes, quantile(paces, 0.5));
  if (days === undefined) return undefined;
  return {
    kind: 'growing',
    limitedBy,
    bytesPerDay: Math.round(quantile(paces, 0.5)),
    days,
    daysLeast: daysUntil(roomBytes, quantile(paces, 0.75)) ?? days,
    daysMost: daysUntil(roomBytes, quantile(paces, 0.25)),
  };
}

function usedOf(limit: CapacityLimit, use: CapacityUse): number {
  return limit === 'promised' ? use.scheduledBytes : use.maximumBytes - use.availableBytes;
}

function roomFor(limit: CapacityLimit, use: CapacityUse, limits: SpaceLimits): number {
  if (limit === 'promised') {
    const promisable = percentOf(use.maximumBytes - use.reservedBytes, limits.overProvisioningPercentage);
    return promisable - use.scheduledBytes;
  }
  return use.availableBytes - percentOf(use.maximumBytes, limits.minimalAvailablePercentage);
}

/** At most so many samples, spread evenly, the newest among them. */
function thinned(history: readonly CapacityUse[]): readonly CapacityUse[] {
  const every = Math.ceil(history.length / POINTS_MAX);
  return history.filter((_, index) => (history.length - 1 - index) % every === 0);
}

/** Bytes a day between each two points, the smallest first. */
function slopes(points: readonly { atMs: number; bytes: number }[]): number[] {
  const found = points.flatMap((later, index) =>
    points.slice(0, index).flatMap((earlier) => {
      const days = (later.atMs - earlier.atMs) / DAY_MS;
      return days > 0 ? [(later.bytes - earlier.bytes) / days] : [];
    }),
  );
  return found.sort((a, b) => a - b);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
}

/** `undefined`: not within five years. */
function daysUntil(roomBytes: number, bytesPerDay: number): number | undefined {
  if (bytesPerDay <= 0) return undefined;
  const days = roomBytes / bytesPerDay;
  return days > DAYS_MAX ? undefined : Math.max(1, Math.round(days));
}

const LIMIT_WORDS = {
  promised: 'what may be promised to volumes runs out first',
  'free-space': 'free space runs out first',
} satisfies Record<CapacityLimit, string>;

const FULL_WORDS = {
  promised: 'Full: as much is promised to volumes as may be.',
  'free-space': 'Full: no more space is free than has to stay free.',
} satisfies Record<CapacityLimit, string>;

/** `Full in about 90 days (70 to 140): free space runs out first.` */
export function trendSentence(trend: CapacityTrend): string {
  switch (trend.kind) {
    case 'unknown':
      return 'When it will be full is not known yet: a forecast needs a day of history, and there is less than that.';
    case 'steady':
      return 'Not full within five years at the pace of the last weeks.';
    case 'full':
      return FULL_WORDS[trend.limitedBy];
    case 'growing':
      return `Full in about ${dayWords(trend.days)}${rangeWords(trend)}: ${LIMIT_WORDS[trend.limitedBy]}.`;
  }
}

function rangeWords({ daysLeast, daysMost }: Growing): string {
  if (daysLeast === daysMost) return '';
  return daysMost === undefined ? ` (${daysLeast} or more)` : ` (${daysLeast} to ${daysMost})`;
}

function dayWords(days: number): string {
  return days === 1 ? 'a day' : `${days} days`;
}
