import type { ClusterEvent } from '@holdfast/core/model/event.js';
import { EVENT_TYPES } from '@holdfast/core/model/event-types.js';
import type { OrganizationId } from '@holdfast/core/model/ids.js';
import { conflict } from '../sql/errors.js';
import type { Sql } from '../sql/scope.js';

/** Tells live readers that there is something new to read: `<organization> <cluster>`. */
export const EVENT_CHANNEL = 'holdfast_event';

/**
 * Stores an event with the number of the transaction that writes it. Ids are given out in the order of inserts, not
 * of commits, so a reader that went by ids alone could pass one that commits late (ADR 0031). What is told of a volume is for
 * its organization, which need not be the cluster's.
 *
 * @param gone the organization of a volume that this commit has deleted
 */
export async function insertEvent(sql: Sql, event: ClusterEvent, gone?: OrganizationId): Promise<void> {
  const { rowCount } = await sql.query(
    `WITH written AS (
       INSERT INTO event (organization_id, cluster_id, transaction_id, type, severity, subject_kind, subject_id,
         volume_id, message, at)
       SELECT coalesce($9::uuid, (SELECT v.organization_id FROM volume v WHERE v.id = $6::uuid), organization_id), id, pg_current_xact_id()::text::bigint, $2, $3, $4, $5, $6, $7, $8
       FROM cluster WHERE id = $1
       RETURNING organization_id, cluster_id
     )
     SELECT pg_notify('${EVENT_CHANNEL}', concat_ws(' ', organization_id, cluster_id)) FROM written`,
    [
      event.clusterId,
      event.type,
      EVENT_TYPES[event.type].severity,
      event.subject.kind,
      event.subject.id,
      event.volumeId ?? null,
      event.message,
      event.at,
      gone ?? null,
    ],
  );
  if (rowCount === 0) throw conflict(`cluster ${event.clusterId} is gone`);
}
