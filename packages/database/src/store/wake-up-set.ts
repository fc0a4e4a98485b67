import { DUE_AT_ONCE } from '@holdfast/control/ports/store.js';
import type { ClusterId, NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import { LANES, type Lane } from '@holdfast/core/policy/work-lane.js';
import { currentTraceparent } from '@holdfast/tracing/spans.js';
import { type Sql, traceparentOf } from '../sql/scope.js';

/** Wakes the relay, which turns outbox rows into jobs. */
export const OUTBOX_CHANNEL = 'holdfast_outbox';
/** Tells live readers what changed: `<organization> <cluster> <kind> <id>`. Lost ones cost a reader one refresh. */
export const CHANGE_CHANNEL = 'holdfast_change';

/** Changes of one transaction, collected while it runs. */
export class WakeUpSet {
  readonly volumes = new Set<VolumeId>();
  readonly clusters = new Set<ClusterId>();
  /** A volume whose own reconciler makes this transaction, and continues: it need not be woken. */
  lookedAfter: VolumeId | undefined;

  /** @param lane where its volumes wait to be reconciled */
  constructor(readonly lane: Lane = 'request') {}

  volume(id: VolumeId): void {
    this.volumes.add(id);
  }

  cluster(id: ClusterId): void {
    this.clusters.add(id);
  }
}

const LOCKED = 'locked AS (SELECT id FROM volume WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE),';

/**
 * Marks the volumes due and writes their wake-ups, in the transaction that changed them, and notifies the relay and live readers.
 * Postgres delivers the notifications only when the transaction commits.
 *
 * A wake-up belongs to the organization that requested the change, if one did: the cluster may be another one's.
 *
 * Several volumes are locked in id order, so that two transactions that touch the same ones don't deadlock. One volume needs no
 * order, and most commits touch one.
 */
export async function writeOutbox(
  sql: Sql,
  { volumes, clusters, lookedAfter, lane }: WakeUpSet,
): Promise<void> {
  if (volumes.size === 0 && clusters.size === 0) return;
  const isOne = volumes.size <= 1;
  await sql.query(
    `WITH ${isOne ? '' : LOCKED} marked AS (
       UPDATE volume v SET reconcile_due_at = $3, reconcile_marks = v.reconcile_marks + 1
       ${isOne ? 'WHERE v.id = ANY($1)' : 'FROM locked WHERE v.id = locked.id'}
       RETURNING v.organization_id, v.cluster_id, v.id
     ), targets AS (
       SELECT organization_id, cluster_id, 'volume' AS kind, id FROM marked
       UNION ALL
       SELECT organization_id, id, 'cluster', id FROM cluster WHERE id = ANY($2)
     ), written AS (
       INSERT INTO outbox (organization_id, kind, target_id, traceparent, lane)
       SELECT coalesce((SELECT current_organization_id()), organization_id), kind, id, $5::text,
         CASE kind WHEN 'cluster' THEN $7::smallint ELSE $6::smallint END FROM targets
       WHERE id IS DISTINCT FROM $4::uuid RETURNING id
     ), told AS (SELECT pg_notify('${OUTBOX_CHANNEL}', '') FROM written LIMIT 1)
     SELECT pg_notify('${CHANGE_CHANNEL}', concat_ws(' ', organization_id, cluster_id, kind, id)),
       (SELECT count(*) FROM told)
     FROM targets`,
    [
      [...volumes],
      [...clusters],
      DUE_AT_ONCE,
      lookedAfter ?? null,
      traceparentOf(sql) ?? currentTraceparent() ?? null,
      LANES.indexOf(lane),
      LANES.indexOf('safety'),
    ],
  );
}

/** Notifies live readers of a displayed change of a node for which no reconciler has to be woken. */
export async function announceNode(sql: Sql, nodeId: NodeId): Promise<void> {
  await sql.query(
    `SELECT pg_notify('${CHANGE_CHANNEL}', concat_ws(' ', organization_id, cluster_id, 'node', id))
     FROM node WHERE id = $1`,
    [nodeId],
  );
}

/** Tells live readers of progress for which no reconciler has to be woken. */
export async function announceProgress(sql: Sql, volumes: readonly VolumeId[]): Promise<void> {
  if (volumes.length === 0) return;
  await sql.query(
    `SELECT pg_notify('${CHANGE_CHANNEL}', concat_ws(' ', organization_id, cluster_id, 'rebuild', id))
     FROM volume WHERE id = ANY($1)`,
    [volumes],
  );
}
