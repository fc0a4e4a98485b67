/**
 * Round-robin batch of a node's detached volumes that are tried for a move, bounded per reconcile run. Each costs a read and a search
 * for a place; the next run tries others, so that volumes without a place do not block the rest.
 */
import type { FleetView } from '../model/views.js';
import type { VolumeOnNode } from './node-volumes.js';
import { DETACHED_MOVES_MAX, mayBeMoved } from './plan-offline-rebuild.js';

export const DETACHED_LOOKS_MAX = 3 * DETACHED_MOVES_MAX;

/**
 * Multiples of it, without their whole parts, are spread evenly whatever the step between them is. Runs come at a steady
 * pace, so that a start which moves on by a fixed number of volumes each second could meet the same ones for ever.
 */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/** @param detached those with a copy that is to leave the node */
export function detachedToAsk(
  detached: readonly VolumeOnNode[],
  fleet: FleetView,
  now: Date,
): readonly VolumeOnNode[] {
  const movable = detached.filter((volume) => mayBeMoved({ ...volume, fleet }, now));
  if (movable.length <= DETACHED_LOOKS_MAX) return movable;
  const turn = (Math.floor(now.getTime() / 1000) * GOLDEN_RATIO) % 1;
  const start = Math.floor(turn * movable.length);
  return [...movable.slice(start), ...movable.slice(0, start)].slice(0, DETACHED_LOOKS_MAX);
}
