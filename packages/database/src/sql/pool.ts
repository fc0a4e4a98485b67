import { Bug } from '@holdfast/core/model/faults.js';
import pg from 'pg';
import { endSilentConnections } from './silent-connections.js';

const OID_INT8 = 20;
const OID_TIMESTAMPTZ = 1184;

/** Reads bigint as a number. Every one of ours is at most 2^53 − 1 by a CHECK, or counts something slow. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Bug(`the database holds ${text}, more than a number can`);
  return value;
}

/** As Postgres writes times of the years that we have, in zones of whole hours: `2026-11-24 03:07:53.123456+00`. */
const PLAIN_TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d)$/;
const parseAnyTime: (text: string) => unknown = pg.types.getTypeParser(OID_TIMESTAMPTZ, 'text');

/** A page of volumes has hundreds of times; read as what JavaScript calls a date, each takes a fifth of what the general reader does. */
function parseTime(text: string): unknown {
  const plain = PLAIN_TIME.exec(text);
  return plain === null ? parseAnyTime(text) : new Date(`${plain[1]}T${plain[2]}:00`);
}

const parsers = new Map<number, (text: string) => unknown>([
  [OID_INT8, parseInt8],
  [OID_TIMESTAMPTZ, parseTime],
]);

const types = typesOf(parsers);

/** For statements whose times are only shown: a text is made of a text, and no date in between. */
export const TIMES_AS_TEXT: pg.CustomTypesConfig = typesOf(
  new Map([...parsers, [OID_TIMESTAMPTZ, timeText]]),
);

function typesOf(own: ReadonlyMap<number, (text: string) => unknown>): pg.CustomTypesConfig {
  return {
    getTypeParser: (oid, format) =>
      (format === 'binary' ? undefined : own.get(oid)) ?? pg.types.getTypeParser(oid, format),
  };
}

/** In UTC to the millisecond, as `Date.toISOString` writes it. */
function timeText(text: string): string {
  const isPlain = text.endsWith('+00') && text.charAt(10) === ' ';
  if (!isPlain) {
    const time = parseTime(text);
    return time instanceof Date ? time.toISOString() : text;
  }
  const fraction = text.slice(20, -3).padEnd(3, '0').slice(0, 3);
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`;
}

/** Long enough for a Postgres that restarts, short enough that a request still gets an answer. */
const CONNECT_TIMEOUT_MS = 5_000;
/** No statement of ours takes long; a long one holds locks that others wait for. */
const STATEMENT_MS_MAX = 15_000;
/** Longer than Postgres' own limit for statements, so that Postgres reports the timeout if it can. */
const SILENCE_AFTER_STATEMENT_MS = 1_000;

export type PoolOptions = {
  /** Connections at most. Each costs Postgres about 5 MB. */
  connectionsMax: number;
  applicationName: string;
  /** Statements are sent while the answers to those before are under way. Left out: one at a time. */
  pipeline?: boolean;
  /** Left out: 15 s. */
  statementMsMax?: number;
};

export type Pool = pg.Pool;

export function createPool(url: string, options: PoolOptions): Pool {
  const { statementMsMax = STATEMENT_MS_MAX } = options;
  const pool = new pg.Pool({
    connectionString: url,
    max: options.connectionsMax,
    application_name: options.applicationName,
    pipeline: options.pipeline === true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: statementMsMax,
    idle_in_transaction_session_timeout: statementMsMax,
    types,
  });
  // A connection that breaks is replaced at the next use, and a caller that was using it gets the error from the query.
  // Without a listener on the pool (idle ones) and on each client (used ones) it would also end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  endSilentConnections(pool, statementMsMax + SILENCE_AFTER_STATEMENT_MS);
  return pool;
}
