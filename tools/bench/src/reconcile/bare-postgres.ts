// What the same machine and the same Postgres do without Holdfast, for comparison.
import { createPool } from '@holdfast/database/sql/pool.js';
import { idOf } from './cluster-shape.js';
import type { MeasuredCluster } from './measured-cluster.js';

/** As many as the worker has. */
const CONNECTIONS = 10;
const SWEEP_SECONDS = 5;
const READS = 5;

/** Seconds for as many transactions with as many changed rows between them: one read by key each, and single updates. */
export async function bareTransactions(
  systemUrl: string,
  work: { transactions: number; writes: number },
): Promise<number> {
  const pool = createPool(systemUrl, { connectionsMax: CONNECTIONS, applicationName: 'bench' });
  const startedAt = performance.now();
  let next = 0;
  const one = async (index: number) => {
    const client = await pool.connect();
    const id = idOf('volume', index % 1_000);
    await client.query('BEGIN');
    await client.query('SELECT * FROM volume WHERE id = $1', [id]);
    const until = Math.floor(((index + 1) * work.writes) / work.transactions);
    for (let write = Math.floor((index * work.writes) / work.transactions); write < until; write += 1) {
      await client.query('UPDATE volume SET reconcile_marks = reconcile_marks + 1 WHERE id = $1', [id]);
    }
    await client.query('COMMIT');
    client.release();
  };
  const runner = async () => {
    while (next < work.transactions) await one(next++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, runner));
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.end();
  return seconds;
}

/** Share of a core, in per cent, of reading all nodes and disks once in each interval of the sweep, and nothing else. */
export async function bareReads({ pool }: MeasuredCluster): Promise<number> {
  const startedAt = performance.now();
  for (let read = 0; read < READS; read += 1) {
    await pool.query('SELECT * FROM node ORDER BY id');
    await pool.query('SELECT * FROM disk ORDER BY id');
  }
  const seconds = (performance.now() - startedAt) / 1000 / READS;
  return (100 * seconds) / SWEEP_SECONDS;
}
