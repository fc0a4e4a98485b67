import { engineSignature } from '@holdfast/core/lifecycle/conclude-heartbeat.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { asJson } from '../sql/table.js';
import type { HeartbeatContext } from './heartbeat-context.js';

/**
 * Stores the reports of the node's engines, and wakes the volumes with news.
 *
 * An engine that is no longer reported is gone: its observation is deleted, and its volume is woken. Reported modes stay in the
 * report: the volume's plan concludes the replicas' modes from it. Written bytes reach the volume's row only from the engine to which
 * the volume is attached: at its epoch, which a database that lost commits may have granted twice, and under its grant.
 *
 * @returns the volumes of which an engine's report is stored
 */
export async function storeEngines(
  context: HeartbeatContext,
  rebooted: boolean,
): Promise<ReadonlySet<VolumeId>> {
  if (rebooted) await withdrawAddresses(context);
  const observed = await storeObservations(context);
  if (context.heartbeat.engines.length > 0) await storeWrittenBytes(context);
  return observed;
}

/**
 * The engines of the agent's life before are gone; `engine_boot_id` stays, so that the plan sees a new one is needed. The
 * node's fan-out marks the other volumes of the node.
 */
async function withdrawAddresses({ sql, nodeId, touched }: HeartbeatContext): Promise<void> {
  const { rows } = await sql.query<{ id: VolumeId }>(
    `UPDATE volume SET state = 'attaching', endpoint = NULL, version = version + 1
     WHERE attached_node_id = $1 AND state = 'attached' RETURNING id`,
    [nodeId],
  );
  for (const { id } of rows) touched.volume(id);
}

async function storeObservations({
  sql,
  nodeId,
  heartbeat,
  now,
  touched,
}: HeartbeatContext): Promise<ReadonlySet<VolumeId>> {
  const { rows: known } = await sql.query<{ volume_id: VolumeId; signature: string; boot_id: string }>(
    'SELECT volume_id, signature, boot_id FROM engine_observation WHERE node_id = $1',
    [nodeId],
  );
  const before = new Map(known.map((row) => [row.volume_id, `${row.boot_id} ${row.signature}`]));
  const observed = new Set(before.keys());
  const reported = heartbeat.engines.map((report) => ({ report, signature: engineSignature(report) }));
  if (reported.length > 0) {
    // The join drops engines of volumes that are gone, or that belong to another cluster. A report that is stored already is
    // not written again: when it was last heard is when its node was (`REPORTED_AT`).
    const { rows } = await sql.query<{ volume_id: VolumeId; signature: string }>(
      `INSERT INTO engine_observation (volume_id, node_id, organization_id, cluster_id, boot_id, epoch, observed_at,
         signature, report)
       SELECT v.id, n.id, v.organization_id, v.cluster_id, $2, (x.report->>'epoch')::bigint, $3, x.signature, x.report
       FROM jsonb_to_recordset($4::jsonb) AS x(report jsonb, signature text)
       JOIN volume v ON v.id = (x.report->>'volumeId')::uuid
       JOIN node n ON n.id = $1 AND n.cluster_id = v.cluster_id
       WHERE NOT EXISTS (SELECT FROM engine_observation o WHERE o.volume_id = v.id AND o.node_id = n.id
         AND o.boot_id = $2 AND o.signature = x.signature AND o.report = x.report)
       ON CONFLICT (volume_id, node_id) DO UPDATE SET boot_id = excluded.boot_id, epoch = excluded.epoch,
         observed_at = excluded.observed_at, signature = excluded.signature, report = excluded.report
       RETURNING volume_id, signature`,
      [nodeId, heartbeat.node.bootId, now, asJson(reported)],
    );
    for (const row of rows) {
      observed.add(row.volume_id);
      if (before.get(row.volume_id) !== `${heartbeat.node.bootId} ${row.signature}`)
        touched.volume(row.volume_id);
    }
  }
  await forgetMissing({ sql, nodeId, heartbeat, touched }, known.length);
  return observed;
}

async function forgetMissing(
  { sql, nodeId, heartbeat, touched }: Pick<HeartbeatContext, 'sql' | 'nodeId' | 'heartbeat' | 'touched'>,
  knownCount: number,
): Promise<void> {
  if (knownCount === 0) return;
  const { rows } = await sql.query<{ volume_id: VolumeId }>(
    'DELETE FROM engine_observation WHERE node_id = $1 AND volume_id <> ALL($2) RETURNING volume_id',
    [nodeId, heartbeat.engines.map(({ volumeId }) => volumeId)],
  );
  for (const { volume_id } of rows) touched.volume(volume_id);
}

/** The one condition under which an engine's report counts for its volume. */
const SPEAKS_FOR =
  'v.attached_node_id = $1 AND v.epoch = x.epoch AND coalesce(v.grant_id = x.grant_id, true)';

async function storeWrittenBytes({ sql, nodeId, heartbeat: { engines } }: HeartbeatContext): Promise<void> {
  await sql.query(
    `UPDATE volume v SET written_bytes = x.written
     FROM unnest($2::uuid[], $3::bigint[], $4::uuid[], $5::bigint[]) AS x(id, epoch, grant_id, written)
     WHERE v.id = x.id AND ${SPEAKS_FOR} AND v.written_bytes <> x.written`,
    [
      nodeId,
      engines.map(({ volumeId }) => volumeId),
      engines.map(({ epoch }) => epoch),
      engines.map(({ grantId }) => grantId ?? null),
      engines.map(({ writtenBytes }) => writtenBytes),
    ],
  );
}
