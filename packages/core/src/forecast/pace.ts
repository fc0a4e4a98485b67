/**
 * Pace: how fast rebuilds are taken to be in one run of a forecast. Three paces give a forecast its range: the fastest rebuilds
 * that the cluster measured, those of even odds, and the slow ones.
 */
import { MIB } from '../model/bytes.js';
import type { RebuildSpeed } from '../model/rebuild.js';

export type Pace = {
  readonly bytesPerSecond: number;
  /** Constant time of each rebuild beside its bytes: choosing a place, making files, joining, promoting, a busy worker. */
  readonly fixedSeconds: number;
  /** How late the control plane is to notice that a node is gone, or that a time has come. */
  readonly lateSeconds: number;
};

export const ODDS = ['low', 'p50', 'p90'] as const;
export type Odds = (typeof ODDS)[number];
export type Paces = Readonly<Record<Odds, Pace>>;

/** `low`: it takes no less, with nineteen in twenty odds. `p50`, `p90`: it takes no longer, with even or nine in ten odds. */
export type TimeEstimate = {
  readonly lowSeconds: number;
  readonly p50Seconds: number;
  readonly p90Seconds: number;
  /** From rebuilds of this cluster, or from what common disks and networks do. */
  readonly basis: 'measured' | 'assumed';
};

/** Until a cluster has measured some: a fast disk and network, a disk of some years ago, and a busy one. */
const UNMEASURED: Readonly<Record<Odds, number>> = { low: 1000 * MIB, p50: 100 * MIB, p90: 25 * MIB };
/** None for the fast end: measured speeds include it. */
const FIXED_SECONDS: Readonly<Record<Odds, number>> = { low: 0, p50: 3, p90: 15 };
const LATE_SECONDS: Readonly<Record<Odds, number>> = { low: 0, p50: 5, p90: 20 };
/** Share of the measured rebuilds that were slower than the pace. */
const SHARES: Readonly<Record<Odds, number>> = { low: 0.95, p50: 0.5, p90: 0.1 };

/** Finished rebuilds from which speeds are computed: enough for a median, and few enough to reflect the present load. */
export const SPEEDS_MAX = 100;

/** @param speeds of finished rebuilds; those that moved nothing are ignored */
export function pacesOf(speeds: readonly RebuildSpeed[]): Paces {
  const rates = measured(speeds)
    .map(({ bytes, seconds }) => bytes / seconds)
    .sort((a, b) => a - b);
  const paceOf = (odds: Odds): Pace => ({
    bytesPerSecond: rateAt(rates, odds) ?? UNMEASURED[odds],
    fixedSeconds: FIXED_SECONDS[odds],
    lateSeconds: LATE_SECONDS[odds],
  });
  return { low: paceOf('low'), p50: paceOf('p50'), p90: paceOf('p90') };
}

/** Rounded towards the ends, so that a few samples do not narrow the range. */
function rateAt(rates: readonly number[], odds: Odds): number | undefined {
  const place = (rates.length - 1) * SHARES[odds];
  return rates[odds === 'low' ? Math.ceil(place) : Math.floor(place)];
}

export function basisOf(speeds: readonly RebuildSpeed[]): TimeEstimate['basis'] {
  return measured(speeds).length > 0 ? 'measured' : 'assumed';
}

function measured(speeds: readonly RebuildSpeed[]): RebuildSpeed[] {
  return speeds.filter(({ bytes, seconds }) => bytes > 0 && seconds > 0);
}

/** Equals in a queue go in the order of their ids, which are yet to be made: another order may fill its limits better. */
const ORDER_SHARE = 0.95;

/**
 * The range that three runs of one forecast give.
 *
 * @param secondsAt when a run at that pace ends; `undefined`: nothing happens in it
 */
export function rangeOf(
  speeds: readonly RebuildSpeed[],
  secondsAt: (pace: Pace) => number | undefined,
): TimeEstimate | undefined {
  const paces = pacesOf(speeds);
  const [low, p50, p90] = ODDS.map((odds) => secondsAt(paces[odds]));
  if (p50 === undefined) return undefined;
  // A slower run may have its rebuilds in another order, which can end sooner: a range is never reversed.
  const middle = Math.ceil(p50);
  return {
    lowSeconds: Math.min(middle, Math.floor((low ?? 0) * ORDER_SHARE)),
    p50Seconds: middle,
    p90Seconds: Math.max(middle, Math.ceil(p90 ?? 0)),
    basis: basisOf(speeds),
  };
}
