/**
 * Preemption: which running rebuilds pause so that one whose volume is on its last copy may begin.
 *
 * A preempted rebuild keeps its target attached, which still receives user writes, and all that was copied; it continues where it
 * was. Only a volume with two full copies or more is preempted, and only by one that has one: no two rebuilds can preempt each other
 * in turn.
 */
import { compareIds, type RebuildId } from '../model/ids.js';
import type { Rebuild } from '../model/rebuild.js';
import { type AdmissionLoad, type Demand, keyOf } from './admission-queue.js';

const LAST_COPY = 1;

type Work = { readonly rebuild: Rebuild; readonly demands: readonly Demand[] };

/**
 * @param waiting rebuilds that only limits block, in the order of the queue
 * @param running those that count in a limit and were not preempted yet
 * @param coming load once the preempted ones have paused; grows by each decision here
 */
export function choosePreempted(
  waiting: readonly Work[],
  running: readonly Work[],
  coming: AdmissionLoad,
): RebuildId[] {
  const candidates = running.filter(({ rebuild }) => isPreemptible(rebuild)).sort(comparePreempted);
  const chosen: Work[] = [];
  for (const { rebuild, demands } of waiting) {
    if (!isOnLastCopy(rebuild)) continue;
    const made = makeRoom(
      demands,
      candidates.filter((candidate) => !chosen.includes(candidate)),
      coming,
    );
    if (made === undefined) continue;
    chosen.push(...made);
    coming.add(demands);
  }
  return chosen.map(({ rebuild }) => rebuild.id);
}

/** One that is about to be done is not held up. */
function isPreemptible(rebuild: Rebuild): boolean {
  const { phase, preemptedAt } = rebuild;
  return !isOnLastCopy(rebuild) && phase !== 'promoting' && phase !== 'done' && preemptedAt === undefined;
}

/** A volume that wants one copy, and has it moved, lacks none. */
export function isOnLastCopy({ relocates, healthyCopies }: Rebuild): boolean {
  return !relocates && healthyCopies <= LAST_COPY;
}

/** First those that can best wait: those that only move a copy, most full copies, least progress. */
function comparePreempted({ rebuild: a }: Work, { rebuild: b }: Work): number {
  return (
    Number(b.relocates) - Number(a.relocates) ||
    b.healthyCopies - a.healthyCopies ||
    a.percent - b.percent ||
    compareIds(a.id, b.id)
  );
}

/** The fewest that free every place which is missing; `undefined`, and nothing changed, where no choice does. */
function makeRoom(
  demands: readonly Demand[],
  candidates: readonly Work[],
  coming: AdmissionLoad,
): Work[] | undefined {
  const made: Work[] = [];
  for (;;) {
    const missing = demands.filter((demand) => !coming.isFree(demand)).map(keyOf);
    if (missing.length === 0) return made;
    const freed = ({ demands: held }: Work) =>
      held.filter((demand) => missing.includes(keyOf(demand))).length;
    const best = candidates
      .filter((candidate) => !made.includes(candidate) && freed(candidate) > 0)
      .sort((a, b) => freed(b) - freed(a))[0];
    if (best === undefined) {
      for (const work of made) coming.add(work.demands);
      return undefined;
    }
    coming.remove(best.demands);
    made.push(best);
  }
}
