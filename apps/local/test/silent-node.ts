/** A node whose agent is dead for longer than a test waits. */
import { createPool } from '@holdfast/database/sql/pool.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import type { TestCluster } from '@holdfast/testkit/test-cluster.js';

/** An alert tells of a node that is silent for a minute. */
const SILENT_MS = 120_000;

/** Kills the agent, waits until its node is not ready, and has it so for two minutes in the database. */
export async function killLongAgo(cluster: TestCluster, name: string): Promise<void> {
  const { nodeId } = cluster.agent(name);
  cluster.killAgent(name);
  const pool = createPool(cluster.stack.ownerUrl, { connectionsMax: 1, applicationName: 'test' });
  const since = new Date(Date.now() - SILENT_MS).toISOString();
  await eventually(
    `${name} is not ready`,
    () =>
      pool.query(
        `UPDATE node SET conditions = (
           SELECT jsonb_agg(c || jsonb_build_object('lastTransitionAt', $2::text)) FROM jsonb_array_elements(conditions) c)
         WHERE id = $1 AND conditions @> '[{"type": "Ready", "status": "False"}]'`,
        [nodeId, since],
      ),
    ({ rowCount }) => rowCount === 1,
  );
  await pool.end();
}
