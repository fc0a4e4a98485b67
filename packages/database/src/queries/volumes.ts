import type { ShownVolume } from '@holdfast/core/lifecycle/shown-volume.js';
import type { VOLUME_FIELDS } from '@holdfast/core/listing/list-fields.js';
import type { ClusterId, ProjectId, VolumeId } from '@holdfast/core/model/ids.js';
import { ownAnswersOf } from '../rows/override-columns.js';
import {
  readShownReplica,
  type ShownReplica,
  type ShownReplicaRow,
  selectShownReplica,
} from '../rows/replica-row.js';
import { readShownVolume, type ShownVolumeRow, selectShownVolume } from '../rows/volume-row.js';
import type { Sql } from '../sql/scope.js';
import {
  type FieldsOf,
  type ListRequest,
  type ListSource,
  listItems,
  listRowsOfEach,
  type Page,
} from './list-rows.js';

/** A replica with what users need to find it. */
export type PlacedReplica = { replica: ShownReplica; zone: string | undefined };
export type VolumeWithReplicas = { volume: ShownVolume; replicas: readonly PlacedReplica[] };

const SHOWN_VOLUME = selectShownVolume('v');
const SHOWN_REPLICA = selectShownReplica('r');

/** Where a volume is looked for: an id of another cluster's volume is not found. */
type VolumeKey = { clusterId: ClusterId; volumeId: VolumeId };

const FIELDS = {
  id: { sql: 'v.id', type: 'id' },
  name: { sql: 'v.name', type: 'text' },
  state: { sql: 'v.state', type: 'text' },
  robustness: { sql: 'v.robustness', type: 'text' },
  size: { sql: 'v.size_bytes', type: 'number' },
  numberOfReplicas: { sql: 'v.number_of_replicas', type: 'number' },
  dataEngine: { sql: 'v.data_engine', type: 'text' },
  projectId: { sql: 'v.project_id', type: 'id' },
  clusterId: { sql: 'v.cluster_id', type: 'id' },
  attachedNodeId: { sql: `coalesce(v.attached_node_id, '00000000-0000-0000-0000-000000000000')`, type: 'id' },
  writtenBytes: { sql: 'v.written_bytes', type: 'number' },
  createdAt: { sql: 'v.created_at', type: 'time' },
  labels: { sql: 'v.id', type: 'labels' },
  sourceVolumeId: {
    sql: `coalesce((v.fill->>'sourceVolumeId')::uuid, '00000000-0000-0000-0000-000000000000')`,
    type: 'id',
  },
  'replicas.nodeId': {
    sql: 'v.id',
    type: 'ids',
    idsWhere: 'SELECT r.volume_id FROM replica r WHERE r.node_id',
  },
  'replicas.diskId': {
    sql: 'v.id',
    type: 'ids',
    idsWhere: 'SELECT r.volume_id FROM replica r WHERE r.disk_id',
  },
  risk: {
    sql: `(CASE WHEN v.attention->>'code' = 'HolderUnreachable' THEN 4 WHEN v.robustness = 'faulted' THEN 3
      WHEN v.robustness = 'unknown' THEN 2 WHEN v.robustness = 'degraded' THEN 1 ELSE 0 END)`,
    type: 'number',
  },
  unplaced: {
    sql: `EXISTS (SELECT FROM replica r WHERE r.volume_id = v.id AND r.intent = 'keep' AND r.disk_id IS NULL)`,
    type: 'boolean',
  },
  overrides: { sql: ownAnswersOf('v'), type: 'texts' },
} as const satisfies FieldsOf<typeof VOLUME_FIELDS>;

/** As the policy says too, but so that the index of an organization's volumes is used. */
const OWN = 'v.organization_id = (SELECT current_organization_id())';

const volumesOf = (clusterId: ClusterId | undefined): ListSource => ({
  columns: SHOWN_VOLUME,
  from: 'volume v',
  key: FIELDS.id,
  fields: FIELDS,
  defaultSort: 'name',
  where:
    clusterId === undefined ? { text: OWN, values: [] } : { text: 'v.cluster_id = $1', values: [clusterId] },
});

/** @param clusterId left out: of all clusters that the caller sees */
export async function listVolumes(
  sql: Sql,
  clusterId: ClusterId | undefined,
  request: ListRequest,
): Promise<Page<VolumeWithReplicas>> {
  const page = await listItems(sql, volumesOf(clusterId), request, readShownVolume);
  return { ...page, items: await withReplicas(sql, page.items) };
}

/**
 * A volume by the versions of the rows that it is shown from. Two readings with one stamp show the same: each committed change gives
 * a row another `xmin`. The node's zone is part of it, because row-level security hides nodes from some callers. The server's start
 * is, because a server that takes over from another counts transactions anew (docs/design/api-contract.md).
 */
