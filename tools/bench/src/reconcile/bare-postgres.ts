// What the same machine and the same Postgres do without Holdfast, for comparison.
import { createPool } from '@holdfast/database/sql/pool.js';
import { idOf } from './cluster-shape.js';
import type { MeasuredCluster } from './measured-cluster.js';

/** As many as the worker has. */
const CONNECTIONS = 10;
const SWEEP_SECONDS = 5;
const READS = 5;

/** Transactions, those of them that write, and the rows that these change. */
export type Work = { readonly transactions: number; readonly writing: number; readonly writes: number };

/** Seconds for as much work by bare Postgres: one read by key in each transaction, and single updates by key. */
export async function bareTransactions(systemUrl: string, work: Work): Promise<number> {
  const pool = createPool(systemUrl, { connectionsMax: CONNECTIONS, applicationName: 'bench' });
  const startedAt = performance.now();
  let next = 0;
  const one = async (index: number) => {
    const client = await pool.connect();
    const id = idOf('volume', index % 1_000);
    await client.query('BEGIN');
    await client.query('SELECT * FROM volume WHERE id = $1', [id]);
    const writes = index < work.writing ? share(work.writes, index, work.writing) : 0;
    for (let write = 0; write < writes; write += 1) {
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

/** Of a sum in equal parts the one at an index: whole numbers, which make up the sum. */
function share(sum: number, index: number, parts: number): number {
  return Math.floor(((index + 1) * sum) / parts) - Math.floor((index * sum) / parts);
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
