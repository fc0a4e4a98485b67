/**
 * Whether a disk that owes an answer is slow or hangs (docs/adr/0343-slow-and-hung-disks.md). Slow is a matter of load, and
 * changes nothing: copies stay and are placed there. Hung takes the disk out of use, so only what load does not explain counts as that.
 */

/** State of a disk's calls at one moment. */
export type DiskAnswers = {
  /** How long the oldest call that has not ended has been waiting; 0: none is. */
  readonly oldestMs: number;
  /** How long the last calls that ended took, in any order. */
  readonly tookMs: readonly number[];
};

export type DiskPace = 'well' | 'slow' | 'hung';

/** A call that takes longer is worth showing, and the heartbeat goes without its answer. */
export const SLOW_MS = 2_000;
/**
 * Twice the 30 s after which Linux itself gives up one request to a device (`/sys/block/*\/device/timeout`, `nvme_core.io_timeout`):
 * however long the queue of a device that works, each of its requests ends before that.
 */
export const HUNG_MS = 60_000;
/**
 * Age from which a disk is compared with the others of its node. Several times what a disk that is filled by every thread of an agent
 * takes to list a folder, and still before the kernel gives a request up.
 */
export const OUTLIER_MS = 15_000;
/** Disks that answer within this are not under a load that would explain the one that does not. */
const PEER_WELL_MS = 1_000;

/** @param peers the other disks of its node, which have the same kernel and the same users */
export function judgePace({ oldestMs }: DiskAnswers, peers: readonly DiskAnswers[]): DiskPace {
  if (oldestMs <= SLOW_MS) return 'well';
  if (oldestMs > HUNG_MS) return 'hung';
  const isOutlier = oldestMs > OUTLIER_MS && peers.length > 0 && peers.every(answersAtOnce);
  return isOutlier ? 'hung' : 'slow';
}

function answersAtOnce({ oldestMs, tookMs }: DiskAnswers): boolean {
  return tookMs.length > 0 && [oldestMs, ...tookMs].every((ms) => ms <= PEER_WELL_MS);
}

/** The age of the oldest call and the distribution of those that ended, for people. */
export function answersText({ oldestMs, tookMs }: DiskAnswers): string {
  const waiting = `a call has been waiting for it for ${durationText(oldestMs)}`;
  if (tookMs.length === 0) return waiting;
  const sorted = [...tookMs].sort((a, b) => a - b);
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  const slowest = sorted.at(-1) ?? 0;
  const count = tookMs.length;
  return `${waiting}; of the last ${count} that ended half took at most ${durationText(median)}, the slowest ${durationText(slowest)}`;
}

/** `12 ms`, `3.4 s`. */
export function durationText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** How a disk has answered in the last minutes, as its agent reports it. */
export type DiskAnswerTimes = {
  /** Calls that ended. */
  readonly calls: number;
  /** Median, 99th percentile and maximum; 0 if there were none. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** How long the oldest call that has not ended has been waiting; 0: none is. */
  readonly oldestMs: number;
};

/** Whole milliseconds, rounded up, so that what took a moment is no 0. A call that has just begun is no news. */
export function answerTimes({ oldestMs, tookMs }: DiskAnswers): DiskAnswerTimes {
  const sorted = [...tookMs].sort((a, b) => a - b);
  const at = (share: number) => Math.ceil(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
  return {
    calls: sorted.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
    oldestMs: oldestMs > SLOW_MS ? Math.ceil(oldestMs) : 0,
  };
}

/** Below this all disks answer at once, as far as users are concerned. */
const AT_ONCE_MS = 100;
/**
 * A disk that is four times as slow as before is worth a report; one that is a little slower is not, or each report would be news.
 */
const NEWS_FACTOR = 4;

/**
 * Response times that count as news, as numbers that stay equal until then. The numbers themselves change with every call, and a
 * changed report is sent in full (docs/adr/0344-repeated-reports.md).
 */
export function answerNews({ p50Ms, p99Ms, maxMs, oldestMs }: DiskAnswerTimes): number[] {
  const step = (ms: number) =>
    ms <= AT_ONCE_MS ? 0 : Math.ceil(Math.log(ms / AT_ONCE_MS) / Math.log(NEWS_FACTOR));
  return [step(p50Ms), step(p99Ms), step(maxMs), oldestMs === 0 ? 0 : 1];
}

/** The same for people; `undefined` where nothing is known. */
export function answerTimesText({
  calls,
  p50Ms,
  p99Ms,
  maxMs,
  oldestMs,
}: DiskAnswerTimes): string | undefined {
  const took =
    calls === 0
      ? []
      : [
          `half within ${durationText(p50Ms)}, 99 of 100 within ${durationText(p99Ms)}, the slowest ${durationText(maxMs)}`,
        ];
  const waiting = oldestMs === 0 ? [] : [`a call has been waiting for ${durationText(oldestMs)}`];
  const parts = [...took, ...waiting];
  return parts.length === 0 ? undefined : parts.join('; ');
}
