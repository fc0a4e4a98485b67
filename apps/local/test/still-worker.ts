import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { ConsoleVisit } from '@holdfast/testkit/console-visit.js';
import type { LocalStack } from '@holdfast/testkit/local-stack.js';
import { startTestDatabase } from '@holdfast/testkit/test-database.js';

/** A user at the console of a stack whose worker stands still, so that rows which a test adds stay as they are. */
export type StillVisit = { readonly visit: ConsoleVisit; readonly pool: Pool; end(): Promise<void> };

/** @param prepare what the worker has to do before it stands still */
export async function visitWithStillWorker(
  executable: string,
  prepare: (local: LocalStack) => Promise<void>,
): Promise<StillVisit> {
  const database = await startTestDatabase();
  const pool = createPool(database.ownerUrl, { connectionsMax: 1, applicationName: 'test' });
  const visit = await ConsoleVisit.begin(executable, prepare, { env: { DATABASE_URL: database.ownerUrl } });
  const { worker } = visit.stack.local.processes;
  process.kill(worker, 'SIGSTOP');
  const end = async () => {
    process.kill(worker, 'SIGCONT');
    await visit.end();
    await pool.end();
    await database.stop();
  };
  return { visit, pool, end };
}
