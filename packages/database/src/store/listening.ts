import type { FleetView } from '@holdfast/control/ports/store.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { type Scope, type Sql, unsyncedTransaction } from '../sql/scope.js';

/** How often an API process notes that it listens. */
export const LISTENING_INTERVAL_MS = 1_000;
/** Three of them: after a longer silence of all API processes, or of Postgres, listening has begun anew. */
export const LISTENING_BREAK = "interval '3 seconds'";

/**
 * Notes for every cluster that heartbeats can be recorded now. After a break, or when this server's clock was set back,
 * it counts from now on.
 */
export async function noteListening(system: Scope): Promise<void> {
  // A note is lost only when Postgres itself was unavailable, and listening begins anew in any case.
  await unsyncedTransaction(system, (sql) =>
    sql.query(
      `INSERT INTO cluster_listening AS l (cluster_id, organization_id, since, at)
       SELECT id, organization_id, now(), now() FROM cluster ORDER BY id
       ON CONFLICT (cluster_id) DO UPDATE SET at = now(),
         since = CASE WHEN l.at BETWEEN now() - ${LISTENING_BREAK} AND now() + ${LISTENING_BREAK} THEN least(l.since, now()) ELSE now() END`,
    ),
  );
}

/** Judged as of the last moment at which a heartbeat could be recorded: silence after that is not the agents'. */
export async function loadListening(sql: Sql, clusterId: ClusterId): Promise<FleetView['listening']> {
  const { rows } = await sql.query<{ now: Date; since: Date }>(
    `SELECT CASE WHEN at < now() - ${LISTENING_BREAK} THEN at ELSE now() END AS now, since
     FROM cluster_listening WHERE cluster_id = $1`,
    [clusterId],
  );
  return rows[0];
}
