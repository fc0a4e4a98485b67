/**
 * Estimate of how long moves of replicas take: a list schedule under the limits that admission keeps, at the speed that finished
 * rebuilds of the cluster had. A range, since the speed of the next rebuild depends on what users do meanwhile.
 */
import { ratesOf } from '../admission/estimate-ends.js';
import { MIB } from '../model/bytes.js';
import type { NodeId } from '../model/ids.js';
import type { RebuildSpeed } from '../model/rebuild.js';
import type { ClusterSettings } from '../model/setting.js';

export type Move = {
  readonly bytes: number;
  readonly sourceNodeId: NodeId | undefined;
  readonly targetNodeId: NodeId;
};

/** With even odds, and with nine in ten odds, it takes no longer. */
export type TimeEstimate = {
  readonly p50Seconds: number;
  readonly p90Seconds: number;
  /** From rebuilds of this cluster, or from what common disks and networks do. */
  readonly basis: 'measured' | 'assumed';
};

type Pace = { readonly bytesPerSecond: number; readonly overheadSeconds: number };
/** Choosing a place, making the copy's files, a start and an end; more of it while the worker is busy. */
const OVERHEAD_SECONDS = { p50: 5, p90: 30 };

export function estimateMoves(
  moves: readonly Move[],
  speeds: readonly RebuildSpeed[],
  settings: ClusterSettings,
): TimeEstimate {
  const rates = ratesOf(speeds);
  const secondsAt = (odds: 'p50' | 'p90') => {
    const pace = { bytesPerSecond: rates[odds], overheadSeconds: OVERHEAD_SECONDS[odds] };
    return Math.ceil(timeOf(moves, pace, settings));
  };
  return {
    p50Seconds: secondsAt('p50'),
    p90Seconds: secondsAt('p90'),
    basis: speeds.some(({ bytes }) => bytes > 0) ? 'measured' : 'assumed',
  };
}

type Running = Move & { readonly endsAt: number };

/** Each move starts as soon as its nodes have a free place, in the order given. */
function timeOf(moves: readonly Move[], pace: Pace, settings: ClusterSettings): number {
  let waiting = [...moves];
  let running: Running[] = [];
  let now = 0;
  while (waiting.length > 0 || running.length > 0) {
    const held: Move[] = [];
    for (const move of waiting) {
      if (!hasRoom(move, running, settings)) held.push(move);
      else running.push({ ...move, endsAt: now + durationOf(move, running, pace, settings) });
    }
    // Nothing may start at all: the caller tells that otherwise.
    if (running.length === 0) return now;
    waiting = held;
    now = Math.min(...running.map(({ endsAt }) => endsAt));
    running = running.filter(({ endsAt }) => endsAt > now);
  }
  return now;
}

function hasRoom(
  { sourceNodeId, targetNodeId }: Move,
  running: readonly Running[],
  settings: ClusterSettings,
): boolean {
  if (running.length >= settings['concurrent-rebuild-per-cluster-limit']) return false;
  const received = running.filter((move) => move.targetNodeId === targetNodeId).length;
  if (received >= settings['concurrent-replica-rebuild-per-node-limit']) return false;
  const sent = running.filter((move) => move.sourceNodeId === sourceNodeId).length;
  return sourceNodeId === undefined || sent < settings['concurrent-rebuild-source-per-node-limit'];
}

/** Rebuilds that write to one node share its bandwidth. */
function durationOf(
  { bytes, targetNodeId }: Move,
  running: readonly Running[],
  { bytesPerSecond, overheadSeconds }: Pace,
  settings: ClusterSettings,
): number {
  const limit = settings['replica-rebuilding-bandwidth-limit'] * MIB;
  const sharing = 1 + running.filter((move) => move.targetNodeId === targetNodeId).length;
  const rate = limit === 0 ? bytesPerSecond : Math.min(bytesPerSecond, limit / sharing);
  return overheadSeconds + bytes / rate;
}
