/**
 * Lanes: which work on volumes waits behind which. Each lane has a queue and slots of its own, so that however much waits in one
 * delays nothing in the others (docs/adr/0342-work-lanes.md).
 */
import type { Volume } from '../model/volume.js';

/**
 * `safety`: follows from what a node or an engine did, on volumes that hold users' data. `request`: a user waits for it, and one
 * request is about one volume that is there. `bulk`: creations and what a setting changes, of which thousands come at once. The most
 * urgent first.
 */
export const LANES = ['safety', 'request', 'bulk'] as const;
export type Lane = (typeof LANES)[number];

/** The lane of a volume of which is known only that it is due: its wake-up was lost, or only time has passed. */
export function laneOf({ lifecycle, robustness }: Pick<Volume, 'lifecycle' | 'robustness'>): Lane {
  const { state } = lifecycle;
  if (state === 'creating') return 'bulk';
  if (state === 'attached') return 'safety';
  const isBeingChanged = state === 'attaching' || state === 'detaching' || state === 'deleting';
  const lacksCopies = robustness === 'degraded' || robustness === 'faulted';
  return lacksCopies && !isBeingChanged ? 'safety' : 'request';
}

/** Who takes turns within a lane: each organization with each kind of work of its own, which its volumes' state tells. */
export function partyOf({ organizationId, lifecycle }: Pick<Volume, 'organizationId' | 'lifecycle'>): string {
  return `${organizationId} ${lifecycle.state}`;
}
