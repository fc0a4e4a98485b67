import type { EVENT_FIELDS as LISTED_FIELDS } from '@holdfast/core/listing/list-fields.js';
import type { ClusterEvent, EventSubject } from '@holdfast/core/model/event.js';
import type { EventSeverity } from '@holdfast/core/model/event-types.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';
import { IS_CAUSE } from '../store/events.js';
import {
  type FieldsOf,
  filterCondition,
  type ListRequest,
  listRows,
  mapPage,
  type Page,
} from './list-rows.js';

/** Position in a cluster's events: no event ever appears before one that has been read (ADR 0031). */
export type EventPosition = { transactionId: number; id: number };
/** Its type and severity are those of the version that stored it. */
export type StoredEvent = Omit<ClusterEvent, 'type' | 'cause'> & {
  type: string;
  severity: EventSeverity;
  position: EventPosition;
  /** The event that it follows from; `undefined` for none. */
  causedBy: EventPosition | undefined;
  /** Events that follow from it. */
  effects: number;
};

/** Stands for none where a list is sorted: a row of a sorted list has a value. */
const NONE = `'00000000-0000-0000-0000-000000000000'`;

export const EVENT_FIELDS = {
  id: { sql: 'e.id', type: 'number' },
  type: { sql: 'e.type', type: 'text' },
  severity: { sql: 'e.severity', type: 'text' },
  subjectKind: { sql: 'e.subject_kind', type: 'text' },
  subjectId: { sql: 'e.subject_id', type: 'text' },
  clusterId: { sql: 'e.cluster_id', type: 'id' },
  nodeId: {
    sql: `coalesce(CASE e.subject_kind WHEN 'node' THEN e.subject_id::uuid
      WHEN 'disk' THEN (SELECT d.node_id FROM disk d WHERE d.id = e.subject_id::uuid)
      WHEN 'replica' THEN (SELECT r.node_id FROM replica r WHERE r.id = e.subject_id::uuid) END, ${NONE})`,
    type: 'id',
  },
  projectId: {
    sql: `coalesce((SELECT v.project_id FROM volume v WHERE v.id = e.volume_id), ${NONE})`,
    type: 'id',
  },
  volumeId: { sql: `coalesce(e.volume_id, ${NONE})`, type: 'id' },
  at: { sql: 'e.at', type: 'time' },
  causeId: { sql: 'e.cause_id', type: 'number' },
} as const satisfies FieldsOf<typeof LISTED_FIELDS>;

/**
 * An event with the transaction of its cause, and with its effects counted: only few types have any. That 0 is no cause is said to
 * Postgres, which would take it for what most events follow from, and read them all.
 */
const WITH_CAUSE = `e.*, (SELECT c.transaction_id FROM event c WHERE c.id = e.cause_id) AS cause_transaction_id,
  CASE WHEN ${IS_CAUSE.replace('c.', 'e.')} THEN
    (SELECT count(*)::int FROM event x
     WHERE x.cluster_id = e.cluster_id AND x.cause_id = e.id AND x.cause_id <> 0) ELSE 0 END AS effects`;

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
  cause_id: number;
  /** These two if they are requested; null: none. */
  cause_transaction_id?: number | null;
  effects?: number;
};

/**
 * Newest first, unless the request says otherwise.
 *
 * @param clusterId left out: of all clusters that the tenant sees
 */
export async function listEvents(
  sql: Sql,
  clusterId: ClusterId | undefined,
  request: ListRequest,
): Promise<Page<StoredEvent>> {
  const page = await listRows<EventRow>(
    sql,
    {
      columns: WITH_CAUSE,
      from: 'event e',
      key: EVENT_FIELDS.id,
      fields: EVENT_FIELDS,
      defaultSort: '-id',
      where:
        clusterId === undefined
          ? { text: 'true', values: [] }
          : { text: 'e.cluster_id = $1', values: [clusterId] },
    },
    request,
  );
  return mapPage(page, readEvent);
}

