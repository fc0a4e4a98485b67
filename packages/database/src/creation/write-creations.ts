/**
 * The statements of one transaction that stores several new volumes of one cluster.
 *
 * Locks are taken in the order of every other commit: disks by id, then new rows, in the order of their names.
 */
import type { NewVolume } from '@holdfast/core/lifecycle/decide-creation.js';
import { EVENT_TYPES } from '@holdfast/core/model/event-types.js';
import type { ClusterId, DiskId, OrganizationId, VolumeId } from '@holdfast/core/model/ids.js';
import { LANES } from '@holdfast/core/policy/work-lane.js';
import { type AuditEntry, insertAuditEntries } from '../queries/audit.js';
import { REPLICAS } from '../rows/replica-row.js';
import { VOLUMES } from '../rows/volume-row.js';
import type { Sql } from '../sql/scope.js';
import { insertList } from '../sql/table.js';
import { EVENT_CHANNEL } from '../store/events.js';
import { CHANGE_CHANNEL, OUTBOX_CHANNEL } from '../store/wake-up-set.js';

/** Where the volumes belong to. */
export type CreationPlace = { readonly organizationId: OrganizationId; readonly clusterId: ClusterId };

export type LockedDisk = {
  id: DiskId;
  version: number;
  storage_scheduled_bytes: number;
  storage_maximum_bytes: number;
  storage_available_bytes: number;
  storage_reserved_bytes: number;
  node_version: number;
  settings_version: number;
};

/**
 * Locks the disks, and the settings against change, and returns the disks as they are now. From here on their booked
 * bytes change in this transaction only.
 */
export async function lockForBooking(
  sql: Sql,
  clusterId: ClusterId,
  diskIds: readonly DiskId[],
): Promise<Map<DiskId, LockedDisk>> {
  if (diskIds.length === 0) return new Map();
  await sql.query(
    `SELECT FROM disk d JOIN cluster c ON c.id = d.cluster_id
     WHERE c.id = $1 AND d.id = ANY($2) ORDER BY d.id FOR UPDATE OF d FOR SHARE OF c`,
    [clusterId, diskIds],
  );
  // A separate statement, which sees commits made while the first one waited.
  const { rows } = await sql.query<LockedDisk>(
    `SELECT d.id, d.version, d.storage_scheduled_bytes, d.storage_maximum_bytes, d.storage_available_bytes,
       d.storage_reserved_bytes, n.version AS node_version, c.settings_version
     FROM disk d JOIN node n ON n.id = d.node_id JOIN cluster c ON c.id = d.cluster_id
     WHERE c.id = $1 AND d.id = ANY($2)`,
    [clusterId, diskIds],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Makes the volumes whose names are free and returns their ids. */
export async function insertVolumes(
  sql: Sql,
  { organizationId }: CreationPlace,
  created: readonly NewVolume[],
): Promise<Set<VolumeId>> {
  // In the order of their names, so that two of these that want the same ones wait and don't block each other.
  const volumes = created.map(({ volume }) => volume).sort((a, b) => (a.name < b.name ? -1 : 1));
  const { text, values } = insertList(VOLUMES, organizationId, volumes);
  const { rows } = await sql.query<{ id: VolumeId }>(
    `${text} ON CONFLICT (project_id, name) DO NOTHING RETURNING id`,
    values,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Rows stored with new volumes for the requests that created them. */
export type Alongside = {
  readonly auditEntries: readonly AuditEntry[];
  /** The trace of each volume's request, in the order of the volumes. */
  readonly traceparents: readonly (string | undefined)[];
};

/** Stores what belongs to volumes that were made: replicas, bookings, events, wake-ups and the audit log. */
export async function insertBelongings(
  sql: Sql,
  { organizationId, clusterId }: CreationPlace,
  created: readonly NewVolume[],
  { auditEntries, traceparents }: Alongside,
): Promise<void> {
  const replicas = created.flatMap((one) => one.replicas);
  const { text, values } = insertList(
    REPLICAS,
    organizationId,
    replicas.map(({ replica }) => replica),
  );
  await sql.query(text, values);
  const booked = bytesByDisk(created);
  const events = created.map(({ event }) => event);
  await sql.query(
    `WITH booked AS (
       UPDATE disk d SET storage_scheduled_bytes = d.storage_scheduled_bytes + b.bytes
       FROM unnest($3::uuid[], $4::bigint[]) AS b(id, bytes) WHERE d.id = b.id
     ), told AS (
       INSERT INTO event (organization_id, cluster_id, transaction_id, type, severity, subject_kind, subject_id,
         volume_id, message, at)
       SELECT $1::uuid, $2::uuid, pg_current_xact_id()::text::bigint, e.type, e.severity, 'volume', e.volume_id,
         e.volume_id, e.message, e.at
       FROM unnest($5::text[], $6::text[], $7::uuid[], $8::text[], $9::timestamptz[])
         AS e(type, severity, volume_id, message, at)
     ), woken AS (
       INSERT INTO outbox (organization_id, kind, target_id, traceparent, lane)
       SELECT $1::uuid, 'volume', id, traceparent, $11::smallint FROM unnest($7::uuid[], $10::text[]) AS w(id, traceparent)
     )
     SELECT pg_notify('${CHANGE_CHANNEL}', concat_ws(' ', $1, $2, 'volume', id)) FROM unnest($7::uuid[]) id
     UNION ALL SELECT pg_notify('${EVENT_CHANNEL}', concat_ws(' ', $1, $2))
     UNION ALL SELECT pg_notify('${OUTBOX_CHANNEL}', '')`,
    [
      organizationId,
      clusterId,
      [...booked.keys()],
      [...booked.values()],
      events.map(({ type }) => type),
      events.map(({ type }) => EVENT_TYPES[type].severity),
      events.map(({ volumeId }) => volumeId),
      events.map(({ message }) => message),
      events.map(({ at }) => at),
      traceparents.map((traceparent) => traceparent ?? null),
      LANES.indexOf('bulk'),
    ],
  );
  await insertAuditEntries(sql, auditEntries);
}

function bytesByDisk(created: readonly NewVolume[]): Map<DiskId, number> {
  const bytes = new Map<DiskId, number>();
  for (const { booking } of created.flatMap(({ replicas }) => replicas)) {
    if (booking !== undefined)
      bytes.set(booking.diskId, (bytes.get(booking.diskId) ?? 0) + booking.sizeBytes);
  }
  return bytes;
}
