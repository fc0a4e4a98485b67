// Nodes and disks of a measured cluster, as rows: their agents are always ready, and nothing calls them.
import type { LocalSeed } from '@holdfast/database/seed-local.js';
import type { Pool } from '@holdfast/database/sql/pool.js';
import { GIB } from './creates.js';

export type FleetSize = { readonly nodes: number; readonly disksPerNode: number; readonly zones: number };

export async function addFleet(
  pool: Pool,
  { organizationId, clusterId }: LocalSeed,
  { nodes, disksPerNode, zones }: FleetSize,
): Promise<void> {
  const ready = JSON.stringify(
    ['Ready', 'Schedulable'].map((type) => ({
      type,
      status: 'True',
      reason: '',
      message: '',
      lastTransitionAt: '2026-01-01T00:00:00.000Z',
    })),
  );
  await pool.query(
    `INSERT INTO node (id, organization_id, cluster_id, name, zone, conditions, control_url, boot_id,
       last_heartbeat_at, created_at)
     SELECT gen_random_uuid(), $1, $2, 'node-' || n, 'zone-' || n % $4, $5, 'http://127.0.0.1:1', gen_random_uuid(),
       now(), now()
     FROM generate_series(1, $3) n`,
    [organizationId, clusterId, nodes, zones, ready],
  );
  await pool.query(
    `INSERT INTO disk (id, organization_id, cluster_id, node_id, name, path, type, file_system,
       storage_maximum_bytes, storage_available_bytes, conditions, created_at)
     SELECT gen_random_uuid(), n.organization_id, n.cluster_id, n.id, 'disk-' || d, '/disks/' || d, 'filesystem', 'ext4',
       4000 * $2::bigint, (3000 + (d * 7919 + hashtext(n.name)) % 500) * $2::bigint, $3, now()
     FROM node n, generate_series(1, $1) d`,
    [disksPerNode, GIB, ready],
  );
  await pool.query('ANALYZE');
}
