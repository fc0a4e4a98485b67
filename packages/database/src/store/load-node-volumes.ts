import type { NodeVolumes } from '@holdfast/control/ports/store.js';
import type { ClusterId, NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import type { RebuildSpeed } from '@holdfast/core/model/rebuild.js';
import type { AffectedPlaces } from '@holdfast/core/model/views.js';
import { type RebuildRow, readRebuild } from '../rows/rebuild-row.js';
import { type ReplicaRow, readReplica } from '../rows/replica-row.js';
import { readVolume, type VolumeRow } from '../rows/volume-row.js';
import type { Sql } from '../sql/scope.js';
import type { ReadFleet } from './fleet-reader.js';

/** See `Store.loadNodeVolumes`. Each part is one statement, which asks indexes by node and by volume. */
export async function loadNodeVolumes(
  sql: Sql,
  readFleet: ReadFleet,
  { clusterId, nodeId }: { clusterId: ClusterId; nodeId: NodeId },
): Promise<NodeVolumes> {
  const fleet = await readFleet(clusterId);
  const { rows } = await sql.query<VolumeRow>(
    `SELECT v.* FROM volume v WHERE v.id IN (
       SELECT volume_id FROM replica WHERE node_id = $1
       UNION
       SELECT id FROM volume WHERE attached_node_id = $1
     ) ORDER BY v.id`,
    [nodeId],
  );
  return { fleet, volumes: await withCopies(sql, rows) };
}

/** See `Store.loadAffectedVolumes`. A user's request: it may read each of the cluster's volumes once. */
export async function loadAffectedVolumes(
  sql: Sql,
  readFleet: ReadFleet,
  {
    clusterId,
    places: { nodeIds, diskIds },
    limit,
  }: {
    clusterId: ClusterId;
    places: AffectedPlaces;
    limit: number;
  },
): Promise<NodeVolumes> {
  const fleet = await readFleet(clusterId);
  const { rows } = await sql.query<VolumeRow>(
    `SELECT v.* FROM volume v WHERE v.id IN (
       SELECT volume_id FROM replica WHERE disk_id = ANY($2)
       UNION
       SELECT id FROM volume WHERE attached_node_id = ANY($3)
       UNION
       SELECT volume_id FROM rebuild WHERE cluster_id = $1 AND state IN ('queued', 'running')
       UNION
       SELECT id FROM volume WHERE cluster_id = $1 AND robustness IN ('degraded', 'faulted')
     ) AND v.cluster_id = $1 ORDER BY v.id LIMIT $4`,
    [clusterId, diskIds, nodeIds, limit],
  );
  return { fleet, volumes: await withCopies(sql, rows) };
}

async function withCopies(sql: Sql, rows: readonly VolumeRow[]): Promise<NodeVolumes['volumes']> {
  const ids = rows.map(({ id }) => id);
  const replicas = await sql.query<ReplicaRow>(
    'SELECT * FROM replica WHERE volume_id = ANY($1) ORDER BY id',
    [ids],
  );
  const rebuilds = await sql.query<RebuildRow>(
    `SELECT * FROM rebuild WHERE volume_id = ANY($1) AND state IN ('queued', 'running') ORDER BY queued_at, id`,
    [ids],
  );
  const replicasOf = byVolume(replicas.rows.map(readReplica));
  const rebuildsOf = byVolume(rebuilds.rows.map(readRebuild));
  return rows.map(readVolume).map((volume) => ({
    volume,
    replicas: replicasOf(volume.id),
    rebuilds: rebuildsOf(volume.id),
  }));
}

function byVolume<Row extends { volumeId: VolumeId }>(
  rows: readonly Row[],
): (id: VolumeId) => readonly Row[] {
  const groups = new Map<VolumeId, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.volumeId);
    if (group === undefined) groups.set(row.volumeId, [row]);
    else group.push(row);
  }
  return (id) => groups.get(id) ?? [];
}

/** See `Store.loadRebuildSpeeds`. */
export async function loadRebuildSpeeds(
  sql: Sql,
  clusterId: ClusterId,
  limit: number,
): Promise<RebuildSpeed[]> {
  const { rows } = await sql.query<RebuildSpeed>(
    `SELECT (bytes->>'sent')::float8 AS bytes,
       extract(epoch FROM finished_at - started_at)::float8 AS seconds
     FROM rebuild WHERE cluster_id = $1 AND state = 'succeeded' AND started_at IS NOT NULL
     ORDER BY queued_at DESC LIMIT $2`,
    [clusterId, limit],
  );
  return rows.map(({ bytes, seconds }) => ({ bytes, seconds }));
}
