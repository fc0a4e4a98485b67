/**
 * The cause of an event: the node or disk that failed or returned, without which the event would not exist.
 *
 * Decisions name the place, and the store finds the event: the last one of `CAUSE_TYPES` about that place. Users then read one line
 * of a dead node, and its thousand effects under it.
 */
import type { EventType } from './event-types.js';

export type EventCause = { readonly kind: 'node' | 'disk'; readonly id: string };

/** Types of events that others follow from: a place is lost, or comes back. */
export const CAUSE_TYPES: readonly EventType[] = ['NodeNotReady', 'NodeReady', 'DiskNotReady', 'DiskReady'];

/** Types that may come before the event of their cause: an engine drops a copy at once, and a node's silence is judged later. */
export const EARLY_EFFECTS: readonly EventType[] = ['ReplicaFailed', 'VolumeDegraded', 'VolumeFaulted'];

/** Seconds before the loss of a disk in which a copy's failure is an effect of it: an agent checks its disks every few seconds. */
export const DISK_EVENT_CORRELATION_SECONDS = 60;

/** Does this event claim early effects for itself? Only the loss of a place does. */
export function claimsEffects({ type }: { readonly type: EventType }): boolean {
  return type === 'NodeNotReady' || type === 'DiskNotReady';
}
