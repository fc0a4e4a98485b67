/**
 * Next moment of a simulated cluster in which nothing moves: until then every tick would find what the last one found. Only
 * then a sweep may find a volume or the cluster due. What the world may pass over is decided here, and nothing else.
 */
import { SWEEP_INTERVAL_MS } from '@holdfast/control/reconcilers/sweep.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { nextCronTime } from '@holdfast/core/model/cron.js';
import type { SimNode } from './sim-node.js';
import type { Tables } from './store/tables.js';

/** Longest pass over: rules of the cluster that have no time of their own are asked at least so often. */
const PASS_MS_MAX = 300_000;

type Moment = {
  readonly tables: Tables;
  readonly nodes: readonly SimNode[];
  readonly nowMs: number;
  /** Has the last tick swept, and has nothing come of it? */
  readonly isSwept: boolean;
};

/** Milliseconds, aligned to a sweep. */
export function nextMoment(moment: Moment): number {
  const { nowMs } = moment;
  const earliest =
    !moment.isSwept || isClusterWaiting(moment) ? nowMs : Math.min(nowMs + PASS_MS_MAX, ...times(moment));
  const next = Math.ceil(Math.max(earliest, nowMs + 1) / SWEEP_INTERVAL_MS) * SWEEP_INTERVAL_MS;
  return next;
}

/** Something of the cluster changes with time alone, and only its reconciler knows when. */
function isClusterWaiting({ tables, nodes }: Moment): boolean {
  const isSilent = nodes.some(({ nodeId, isReachable }) => {
    const row = nodeId === undefined ? undefined : tables.nodes.get(nodeId);
    const isReady = row !== undefined && conditionOf(row.conditions, 'Ready')?.status === 'True';
    return isReady !== isReachable;
  });
  const isQueued = [...tables.rebuilds.values()].some(({ state }) => state === 'queued');
  return isSilent || isQueued || tables.orphans.size > 0 || tables.fanOuts.size > 0;
}

function times({ tables, nowMs }: Moment): number[] {
  const dues = [...tables.dues.values()].flatMap(({ at }) => (at === undefined ? [] : [at.getTime()]));
  const windows = [...tables.nodes.values()].flatMap(({ maintenance }) => maintenance?.until.getTime() ?? []);
  const crons = [...tables.clusters.values()].flatMap(
    ({ settings }) =>
      nextCronTime(settings['snapshot-data-integrity-cronjob'], new Date(nowMs))?.getTime() ?? [],
  );
  return [...dues, ...windows, ...crons];
}
