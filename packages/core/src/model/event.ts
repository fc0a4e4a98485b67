import type { ClusterId } from './ids.js';

/** Kinds of things that events are about. */
export type EventSubject = {
  kind: 'cluster' | 'node' | 'disk' | 'volume' | 'replica' | 'rebuild' | 'snapshot' | 'setting' | 'orphan';
  id: string;
};

/** Something that happened, kept for users and streamed to the console. `type` is a noun and a past participle. */
export type ClusterEvent = {
  clusterId: ClusterId;
  type: string;
  severity: 'info' | 'warning' | 'error';
  subject: EventSubject;
  /** The volume it concerns, where there is one, so that a volume's page can show its story. */
  volumeId: string | undefined;
  message: string;
  at: Date;
};
