import type { Outbox } from '@holdfast/control/ports/outbox.js';
import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { asId, type ClusterId, type VolumeId } from '@holdfast/core/model/ids.js';
import pg from 'pg';
import { systemScope, transaction } from '../sql/scope.js';
import { OUTBOX_CHANNEL } from './touched.js';

type Row = { kind: WakeUp['kind']; target_id: string };

/** A broken listening connection is replaced after this; until then the relay's own look-ups have to do. */
const RECONNECT_MS = 1_000;

export class PostgresOutbox implements Outbox {
  /** @param pool connects as the system role, which sees the rows of all organizations */
  constructor(
    private readonly pool: pg.Pool,
    private readonly connectionString: string,
  ) {}

  async drain(limit: number, handOver: (wakeUps: readonly WakeUp[]) => Promise<void>): Promise<number> {
    return transaction(systemScope(this.pool), async (sql) => {
      // Rows that another relay is handing over are left to it.
      const { rows } = await sql.query<Row>(
        `DELETE FROM outbox WHERE id IN (SELECT id FROM outbox ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)
         RETURNING kind, target_id`,
        [limit],
      );
      if (rows.length > 0) await handOver(distinct(rows));
      return rows.length;
    });
  }

  async listen(listener: () => void): Promise<{ close(): Promise<void> }> {
    let closed = false;
    let client: pg.Client | undefined;
    let timer: NodeJS.Timeout | undefined;

    const connect = async () => {
      const next = new pg.Client({
        connectionString: this.connectionString,
        application_name: 'holdfast relay',
      });
      next.on('notification', listener);
      next.once('error', () => next.end().catch(() => {}));
      next.once('end', () => {
        if (!closed) timer = setTimeout(reconnect, RECONNECT_MS);
      });
      await next.connect();
      await next.query(`LISTEN ${OUTBOX_CHANNEL}`);
      client = next;
      listener();
    };
    const reconnect = () => {
      connect().catch(() => {
        if (!closed) timer = setTimeout(reconnect, RECONNECT_MS);
      });
    };

    await connect();
    return {
      async close() {
        closed = true;
        clearTimeout(timer);
        await client?.end();
      },
    };
  }
}

/** Many rows of one burst name the same thing. */
function distinct(rows: readonly Row[]): WakeUp[] {
  return [...new Map(rows.map((row) => [`${row.kind} ${row.target_id}`, wakeUpOf(row)])).values()];
}

function wakeUpOf({ kind, target_id: id }: Row): WakeUp {
  return kind === 'volume'
    ? { kind, volumeId: asId<VolumeId>(id) }
    : { kind, clusterId: asId<ClusterId>(id) };
}
