import type { Outbox } from '@holdfast/control/ports/outbox.js';
import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { asId, type ClusterId, type VolumeId } from '@holdfast/core/model/ids.js';
import { LANES } from '@holdfast/core/policy/work-lane.js';
import type pg from 'pg';
import { Listener } from '../sql/listener.js';
import { systemScope, unsyncedTransaction } from '../sql/scope.js';
import { OUTBOX_CHANNEL } from './wake-up-set.js';

type Row = {
  kind: WakeUp['kind'];
  target_id: string;
  traceparent: string | null;
  lane: number;
  /** Null: the volume is gone. */
  party: string | null;
};

export class PostgresOutbox implements Outbox {
  /** @param pool connects as the system role, which sees the rows of all organizations */
  constructor(
    private readonly pool: pg.Pool,
    private readonly connectionString: string,
  ) {}

  async drain(limit: number, handOver: (wakeUps: readonly WakeUp[]) => Promise<void>): Promise<number> {
    // Rows that come back are handed over again.
    return unsyncedTransaction(systemScope(this.pool), async (sql) => {
      // Rows that another relay is handing over are left to it.
      const { rows } = await sql.query<Row>(
        `DELETE FROM outbox WHERE id IN (SELECT id FROM outbox ORDER BY lane, id LIMIT $1 FOR UPDATE SKIP LOCKED)
         RETURNING kind, target_id, traceparent, lane,
           (SELECT concat_ws(' ', v.organization_id, v.state) FROM volume v WHERE v.id = target_id) AS party`,
        [limit],
      );
      if (rows.length > 0) await handOver(distinct(rows));
      return rows.length;
    });
  }

  async listen(listener: () => void): Promise<{ close(): Promise<void> }> {
    const connection = new Listener({
      url: this.connectionString,
      applicationName: 'holdfast-relay',
      channels: [OUTBOX_CHANNEL],
      onNotification: listener,
      // Rows that were written while the connection was down are in the table.
      onConnected: listener,
      // The relay also polls, so a connection that is being replaced only costs time.
      onTrouble: () => {},
    });
    return { close: () => connection.stop() };
  }
}

/** Many rows of one burst name the same thing. */
function distinct(rows: readonly Row[]): WakeUp[] {
  // The last one of each stays: of the most urgent lane, and with a trace if there is one.
  const ordered = [...rows].sort((a, b) => b.lane - a.lane || Number(isTraced(a)) - Number(isTraced(b)));
  return [...new Map(ordered.map((row) => [`${row.kind} ${row.target_id}`, row])).values()]
    .sort((a, b) => a.lane - b.lane)
    .map(wakeUpOf);
}

function isTraced({ traceparent }: Row): boolean {
  return traceparent !== null;
}

function wakeUpOf({ kind, target_id: id, traceparent, lane, party }: Row): WakeUp {
  const traced = traceparent === null ? {} : { traceparent };
  return kind === 'volume'
    ? { kind, volumeId: asId<VolumeId>(id), lane: LANES[lane], party: party ?? undefined, ...traced }
    : { kind, clusterId: asId<ClusterId>(id), ...traced };
}
