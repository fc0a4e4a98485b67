import type { Outbox } from '@holdfast/control/ports/outbox.js';
import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { asId, type ClusterId, type VolumeId } from '@holdfast/core/model/ids.js';
import type pg from 'pg';
import { Listener } from '../sql/listener.js';
import { systemScope, unsyncedTransaction } from '../sql/scope.js';
import { OUTBOX_CHANNEL } from './touched.js';

type Row = { kind: WakeUp['kind']; target_id: string; traceparent: string | null };

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
        `DELETE FROM outbox WHERE id IN (SELECT id FROM outbox ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)
         RETURNING kind, target_id, traceparent`,
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
  const traced = rows.filter(({ traceparent }) => traceparent !== null);
  // The last one of each stays: one that belongs to a trace, where there is one.
  return [
    ...new Map([...rows, ...traced].map((row) => [`${row.kind} ${row.target_id}`, wakeUpOf(row)])).values(),
  ];
}

function wakeUpOf({ kind, target_id: id, traceparent }: Row): WakeUp {
  const traced = traceparent === null ? {} : { traceparent };
  return kind === 'volume'
    ? { kind, volumeId: asId<VolumeId>(id), ...traced }
    : { kind, clusterId: asId<ClusterId>(id), ...traced };
}
