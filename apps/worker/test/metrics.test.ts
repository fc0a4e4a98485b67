/** The worker's metrics as they are served: of what is in Postgres, and of itself when Postgres is away. */
import { createVolume } from '@holdfast/control/use-cases/create-volume.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId } from '@holdfast/core/model/ids.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { PostgresStore } from '@holdfast/database/store/postgres-store.js';
import { aDiskReport, aHeartbeat, testId } from '@holdfast/testkit/builders.js';
import {
  makeNodesReady,
  seedTestDatabase,
  startTestDatabase,
  type TestDatabase,
} from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WorkerMetrics } from '../src/metrics/worker-metrics.js';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await startTestDatabase();
  pool = createPool(database.systemUrl, { connectionsMax: 3, applicationName: 'metrics' });
});
afterAll(async () => {
  await pool?.end();
  await database?.stop();
});

test('tell of clusters, nodes, disks, rebuilds and what waits, by names of a bounded number', async () => {
  const { organizationId, projectId, clusterId } = await seedTestDatabase(database);
  const store = new PostgresStore(systemScope(pool));
  const disks = [aDiskReport(asId(testId(801)))];
  await store.recordHeartbeat(clusterId, aHeartbeat('node-1', { disks }));
  await makeNodesReady(pool);
  const ports = { store, clock: systemClock, random: systemRandom };
  const owner = { organizationId, projectId, clusterId };
  const { volumeId } = await createVolume(ports, {
    ...owner,
    name: 'v',
    sizeBytes: GIB,
    numberOfReplicas: 3,
  });
  await pool.query(`UPDATE volume SET robustness = 'degraded' WHERE id = $1`, [volumeId]);
  await pool.query(
    `UPDATE replica SET healthy_at = now(), provisioned = true WHERE volume_id = $1 AND disk_id IS NOT NULL`,
    [volumeId],
  );
  const metrics = new WorkerMetrics(systemScope(pool), () => ({ volume: 2, cluster: 0 }));
  metrics.ran('volume', 'idle', 0.01);
  metrics.swept();
  const text = await metrics.text();
  const of = `cluster="${clusterId}"`;
  for (const line of [
    `holdfast_cluster_info{${of},name="local",organization="${organizationId}"} 1`,
    `holdfast_volumes{${of},state="creating"} 1`,
    `holdfast_volume_capacity_bytes{${of}} ${GIB}`,
    `holdfast_volume_robustness{${of},robustness="degraded"} 1`,
    `holdfast_volume_robustness{${of},robustness="faulted"} 0`,
    `holdfast_redundancy_missing_replicas{${of}} 2`,
    `holdfast_volumes_on_last_copy{${of}} 1`,
    `holdfast_node_status{${of},node="node-1",condition="ready"} 1`,
    `holdfast_reconcile_runs_total{kind="volume",outcome="idle"} 1`,
    `holdfast_reconcile_long_runs{kind="volume"} 2`,
  ]) {
    expect(text).toContain(`${line}\n`);
  }
  expect(text).toMatch(/holdfast_disk_capacity_bytes\{[^}]*node="node-1"[^}]*\} [1-9]/);
  expect(text).toMatch(/^holdfast_outbox_lag_seconds [0-9.e-]+$/m);
  expect(text).toMatch(/^# TYPE holdfast_rebuild_bytes_sent_total counter$/m);
  expect(text).not.toContain(volumeId);
});

test('tell of the process while the database is away', async () => {
  const nowhere = createPool('postgres://nobody@127.0.0.1:1/none', {
    connectionsMax: 1,
    applicationName: 'none',
  });
  const metrics = new WorkerMetrics(systemScope(nowhere), () => ({ volume: 0, cluster: 0 }));
  const text = await metrics.text();
  await nowhere.end();
  expect(text).toContain('holdfast_scrape_failures_total 1\n');
  expect(text).toContain('holdfast_process_resident_memory_bytes ');
});
