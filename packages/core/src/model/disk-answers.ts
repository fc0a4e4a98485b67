/**
 * Whether a disk that owes an answer is slow or hangs (docs/adr/0343-a-slow-disk-is-not-a-hung-one.md). Slow is a matter of load, and
 * changes nothing: copies stay and are placed there. Hung takes the disk out of use, so only what load does not explain counts as that.
 */

/** What is known of a disk's calls at one moment. */
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
 * From here on a disk is compared with the others of its node. Several times what a disk that is filled by every thread of an agent
 * takes to list a folder, and still before the kernel gives a request up.
 */
export const OUTLIER_MS = 15_000;
/** Disks that answer within this are not under the load that would explain the one that does not. */
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
  const waiting = `a call has been waiting for it for ${seconds(oldestMs)}`;
  if (tookMs.length === 0) return waiting;
  const sorted = [...tookMs].sort((a, b) => a - b);
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  const slowest = sorted.at(-1) ?? 0;
  const count = tookMs.length;
  return `${waiting}; of the last ${count} that ended half took at most ${seconds(median)}, the slowest ${seconds(slowest)}`;
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
