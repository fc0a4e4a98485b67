/** Events of one type in a row, folded under the newest of them: fifty rebuilds that are queued are one line. */
import type { ClusterEvent } from '../api/types';

export type FoldedEvent = {
  readonly event: ClusterEvent;
  /** Others of the same type. */
  readonly alike: readonly ClusterEvent[];
};

/** Fewer of one type in a row are as soon read as unfolded. */
const ALIKE_MIN = 4;

/** @param events newest first; those that others follow from are never folded */
export function foldEvents(events: readonly ClusterEvent[]): FoldedEvent[] {
  return runsOf(events).flatMap((run) => {
    const [first, ...others] = run;
    if (first !== undefined && run.length >= ALIKE_MIN) return [{ event: first, alike: others }];
    return run.map((event) => ({ event, alike: [] }));
  });
}

function runsOf(events: readonly ClusterEvent[]): ClusterEvent[][] {
  const runs: ClusterEvent[][] = [];
  for (const event of events) {
    const run = runs.at(-1);
    if (run?.[0]?.type === event.type && run[0].effects === 0 && event.effects === 0) run.push(event);
    else runs.push([event]);
  }
  return runs;
}
