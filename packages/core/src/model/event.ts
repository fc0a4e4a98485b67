import type { EventCause } from './event-cause.js';
import type { EventSubjectKind, EventType } from './event-types.js';
import type { ClusterId } from './ids.js';
import type { Rebuild } from './rebuild.js';

/** The thing that an event is about. */
export type EventSubject = { kind: EventSubjectKind; id: string };

/** Something that happened, kept for users and streamed to the console. How severe it is follows from its type. */
export type ClusterEvent = {
  clusterId: ClusterId;
  type: EventType;
  subject: EventSubject;
  /** The volume it concerns, where there is one, so that a volume's page can show its story. */
  volumeId: string | undefined;
  message: string;
  at: Date;
  /** The node or disk whose loss or return led to it; left out where none did, or where it is not known yet. */
  cause?: EventCause | undefined;
};

/** For those who hold the rebuild and not the whole volume. */
export function rebuildEvent(
  { id, clusterId, volumeId }: Pick<Rebuild, 'id' | 'clusterId' | 'volumeId'>,
  { type, message }: Pick<ClusterEvent, 'type' | 'message'>,
  at: Date,
): ClusterEvent {
  return { clusterId, type, subject: { kind: 'rebuild', id }, volumeId, message, at };
}
