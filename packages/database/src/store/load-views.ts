import type { FleetView, VolumeDue, VolumeView } from '@holdfast/control/ports/store.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, NodeId, SnapshotId, VolumeId } from '@holdfast/core/model/ids.js';
import type { StorageNode } from '@holdfast/core/model/node.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import type { ClusterRelocations } from '@holdfast/core/model/relocation.js';
import type { ClusterSettings } from '@holdfast/core/model/setting.js';
import { effectiveSettings } from '@holdfast/core/settings/effective.js';
import { type DiskRow, readDisk } from '../rows/disk-row.js';
import { type NodeRow, readNode } from '../rows/node-row.js';
import { type RebuildRow, readRebuild } from '../rows/rebuild-row.js';
import { type ReplicaRow, readRelocation, readReplica } from '../rows/replica-row.js';
import { readSnapshot, type SnapshotRow } from '../rows/snapshot-row.js';
import { readVolume, type VolumeRow } from '../rows/volume-row.js';
import { OF_GRANT, REPORTED_AT } from '../sql/of-grant.js';
import type { Sql } from '../sql/scope.js';
import type { ReadFleet } from './fleet-reader.js';
import { loadListening } from './listening.js';

/** Ended rebuilds shown to the reconciler: enough to count failures in a row for its back-off. */
const ENDED_REBUILDS_MAX = 10;

type ObservationRow = {
  node_id: NodeId;
  boot_id: string;
  observed_at: Date;
  report: NonNullable<VolumeView['engine']>['report'];
};

export async function loadVolumeView(
  sql: Sql,
  readFleet: ReadFleet,
  volumeId: VolumeId,
): Promise<(VolumeView & { readonly due: VolumeDue }) | undefined> {
  const { rows } = await sql.query<VolumeRow>('SELECT * FROM volume WHERE id = $1', [volumeId]);
  const row = rows[0];
  if (row === undefined) return undefined;
  const volume = readVolume(row);
  const fleet = await readFleet(volume.clusterId);
  const replicas = await sql.query<ReplicaRow>('SELECT * FROM replica WHERE volume_id = $1 ORDER BY id', [
    volumeId,
  ]);
  const snapshots = await sql.query<SnapshotRow>(
    'SELECT * FROM snapshot WHERE volume_id = $1 ORDER BY created_at, id',
    [volumeId],
  );
  return {
    volume,
    replicas: replicas.rows.map(readReplica),
    snapshots: snapshots.rows.map(readSnapshot),
    rebuilds: await loadRebuildsOf(sql, volumeId),
    clones: await loadClonesOf(sql, volumeId),
    fleet,
    engine: await loadEngine(sql, volumeId),
    relocations: await loadRelocations(sql, volume.clusterId),
    due: { at: row.reconcile_due_at ?? undefined, marks: row.reconcile_marks },
  };
}

async function loadRebuildsOf(sql: Sql, volumeId: VolumeId): Promise<Rebuild[]> {
  const { rows } = await sql.query<RebuildRow>(
    `SELECT * FROM (
       SELECT * FROM rebuild WHERE volume_id = $1 AND state IN ('queued', 'running')
       UNION ALL
       (SELECT * FROM rebuild WHERE volume_id = $1 AND state NOT IN ('queued', 'running')
        ORDER BY queued_at DESC, id DESC LIMIT $2)
     ) recent ORDER BY queued_at, id`,
    [volumeId, ENDED_REBUILDS_MAX],
  );
  return rows.map(readRebuild);
}

async function loadClonesOf(sql: Sql, volumeId: VolumeId): Promise<VolumeView['clones']> {
  const { rows } = await sql.query<{ id: VolumeId; snapshot_id: SnapshotId }>(
    `SELECT id, fill->>'snapshotId' AS snapshot_id FROM volume
     WHERE fill IS NOT NULL AND fill->>'sourceVolumeId' = $1 ORDER BY id`,
    [volumeId],
  );
  return rows.map((row) => ({ volumeId: row.id, snapshotId: row.snapshot_id }));
}

