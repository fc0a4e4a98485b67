import { percentAfterReport } from '@holdfast/core/lifecycle/conclude-heartbeat.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { asJson } from '../sql/table.js';
import type { HeartbeatContext } from './heartbeat-context.js';

/**
 * Stores the progress of running rebuilds and returns the volumes for which it moved. The state is not touched: it is
 * the reconciler's, which is woken when a phase changes.
 */
export async function storeRebuildProgress({
  sql,
  nodeId,
  heartbeat,
}: HeartbeatContext): Promise<VolumeId[]> {
  const reports = heartbeat.engines.flatMap(({ rebuilds }) => rebuilds);
  if (reports.length === 0) return [];
  const { rows } = await sql.query<{ id: string; percent: number }>(
    `SELECT b.id, b.percent FROM rebuild b JOIN volume v ON v.id = b.volume_id
     WHERE b.id = ANY($1) AND b.state = 'running' AND v.attached_node_id = $2 ORDER BY b.id FOR UPDATE OF b`,
    [reports.map(({ rebuildId }) => rebuildId), nodeId],
  );
  const percentBefore = new Map(rows.map(({ id, percent }) => [id, percent]));
  const updates = reports
    .filter(({ rebuildId }) => percentBefore.has(rebuildId))
    .map((report) => ({
      id: report.rebuildId,
      phase: report.phase,
      bytes: report.bytes,
      rate: report.rateBytesPerSecond,
      snapshots: report.snapshots,
      percent: percentAfterReport(report, percentBefore.get(report.rebuildId) ?? 0),
    }));
  if (updates.length === 0) return [];
  const changed = await sql.query<{ volume_id: VolumeId }>(
    `UPDATE rebuild b SET phase = x.phase, bytes = x.bytes, rate_bytes_per_second = x.rate, snapshots = x.snapshots,
       percent = x.percent
     FROM jsonb_to_recordset($1::jsonb) AS x(id uuid, phase text, bytes jsonb, rate bigint, snapshots jsonb,
       percent double precision)
     WHERE b.id = x.id AND (b.phase <> x.phase OR b.bytes <> x.bytes OR b.rate_bytes_per_second <> x.rate)
     RETURNING b.volume_id`,
    [asJson(updates)],
  );
  return changed.rows.map(({ volume_id }) => volume_id);
}
