/**
 * Next moment of a simulated cluster at rest: until then every tick would have the result of the last one. Only then a sweep may find
 * a volume or the cluster due. This module alone decides how much time the world may skip.
 */
import { SWEEP_INTERVAL_MS } from '@holdfast/control/reconcilers/sweep.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { nextCronTime } from '@holdfast/core/model/cron.js';
import { settingsOf } from '@holdfast/core/settings/engine-maps.js';
import type { Quiescence } from './quiescence.js';
import type { SimNode } from './sim-node.js';
import type { Tables } from './store/tables.js';

/** Longest skip: rules of the cluster without a time of their own are evaluated at least so often. */
const PASS_MS_MAX = 1_800_000;
/** For so long after a change every sweep is made: what waits for several rules of the cluster comes one after the other. */
const SETTLING_MS = 60_000;

export type Moment = {
  readonly tables: Tables;
  readonly nodes: readonly SimNode[];
  readonly nowMs: number;
  readonly quiet: Quiescence;
  /** When what waits for the cluster's reconciler changed last. */
  readonly queueChangedMs: number;
};

/** Milliseconds, aligned to a sweep. */
export function nextMoment(moment: Moment): number {
  const { nowMs, quiet } = moment;
  const mayPass = quiet.sweptMs === nowMs && !isClusterWaiting(moment);
  const earliest = mayPass ? Math.min(nowMs + PASS_MS_MAX, earliestTime(moment)) : nowMs;
  return Math.ceil(Math.max(earliest, nowMs + 1) / SWEEP_INTERVAL_MS) * SWEEP_INTERVAL_MS;
}

function isClusterWaiting(moment: Moment): boolean {
  const { tables, nowMs, queueChangedMs } = moment;
  if (isClusterTurning(moment)) return true;
  const isQueued = tables.rebuilds.by('state', 'queued').length > 0;
  return (isQueued || tables.orphans.size > 0) && nowMs - queueChangedMs < SETTLING_MS;
}

/** Something of the cluster changes with time alone, and only its reconciler knows when. */
export function isClusterTurning({ tables, nodes, nowMs }: Moment): boolean {
  const isSilent = nodes.some(({ nodeId, isReachable }) => {
    const row = nodeId === undefined ? undefined : tables.nodes.get(nodeId);
    const isReady = row !== undefined && conditionOf(row.conditions, 'Ready')?.status === 'True';
    return isReady !== isReachable;
  });
  const isWindowOver = [...tables.nodes.values()].some(
    ({ maintenance }) => maintenance !== undefined && maintenance.until.getTime() <= nowMs,
  );
  return isSilent || isWindowOver || tables.fanOuts.size > 0 || isAnyOrphanWaiting(tables);
}

/** Orphans to be announced or removed: after a time that only the cluster's reconciler knows. */
function isAnyOrphanWaiting({ orphans, clusters }: Tables): boolean {
  if (orphans.size === 0) return false;
  const mayGo = [...clusters.values()].some(
    ({ settings }) => settings['orphan-resource-auto-deletion'] !== '',
  );
  return (
    mayGo ||
    [...orphans.values()].some(
      ({ announcedAt, removal }) => announcedAt === undefined || removal !== undefined,
    )
  );
}

/** Earliest of due volumes, ends of windows, ages of orphans, and the cron. */
function earliestTime({ tables, nowMs, quiet }: Moment): number {
  let earliest = Number.POSITIVE_INFINITY;
  const at = (time: Date | undefined) => {
    if (time !== undefined) earliest = Math.min(earliest, time.getTime());
  };
  for (const [volumeId, { at: due }] of tables.dues) at(quiet.dueOf(volumeId, due, nowMs));
  for (const { maintenance } of tables.nodes.values()) at(maintenance?.until);
  for (const { settings } of tables.clusters.values()) {
    for (const engine of ['v1', 'v2'] as const)
      at(nextCronTime(settingsOf(settings, engine)['snapshot-data-integrity-cronjob'], new Date(nowMs)));
    const graceMs = settings['orphan-resource-auto-deletion-grace-period'] * 1000;
    for (const { firstSeenAt } of tables.orphans.values()) {
      const oldAt = firstSeenAt.getTime() + graceMs;
      if (oldAt > nowMs) at(new Date(oldAt));
    }
  }
  return earliest;
}