export type StampedVolume = { readonly id: VolumeId; readonly projectId: ProjectId; readonly stamp: string };

const STAMPED = 'v.id, v.project_id, v.xmin';

/** Copies are read for the whole page at once: volume by volume, in a subquery, took Postgres half as long again. */
const withStamps = (page: string) => `
  WITH page AS MATERIALIZED (SELECT row_number() OVER () AS list_rank, rows.* FROM (${page}) rows)
  SELECT page.id, page.project_id, page.list_position, encode(sha256(convert_to(
    concat_ws(' ', (SELECT pg_postmaster_start_time()::text), page.xmin, copies.versions), 'UTF8')), 'base64') AS stamp
  FROM page LEFT JOIN (
    SELECT r.volume_id, string_agg(concat_ws(' ', r.id, r.xmin, quote_nullable(n.zone)), ' ' ORDER BY r.id) AS versions
    FROM replica r LEFT JOIN node n ON n.id = r.node_id
    WHERE r.volume_id = ANY (ARRAY(SELECT id FROM page)) GROUP BY r.volume_id
  ) copies ON copies.volume_id = page.id
  ORDER BY page.list_rank`;

/** The same page as `listVolumes`, with only the stamps that tell whether remembered volumes are unchanged. */
export function listStampedVolumes(
  sql: Sql,
  clusterId: ClusterId | undefined,
  request: ListRequest,
): Promise<Page<StampedVolume>> {
  const source = { ...volumesOf(clusterId), columns: STAMPED, around: withStamps };
  return listItems<{ id: VolumeId; project_id: ProjectId; stamp: string }, StampedVolume>(
    sql,
    source,
    request,
    ({ id, project_id: projectId, stamp }) => ({ id, projectId, stamp }),
  );
}

/** A page of volumes for each cluster, by one statement for them and one for their replicas. */
export async function listVolumesOfEach(
  sql: Sql,
  clusterIds: readonly ClusterId[],
  request: ListRequest,
): Promise<Page<VolumeWithReplicas>[]> {
  const pages = await listRowsOfEach<ShownVolumeRow>(sql, clusterIds.map(volumesOf), request);
  const volumes = await withReplicas(
    sql,
    pages.flatMap(({ items }) => items.map(readShownVolume)),
  );
  const byId = new Map(volumes.map((found) => [found.volume.id, found]));
  return pages.map((page) => ({ ...page, items: page.items.flatMap(({ id }) => byId.get(id) ?? []) }));
}

/** Volumes of any cluster, in no order; those that are not there are left out. */
export async function findVolumes(sql: Sql, volumeIds: readonly VolumeId[]): Promise<VolumeWithReplicas[]> {
  const { rows } = await sql.query<ShownVolumeRow>(
    `SELECT ${SHOWN_VOLUME} FROM volume v WHERE v.id = ANY($1)`,
    [volumeIds],
  );
  return withReplicas(sql, rows.map(readShownVolume));
}

export async function findVolume(sql: Sql, key: VolumeKey): Promise<VolumeWithReplicas | undefined> {
  const { rows } = await sql.query<ShownVolumeRow>(
    `SELECT ${SHOWN_VOLUME} FROM volume v WHERE v.id = $1 AND v.cluster_id = $2`,
    [key.volumeId, key.clusterId],
  );
  return (await withReplicas(sql, rows.map(readShownVolume)))[0];
}

async function withReplicas(sql: Sql, volumes: readonly ShownVolume[]): Promise<VolumeWithReplicas[]> {
  if (volumes.length === 0) return [];
  const { rows } = await sql.query<ShownReplicaRow & { zone: string | null }>(
    `SELECT ${SHOWN_REPLICA}, n.zone FROM replica r LEFT JOIN node n ON n.id = r.node_id
     WHERE r.volume_id = ANY($1) ORDER BY r.id`,
    [volumes.map(({ id }) => id)],
    { times: 'text' },
  );
  const byVolume = new Map<VolumeId, PlacedReplica[]>(volumes.map(({ id }) => [id, []]));
  for (const row of rows) {
    byVolume.get(row.volume_id)?.push({ replica: readShownReplica(row), zone: row.zone ?? undefined });
  }
  return volumes.map((volume) => ({ volume, replicas: byVolume.get(volume.id) ?? [] }));
}

/** How many of the cluster's volumes, as far as the tenant sees them, have their copies compared now. */
export async function countVerifications(sql: Sql, clusterId: ClusterId): Promise<number> {
  const { rows } = await sql.query<{ running: number }>(
    `SELECT count(*)::int AS running FROM volume WHERE cluster_id = $1 AND verification->>'state' = 'running'
       AND verification->>'scheduled' IS NULL`,
    [clusterId],
  );
  return rows[0]?.running ?? 0;
}
