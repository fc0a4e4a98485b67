import type { ClusterEvent } from '@holdfast/core/model/event.js';
import {
  CAUSE_TYPES,
  claimsEffects,
  DISK_EVENT_CORRELATION_SECONDS,
  EARLY_EFFECTS,
} from '@holdfast/core/model/event-cause.js';
import { EVENT_TYPES } from '@holdfast/core/model/event-types.js';
import type { OrganizationId } from '@holdfast/core/model/ids.js';
import { conflict } from '../sql/errors.js';
import type { Sql } from '../sql/scope.js';

/** Tells live readers that there is something new to read: `<organization> <cluster>`. */
export const EVENT_CHANNEL = 'holdfast_event';

/** Is an event one that others may follow from? As the partial index has it, which finds the last one of a place. */
export const IS_CAUSE = `c.type IN ('${CAUSE_TYPES.join("', '")}')`;

/**
 * Stores an event with the number of its transaction. Ids are given out in the order of inserts, not of commits, so a reader that
 * went by ids alone could pass one that commits late (ADR 0031). An event about a volume belongs to its organization, which need not
 * be the cluster's. Its cause is the last event about the place that it names, as far as that organization sees it (ADR 0228).
 *
 * @param gone the organization of a volume that this commit has deleted
 */
export async function insertEvent(sql: Sql, event: ClusterEvent, gone?: OrganizationId): Promise<void> {
  const { rows } = await sql.query<{ id: number }>(
    `WITH home AS (
       SELECT id, coalesce($9::uuid, (SELECT v.organization_id FROM volume v WHERE v.id = $6::uuid), organization_id)
         AS organization_id
       FROM cluster WHERE id = $1
     ), written AS (
       INSERT INTO event (organization_id, cluster_id, transaction_id, type, severity, subject_kind, subject_id,
         volume_id, message, at, cause_id)
       SELECT h.organization_id, h.id, pg_current_xact_id()::text::bigint, $2, $3, $4, $5, $6, $7, $8,
         coalesce((SELECT c.id FROM event c WHERE c.subject_id = $10 AND ${IS_CAUSE}
           AND c.organization_id = h.organization_id ORDER BY c.id DESC LIMIT 1), 0)
       FROM home h
       RETURNING id, organization_id, cluster_id
     )
     SELECT id, pg_notify('${EVENT_CHANNEL}', concat_ws(' ', organization_id, cluster_id)) FROM written`,
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
      event.cause?.id ?? null,
    ],
  );
  const [written] = rows;
  if (written === undefined) throw conflict(`cluster ${event.clusterId} is gone`);
  if (claimsEffects(event)) await claimEffects(sql, event, written.id);
}

/**
 * Makes a loss the cause of earlier events that followed from it: engines drop copies on a dead node at once, and its silence is
 * judged later. Earlier events are failures of copies there since the node was last heard, and their effects on volumes.
 */
async function claimEffects(sql: Sql, { clusterId, subject, at }: ClusterEvent, id: number): Promise<void> {
  const place = subject.kind === 'node' ? 'r.node_id' : 'r.disk_id';
  const since =
    subject.kind === 'node'
      ? '(SELECT n.last_heartbeat_at FROM node n WHERE n.id = $2)'
      : `$5::timestamptz - interval '${DISK_EVENT_CORRELATION_SECONDS} seconds'`;
  await sql.query(
    `WITH lost AS (
       SELECT r.id, r.volume_id, s.since FROM (SELECT ${since} AS since) s
       JOIN replica r ON ${place} = $2 AND r.failed_at >= s.since
     )
     UPDATE event e SET cause_id = $3
     FROM lost l, event claimed
     WHERE claimed.id = $3 AND e.cluster_id = $1 AND e.organization_id = claimed.organization_id
       AND e.at >= l.since AND e.at <= $5::timestamptz AND e.id < $3 AND e.cause_id = 0 AND e.type = ANY ($4)
       AND CASE e.type WHEN 'ReplicaFailed' THEN e.subject_id = l.id::text ELSE e.volume_id = l.volume_id END`,
    [clusterId, subject.id, id, EARLY_EFFECTS, at],
  );
}
