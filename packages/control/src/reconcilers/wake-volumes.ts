import type { Lane } from '@holdfast/core/policy/work-lane.js';
import type { DueVolume } from '../ports/store.js';
import type { ReconcilerPorts } from './reconciler-ports.js';

/** Volumes per page: large enough for few round trips, small enough to hold in memory. */
const PAGE = 500;
/** Pages per walk: half a million volumes. The next sweep reaches those behind: by then these are not due any more. */
const PAGES_MAX = 1000;

/** Wakes the due volumes of a lane, the longest due one first. Returns their number. */
export async function wakeDueVolumes(
  { store, queue, clock }: Pick<ReconcilerPorts, 'store' | 'queue' | 'clock'>,
  lane: Lane,
): Promise<number> {
  const now = clock.now();
  let after: DueVolume | undefined;
  let count = 0;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const due = await store.listDueVolumes({ now, limit: PAGE, after, lane });
    for (const { volumeId, party } of due) await queue.wake({ kind: 'volume', volumeId, lane, party });
    count += due.length;
    after = due.at(-1);
    if (due.length < PAGE) return count;
  }
  return count;
}
