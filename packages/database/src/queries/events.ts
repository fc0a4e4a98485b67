import type { ClusterEvent, EventSubject } from '@holdfast/core/model/event.js';
import type { EventSeverity } from '@holdfast/core/model/event-types.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';
import { type ListRequest, listRows, mapPage, type Page } from './list-rows.js';

/** A place in a cluster's events: no event ever appears before one that has been read (ADR 0031). */
export type EventPosition = { transactionId: number; id: number };
/** Its type and severity are those of the version that stored it. */
export type StoredEvent = Omit<ClusterEvent, 'type'> & {
  type: string;
  severity: EventSeverity;
  position: EventPosition;
};

export const EVENT_FIELDS = {
  id: { sql: 'e.id', type: 'number' },
  type: { sql: 'e.type', type: 'text' },
  severity: { sql: 'e.severity', type: 'text' },
  subjectKind: { sql: 'e.subject_kind', type: 'text' },
  subjectId: { sql: 'e.subject_id', type: 'text' },
  volumeId: { sql: `coalesce(e.volume_id, '00000000-0000-0000-0000-000000000000')`, type: 'id' },
  at: { sql: 'e.at', type: 'time' },
} as const;

export type EventRow = {
  id: number;
  cluster_id: ClusterId;
  transaction_id: number;
  type: string;
  severity: EventSeverity;
  subject_kind: EventSubject['kind'];
  subject_id: string;
  volume_id: string | null;
  message: string;
  at: Date;
};

/** Newest first, unless the request says otherwise. */
export async function listEvents(
  sql: Sql,
  clusterId: ClusterId,
  request: ListRequest,
): Promise<Page<StoredEvent>> {
  const page = await listRows<EventRow>(
    sql,
    {
      columns: 'e.*',
      from: 'event e',
      key: EVENT_FIELDS.id,
      fields: EVENT_FIELDS,
      defaultSort: '-id',
      where: { text: 'e.cluster_id = $1', values: [clusterId] },
    },
    request,
  );
  return mapPage(page, readEvent);
}

/**
 * Events after a position, oldest first, of transactions that no running one can come before. `more` says that there
 * are further ones, or some that are not safe to read yet: ask again soon.
 */
export async function readEventsAfter(
  sql: Sql,
  clusterId: ClusterId,
  after: EventPosition,
  limit: number,
): Promise<{ events: StoredEvent[]; more: boolean }> {
  const { rows } = await sql.query<EventRow & { is_final: boolean }>(
    `SELECT e.*, e.transaction_id < pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS is_final
     FROM event e
     WHERE e.cluster_id = $1 AND (e.transaction_id, e.id) > ($2, $3)
     ORDER BY e.transaction_id, e.id LIMIT $4`,
    [clusterId, after.transactionId, after.id, limit + 1],
  );
  const events = rows.slice(0, limit).filter((row) => row.is_final);
  return { events: events.map(readEvent), more: events.length < rows.length };
}

/** Events that the running transaction has written. */
export async function eventsOfTransaction(sql: Sql): Promise<StoredEvent[]> {
  const { rows } = await sql.query<EventRow>(
    'SELECT * FROM event WHERE transaction_id = pg_current_xact_id()::text::bigint ORDER BY id',
  );
  return rows.map(readEvent);
}

/** Is the event of this position still there? If not, others after it may be gone too. */
export async function isEventKept(sql: Sql, clusterId: ClusterId, position: EventPosition): Promise<boolean> {
  const { rowCount } = await sql.query(
    'SELECT FROM event WHERE cluster_id = $1 AND transaction_id = $2 AND id = $3',
    [clusterId, position.transactionId, position.id],
  );
  return rowCount === 1;
}

/** Where a stream begins that asks for nothing older: behind every event of transactions that have ended by now. */
export async function currentEventPosition(sql: Sql): Promise<EventPosition> {
  const { rows } = await sql.query<{ transaction_id: number }>(
    'SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1 AS transaction_id',
  );
  return { transactionId: rows[0]?.transaction_id ?? 0, id: Number.MAX_SAFE_INTEGER };
}

export function readEvent(row: EventRow): StoredEvent {
  return {
    position: { transactionId: row.transaction_id, id: row.id },
    clusterId: row.cluster_id,
    type: row.type,
    severity: row.severity,
    subject: { kind: row.subject_kind, id: row.subject_id },
    volumeId: row.volume_id ?? undefined,
    message: row.message,
    at: row.at,
  };
}