/**
 * In the order of their index, and bounded: without either, Postgres reads all replicas as long as it has no statistics of
 * them. More than these are never under way at once.
 */
export const RELOCATING =
  'SELECT id, volume_id, relocation FROM replica WHERE relocation IS NOT NULL ORDER BY volume_id LIMIT 10000';

/** At most a few for each node: rebuilds are admitted, and auto-balance has a bound of its own. */
async function loadRelocations(sql: Sql, clusterId: ClusterId): Promise<ClusterRelocations> {
  const { rows } = await sql.query<{
    balance_version: number;
    under_way: { volumeId: VolumeId; relocation: NonNullable<ReplicaRow['relocation']> }[];
  }>(
    `SELECT c.balance_version,
       coalesce((SELECT jsonb_agg(jsonb_build_object('volumeId', r.volume_id, 'relocation', r.relocation) ORDER BY r.id)
         FROM (${RELOCATING}) r JOIN volume v ON v.id = r.volume_id
         WHERE v.cluster_id = c.id), '[]') AS under_way
     FROM cluster c WHERE c.id = $1`,
    [clusterId],
  );
  const row = rows[0];
  return {
    version: row?.balance_version ?? 0,
    underWay: (row?.under_way ?? []).map(({ volumeId, relocation }) => {
      return { volumeId, relocation: readRelocation(relocation) };
    }),
  };
}

/** Only a report of the current epoch, from the attached node's current boot, says anything about the volume. */
async function loadEngine(sql: Sql, volumeId: VolumeId): Promise<VolumeView['engine']> {
  const { rows } = await sql.query<ObservationRow>(
    `SELECT o.node_id, o.boot_id, ${REPORTED_AT} AS observed_at, o.report
     FROM engine_observation o
     JOIN volume v ON v.id = o.volume_id AND v.attached_node_id = o.node_id AND ${OF_GRANT}
     JOIN node n ON n.id = o.node_id AND n.boot_id = o.boot_id
     WHERE o.volume_id = $1`,
    [volumeId],
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  return { nodeId: row.node_id, bootId: row.boot_id, at: row.observed_at, report: row.report };
}

export async function loadFleetView(sql: Sql, clusterId: ClusterId): Promise<FleetView> {
  const { settings, settingsVersion } = await loadSettings(sql, clusterId);
  const disks = await sql.query<DiskRow>('SELECT * FROM disk WHERE cluster_id = $1 ORDER BY id', [clusterId]);
  const listening = await loadListening(sql, clusterId);
  return {
    clusterId,
    settings,
    settingsVersion,
    ...(listening === undefined ? {} : { listening }),
    nodes: await loadNodes(sql, clusterId),
    disks: disks.rows.map(readDisk),
  };
}

export async function loadNodes(sql: Sql, clusterId: ClusterId): Promise<StorageNode[]> {
  const { rows } = await sql.query<NodeRow>('SELECT * FROM node WHERE cluster_id = $1 ORDER BY id', [
    clusterId,
  ]);
  return rows.map(readNode);
}

type ClusterSettingsRow = {
  settings_version: number;
  overrides: Record<string, unknown>;
};

export async function loadSettings(
  sql: Sql,
  clusterId: ClusterId,
): Promise<{ settings: ClusterSettings; settingsVersion: number }> {
  const { rows } = await sql.query<ClusterSettingsRow>(
    `SELECT c.settings_version,
       coalesce((SELECT jsonb_object_agg(s.name, s.value) FROM setting s WHERE s.cluster_id = c.id), '{}') AS overrides
     FROM cluster c WHERE c.id = $1`,
    [clusterId],
  );
  const row = rows[0];
  if (row === undefined) {
    throw new StorageFault('cluster.not_found', { publicMessage: `there is no cluster ${clusterId}` });
  }
  return {
    settings: effectiveSettings(row.overrides),
    settingsVersion: row.settings_version,
  };
}
