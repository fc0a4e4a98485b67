/** Causes of events in memory, by the rules of Postgres (packages/database/src/store/events.ts): a loss also claims what came before it. */
import type { ClusterEvent } from '@holdfast/core/model/event.js';
import {
  CAUSE_TYPES,
  claimsEffects,
  DISK_EVENT_CORRELATION_SECONDS,
  EARLY_EFFECTS,
} from '@holdfast/core/model/event-cause.js';
import { asId, type DiskId, type NodeId } from '@holdfast/core/model/ids.js';
import type { Replica } from '@holdfast/core/model/replica.js';

/** The tables that causes are in and made of. */
type Tables = {
  readonly events: ClusterEvent[];
  readonly causes: Map<ClusterEvent, ClusterEvent>;
  readonly lastOfPlace: Map<string, ClusterEvent>;
  readonly nodes: { get(id: NodeId): { readonly lastHeartbeatAt: Date | undefined } | undefined };
  readonly replicas: { by(name: 'node' | 'disk', id: string): readonly Replica[] };
};

export function addEvent(tables: Tables, event: ClusterEvent): void {
  const cause = event.cause === undefined ? undefined : tables.lastOfPlace.get(event.cause.id);
  if (cause !== undefined) tables.causes.set(event, cause);
  if (claimsEffects(event)) claimEffects(tables, event);
  if (CAUSE_TYPES.includes(event.type)) tables.lastOfPlace.set(event.subject.id, event);
  tables.events.push(event);
}

function claimEffects(tables: Tables, loss: ClusterEvent): void {
  const since = sinceOf(tables, loss);
  if (since === undefined) return;
  const lost = copiesAt(tables, loss).filter(({ failedAt }) => failedAt !== undefined && failedAt >= since);
  for (const event of tables.events.toReversed()) {
    if (event.at < since) return;
    const isEarly = EARLY_EFFECTS.includes(event.type) && event.at <= loss.at && !tables.causes.has(event);
    if (isEarly && lost.some((replica) => isEffect(event, replica))) tables.causes.set(event, loss);
  }
}

function isEffect(event: ClusterEvent, { id, volumeId }: Replica): boolean {
  return event.type === 'ReplicaFailed' ? event.subject.id === id : event.volumeId === volumeId;
}

function sinceOf(tables: Tables, { subject, at }: ClusterEvent): Date | undefined {
  if (subject.kind === 'node') return tables.nodes.get(asId<NodeId>(subject.id))?.lastHeartbeatAt;
  return new Date(at.getTime() - DISK_EVENT_CORRELATION_SECONDS * 1000);
}

function copiesAt({ replicas }: Tables, { subject }: ClusterEvent): readonly Replica[] {
  return subject.kind === 'node'
    ? replicas.by('node', asId<NodeId>(subject.id))
    : replicas.by('disk', asId<DiskId>(subject.id));
}