/** Whose events a stream has: of a cluster, or of all that the tenant sees. */
export type EventSource = {
  readonly clusterId: ClusterId | undefined;
  /** The filter of lists; empty: all of them. */
  readonly filter: string;
};

/** @throws StorageFault `request.invalid` for a filter that can't be read */
export function assertEventFilter(filter: string): void {
  filterCondition(filter, EVENT_FIELDS, []);
}

/**
 * Events after a position, oldest first, of transactions that no running one can precede. `more`: there are further ones, or some
 * that are not safe to read yet: read again soon. `position` is where the reading has arrived, also past events that the filter
 * leaves out: the next one skips them.
 */
export async function readEventsAfter(
  sql: Sql,
  { clusterId, filter }: EventSource,
  after: EventPosition,
  limit: number,
): Promise<{ events: StoredEvent[]; position: EventPosition; more: boolean }> {
  const values: unknown[] = [after.transactionId, after.id, limit + 1];
  const isWanted = filterCondition(filter, EVENT_FIELDS, values);
  const whose = clusterId === undefined ? OWN : `e.cluster_id = $${values.push(clusterId)}`;
  const { rows } = await sql.query<EventRow & { is_final: boolean; is_wanted: boolean }>(
    `SELECT ${WITH_CAUSE}, e.transaction_id < pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS is_final,
       (${isWanted}) AS is_wanted
     FROM event e
     WHERE ${whose} AND (e.transaction_id, e.id) > ($1, $2)
     ORDER BY e.transaction_id, e.id LIMIT $3`,
    values,
  );
  const read = rows.slice(0, limit).filter((row) => row.is_final);
  const last = read.at(-1);
  return {
    events: read.filter((row) => row.is_wanted).map(readEvent),
    position: last === undefined ? after : readEvent(last).position,
    more: read.length < rows.length,
  };
}

/** As the policy says too, but so that the index of an organization's events is used. */
const OWN = 'e.organization_id = (SELECT current_organization_id())';

/** Is the event of this position still there? If not, others after it may be gone too. */
export async function isEventKept(
  sql: Sql,
  clusterId: ClusterId | undefined,
  position: EventPosition,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `SELECT FROM event e WHERE ${clusterId === undefined ? OWN : 'e.cluster_id = $3'}
       AND e.transaction_id = $1 AND e.id = $2`,
    [position.transactionId, position.id, ...(clusterId === undefined ? [] : [clusterId])],
  );
  return rowCount === 1;
}

/** Events that the running transaction has written. */
export async function eventsOfTransaction(sql: Sql): Promise<StoredEvent[]> {
  const { rows } = await sql.query<EventRow>(
    `SELECT ${WITH_CAUSE} FROM event e WHERE e.transaction_id = pg_current_xact_id()::text::bigint ORDER BY e.id`,
  );
  return rows.map(readEvent);
}

/** Start of a stream without older events: behind every event of transactions that have ended by now. */
export async function currentEventPosition(sql: Sql): Promise<EventPosition> {
  const { rows } = await sql.query<{ transaction_id: number }>(
    'SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1 AS transaction_id',
  );
  return { transactionId: rows[0]?.transaction_id ?? 0, id: Number.MAX_SAFE_INTEGER };
}

export function readEvent(row: EventRow): StoredEvent {
  const causeTransactionId = row.cause_transaction_id ?? undefined;
  return {
    position: { transactionId: row.transaction_id, id: row.id },
    clusterId: row.cluster_id,
    type: row.type,
    severity: row.severity,
    subject: { kind: row.subject_kind, id: row.subject_id },
    volumeId: row.volume_id ?? undefined,
    message: row.message,
    at: row.at,
    causedBy:
      causeTransactionId === undefined ? undefined : { transactionId: causeTransactionId, id: row.cause_id },
    effects: row.effects ?? 0,
  };
}
