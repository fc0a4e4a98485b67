/** Judging of what several kinds of expectations share. A finding is a sentence; none means that the part holds. */
import type { z } from 'zod';
import type { ConditionExpectation, rebuildsExpectation } from './expectations.js';
import type { ConditionFacts, RebuildFacts } from './facts.js';
import { type Count, countText, isWithin } from './quantities.js';

/** Expected and found, where they differ. */
export function differs<T>(what: string, wanted: T | undefined, found: T): string[] {
  return wanted === undefined || wanted === found
    ? []
    : [`${what} is ${String(found)}, not ${String(wanted)}`];
}

export function counts(what: string, wanted: Count | undefined, found: number): string[] {
  if (wanted === undefined || isWithin(wanted, found)) return [];
  return [`${what} is ${found}, not ${countText(wanted)}`];
}

export function countsPer(
  what: string,
  wanted: Readonly<Record<string, Count>> | undefined,
  found: readonly (string | null)[],
): string[] {
  return Object.entries(wanted ?? {}).flatMap(([place, count]) =>
    counts(`${what} ${place}`, count, found.filter((one) => one === place).length),
  );
}

/** Compares two lists whatever their order, with repetitions. */
export function sameList(
  what: string,
  wanted: readonly string[] | undefined,
  found: readonly string[],
): string[] {
  if (wanted === undefined) return [];
  const text = (list: readonly string[]) => `[${[...list].sort().join(', ')}]`;
  return text(wanted) === text(found) ? [] : [`${what} is ${text(found)}, not ${text(wanted)}`];
}

export function conditionFindings(
  wanted: Readonly<Record<string, ConditionExpectation>> | undefined,
  found: readonly ConditionFacts[],
): string[] {
  return Object.entries(wanted ?? {}).flatMap(([type, expected]) => {
    const actual = found.find((condition) => condition.type === type);
    if (expected === null) return actual === undefined ? [] : [`it has a condition ${type}`];
    if (actual === undefined) return [`it has no condition ${type}`];
    const { status, reason, message } = typeof expected === 'object' ? expected : { status: expected };
    const isTold = message === undefined || actual.message.includes(message);
    return [
      ...differs(`condition ${type}`, status, actual.status),
      ...differs(`reason of ${type}`, reason, actual.reason),
      ...(isTold ? [] : [`message of ${type} is "${actual.message}", without "${message}"`]),
    ];
  });
}

type RebuildCounts = Omit<z.infer<typeof rebuildsExpectation>['rebuilds'], 'perTargetNode' | 'perSourceNode'>;

/** @param all every rebuild since the start, as it was last seen */
export function rebuildFindings(wanted: RebuildCounts, all: readonly RebuildFacts[]): string[] {
  const inState = (...states: RebuildFacts['state'][]) =>
    all.filter(({ state }) => states.includes(state)).length;
  const methods = [...new Set(all.flatMap((rebuild) => rebuild.methods))];
  const reasons = all.flatMap(({ waitingReason }) => waitingReason ?? []);
  const isWaiting = wanted.waitingFor === undefined || reasons.includes(wanted.waitingFor);
  return [
    ...counts('number of queued rebuilds', wanted.queued, inState('queued')),
    ...counts('number of running rebuilds', wanted.running, inState('running')),
    ...counts('number of active rebuilds', wanted.active, inState('queued', 'running')),
    ...counts('number of rebuilds since the start', wanted.started, all.length),
    ...counts('number of succeeded rebuilds', wanted.succeeded, inState('succeeded')),
    ...counts('number of failed rebuilds', wanted.failed, inState('failed')),
    ...sameList('list of rebuild methods', wanted.methods, methods),
    ...(isWaiting ? [] : [`no rebuild waits for ${wanted.waitingFor}, but for [${reasons.join(', ')}]`]),
  ];
}
