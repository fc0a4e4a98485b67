/**
 * Planner of orphans: which are announced by an event, which are asked for their description, and which are removed now.
 *
 * Pure. An orphan is removed at a user's request, or by the setting after its grace time. Both only while its node and its disk are
 * ready, and both are fenced where they are recorded: `Store.commit` refuses to claim a copy with a replica row, and a replica that
 * would take the id of a claimed one.
 */
import { type ClusterId, compareIds } from '../model/ids.js';
import type { Orphan, OrphanInContext, OrphanRemoval } from '../model/orphan.js';
import type { ClusterSettings } from '../model/setting.js';
import { listItems } from '../settings/effective.js';

/** Five heartbeats: one of them that was under way while the copy was removed makes no orphan. */
export const ORPHAN_CONFIRMED_MS = 10_000;
/** Removing a large copy keeps a disk busy. The next pass, at most a sweep later, takes the next ones. */
export const ORPHAN_REMOVALS_MAX = 20;
/** Descriptions requested per pass: a call each, which the rest of the cluster's work waits for. */
export const ORPHAN_DESCRIPTIONS_MAX = 50;
/** Passes are a few seconds apart, so each begins behind those that the last one asked. */
const TURN_MS = 5_000;
/** After a refusal: the obstacle seldom passes within one sweep. */
const RETRY_MS = 30_000;

export type OrphansView = {
  readonly settings: ClusterSettings;
  readonly orphans: readonly OrphanInContext[];
};

export type OrphanStep =
  | { kind: 'announce'; item: OrphanInContext }
  /** Asks its agent for the description, as none is known. */
  | { kind: 'describe'; item: OrphanInContext }
  | { kind: 'remove'; item: OrphanInContext; removal: OrphanRemoval };

export function planOrphans({ settings, orphans }: OrphansView, now: Date): OrphanStep[] {
  const ordered = [...orphans].sort(byAge);
  const announced = ordered.filter((item) => isToAnnounce(item, now));
  const removals = ordered.flatMap((item): Extract<OrphanStep, { kind: 'remove' }>[] => {
    const removal = removalOf(item, settings, now);
    return removal === undefined ? [] : [{ kind: 'remove', item, removal }];
  });
  return [
    ...announced.map((item): OrphanStep => ({ kind: 'announce', item })),
    ...inTurn(ordered.filter(isToDescribe), now).map((item): OrphanStep => ({ kind: 'describe', item })),
    ...removals.slice(0, ORPHAN_REMOVALS_MAX),
  ];
}

function isToAnnounce({ orphan }: OrphanInContext, now: Date): boolean {
  return orphan.announcedAt === undefined && ageMs(orphan, now) >= ORPHAN_CONFIRMED_MS;
}

/** An orphan that is announced now is asked in the same step. */
function isToDescribe({ orphan, isReachable }: OrphanInContext): boolean {
  const { announcedAt, description, removal } = orphan;
  return isReachable && announcedAt !== undefined && description === undefined && removal === undefined;
}

/**
 * All are asked round-robin, by the time of day: agents of an older version don't return descriptions, and theirs must not block the
 * others.
 */
function inTurn(items: readonly OrphanInContext[], now: Date): readonly OrphanInContext[] {
  if (items.length <= ORPHAN_DESCRIPTIONS_MAX) return items;
  const start = (Math.floor(now.getTime() / TURN_MS) * ORPHAN_DESCRIPTIONS_MAX) % items.length;
  return [...items.slice(start), ...items.slice(0, start)].slice(0, ORPHAN_DESCRIPTIONS_MAX);
}

/** Why it may be removed now; `undefined` when it may not. */
function removalOf(item: OrphanInContext, settings: ClusterSettings, now: Date): OrphanRemoval | undefined {
  const { orphan, isReachable } = item;
  if (!isReachable || orphan.announcedAt === undefined) return undefined;
  const { removal } = orphan;
  if (removal === undefined) {
    return isDue(item, settings, now)
      ? { by: 'setting', requestedAt: now, claimedAt: undefined, trouble: undefined }
      : undefined;
  }
  const { by, trouble } = removal;
  if (trouble !== undefined && now.getTime() - trouble.at.getTime() < RETRY_MS) return undefined;
  // A removal that the setting began and could not end is judged again: the setting, or its volume, may have changed.
  return by === 'person' || isDue(item, settings, now) ? removal : undefined;
}

function isDue({ orphan, volume }: OrphanInContext, settings: ClusterSettings, now: Date): boolean {
  if (!listItems(settings['orphan-resource-auto-deletion']).includes('replica-data')) return false;
  // A disk that was put into a node of the wrong cluster holds copies which that one needs. The copy's description is read first.
  if (orphan.description === undefined || otherClusterOf(orphan) !== undefined) return false;
  // While the volume misses copies, this one may hold what no other does. A user may still remove it.
  if (volume !== undefined && volume.robustness !== 'healthy') return false;
  return ageMs(orphan, now) >= settings['orphan-resource-auto-deletion-grace-period'] * 1000;
}

/** The cluster that the copy says it is of, where that is another one than its node's. */
export function otherClusterOf({ clusterId, description }: Orphan): ClusterId | undefined {
  const stated = description?.volume?.clusterId;
  return stated === clusterId ? undefined : stated;
}

function ageMs({ firstSeenAt }: Orphan, now: Date): number {
  return now.getTime() - firstSeenAt.getTime();
}

/** Removals by users before those by the setting, then the oldest. */
function byAge({ orphan: a }: OrphanInContext, { orphan: b }: OrphanInContext): number {
  const rank = ({ removal }: Orphan) => (removal?.by === 'person' ? 0 : 1);
  return rank(a) - rank(b) || a.firstSeenAt.getTime() - b.firstSeenAt.getTime() || compareIds(a.id, b.id);
}
