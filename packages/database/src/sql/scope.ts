import { Bug } from '@holdfast/core/model/faults.js';
import type { ClusterId, OrganizationId, ProjectId } from '@holdfast/core/model/ids.js';
import pg from 'pg';
import { translateError, unsureAfter } from './errors.js';
import type { FairSlots, Patience } from './fair-slots.js';
import { TIMES_AS_TEXT } from './pool.js';
import { StatementNames } from './statement-names.js';

/** Runs one statement. A whole transaction is handed around as one of these. */
export interface Sql {
  query<Row extends pg.QueryResultRow>(
    text: string,
    values?: readonly unknown[],
    reading?: Reading,
  ): Promise<{ rows: Row[]; rowCount: number }>;
}

/** Format of values. Times are dates, or text as displayed. */
export type Reading = { readonly times: 'text' };

/**
 * Whose rows a piece of work may see. Under the api role an organization must be named; the system role names none
 * and sees all. Which of the two it is depends on the role that the pool connects as.
 */
export type Scope = {
  readonly pool: pg.Pool;
  readonly organizationId: OrganizationId | undefined;
  /** Of the organization's rows only those of these clusters and projects; left out: all. */
  readonly limits?: ScopeLimits | undefined;
  /** Includes fleets of clusters that were granted to the organization: to place its volumes in, and not to be displayed. */
  readonly granted?: boolean | undefined;
  /** Shares the pool's connections among organizations; left out: first come, first served. */
  readonly slots?: FairSlots | undefined;
  /** Names the span for which the work is done, and in whose trace the jobs are that come of it; left out: none. */
  readonly traceparent?: string | undefined;
  /**
   * `general`: statements are planned once for all values, and not for those of each call. For pages of a whole list, where Postgres
   * takes longer to plan than to read. Left out: as Postgres chooses.
   */
  readonly plans?: 'general' | undefined;
};

export type ScopeLimits = {
  readonly clusterIds: readonly ClusterId[] | undefined;
  readonly projectIds: readonly ProjectId[] | undefined;
};

export function systemScope(pool: pg.Pool): Scope {
  return { pool, organizationId: undefined };
}

export function organizationScope(
  pool: pg.Pool,
  organizationId: OrganizationId,
  { limits, slots, traceparent }: Pick<Scope, 'limits' | 'slots' | 'traceparent'> = {},
): Scope {
  return { pool, organizationId, limits, slots, traceparent };
}

type Mode = 'write' | 'write-unsynced' | 'rehearsal' | 'snapshot';

const BEGIN: Record<Mode, string> = {
  write: 'BEGIN ISOLATION LEVEL READ COMMITTED',
  'write-unsynced': 'BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off',
  rehearsal: 'BEGIN ISOLATION LEVEL READ COMMITTED',
  // Several statements that must see one state of things.
  snapshot: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
};

const END = {
  write: 'COMMIT',
  'write-unsynced': 'COMMIT',
  rehearsal: 'SET CONSTRAINTS ALL IMMEDIATE; ROLLBACK',
  snapshot: 'COMMIT',
} as const satisfies Record<Mode, string>;

/** A read-write transaction. Row locks and versions decide which of two writers wins. */
export function transaction<T>(scope: Scope, work: (sql: Sql) => Promise<T>): Promise<T> {
  return run(scope, 'write', work);
}

/**
 * A read-write transaction whose commit does not wait for the disk: for rows that are made again, should Postgres' machine fail
 * within the second after it. Commits keep their order, so a later durable one makes this one durable too.
 */
export function unsyncedTransaction<T>(scope: Scope, work: (sql: Sql) => Promise<T>): Promise<T> {
  return run(scope, 'write-unsynced', work);
}

/**
 * A read-write transaction that is rolled back: its work sees its own changes, and everything that would refuse the commit refuses
 * it, such as a quota.
 */
export function rehearsal<T>(scope: Scope, work: (sql: Sql) => Promise<T>): Promise<T> {
  return run(scope, 'rehearsal', work);
}

/** Reads one consistent state over several statements. */
export function snapshot<T>(scope: Scope, work: (sql: Sql) => Promise<T>): Promise<T> {
  return run(scope, 'snapshot', work);
}

/** A single statement in one round trip. It sees no organization's rows: for what may be asked without one. */
export async function queryUnscoped<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  const name = NAMES.nameOf(text);
  const ask = { text, values: [...values] };
  try {
    const asked = pool.query<Row>({ ...ask, ...(name && { name }) });
    const { rows } = await asked.catch((error: unknown) => {
      // The connection's plan is from before a migration: without its name, the statement is planned anew.
      if (hasOldPlan(error)) return pool.query<Row>(ask);
      throw error;
    });
    return rows;
  } catch (error) {
    throw translateError(error);
  }
}

/** As long as a caller waits for a connection. */
const PATIENCE: Patience = { ms: 5_000 };

function run<T>(scope: Scope, mode: Mode, work: (sql: Sql) => Promise<T>): Promise<T> {
  const { slots, organizationId } = scope;
  const connected = () => runAgain(scope, mode, work);
  if (slots === undefined || organizationId === undefined) return connected();
  return slots.use(organizationId, connected, PATIENCE);
}

/**
 * Repeats the transaction once for each connection with plans from before a migration: an upgrade adds columns while the previous
 * version runs. Nothing of such a transaction is kept, and its connection is closed.
 */
async function runAgain<T>(scope: Scope, mode: Mode, work: (sql: Sql) => Promise<T>): Promise<T> {
  for (let left = scope.pool.options.max; ; left -= 1) {
    try {
      return await runConnected(scope, mode, work);
    } catch (error) {
      if (left === 0 || !hasOldPlan(error)) throw translateError(error);
    }
  }
}

function hasOldPlan(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.routine === 'RevalidateCachedQuery';
}

async function runConnected<T>(scope: Scope, mode: Mode, work: (sql: Sql) => Promise<T>): Promise<T> {
  let client: pg.PoolClient | undefined;
  try {
    client = await scope.pool.connect();
    if (mode === 'snapshot') gatherPackets(client);
    // One round trip for both: the organization is set for this transaction only, so that none leaks to the next.
    const begun = client.query(`${BEGIN[mode]}; ${settingsOf(scope)}`);
    // Reads follow without a round trip in between; if the transaction has not begun, their results are dropped.
    if (mode !== 'snapshot') await begun;
    const result = await bothOf(work(asSql(client, scope)), begun);
    if (mode === 'snapshot') {
      // Nothing depends on how a read ends: the connection waits for it, and the answer does not.
      void endWith(client, END.snapshot);
      return result;
    }
    await client.query(END[mode]).catch((error: unknown) => {
      throw mode === 'write' ? unsureAfter(error) : error;
    });
    client.release();
    return result;
  } catch (error) {
    if (hasOldPlan(error)) client?.release(true);
    else if (client !== undefined) await endWith(client, 'ROLLBACK');
    throw error;
  }
}

/** Sends the statements of this turn of the event loop in one packet. */
function gatherPackets({ connection: { stream } }: pg.PoolClient): void {
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** The result of the work. Waits for both in any case: work that continued would use a connection that another may have got. */
async function bothOf<T>(work: Promise<T>, begun: Promise<unknown>): Promise<T> {
  const [worked, started] = await Promise.allSettled([work, begun]);
  if (started.status === 'rejected') throw started.reason;
  if (worked.status === 'rejected') throw worked.reason;
  return worked.value;
}

function settingsOf({ organizationId, limits, granted, plans }: Scope): string {
  const settings = [
    local('holdfast.organization_id', organizationId ?? ''),
    ...(granted === true ? [local('holdfast.granted', 'on')] : []),
    ...(limits?.clusterIds === undefined
      ? []
      : [local('holdfast.cluster_ids', arrayText(limits.clusterIds))]),
    ...(limits?.projectIds === undefined
      ? []
      : [local('holdfast.project_ids', arrayText(limits.projectIds))]),
    ...(plans === undefined ? [] : [local('plan_cache_mode', 'force_generic_plan')]),
  ];
  return `SELECT ${settings.join(', ')}`;
}

/** Set until the transaction ends. */
function local(name: string, value: string): string {
  return `set_config('${name}', ${pg.escapeLiteral(value)}, true)`;
}

function arrayText(ids: readonly string[]): string {
  return `{${ids.join(',')}}`;
}

/** The connection that each running transaction has. */
const connections = new WeakMap<Sql, pg.PoolClient>();

/** The connection of a running transaction, for what makes its own statements on it. */
export function connectionOf(sql: Sql): pg.PoolClient {
  const client = connections.get(sql);
  if (client === undefined) throw new Bug('a transaction was expected that has a connection');
  return client;
}

/** The span of each running transaction whose scope names one. */
const traces = new WeakMap<Sql, string>();

export function traceparentOf(sql: Sql): string | undefined {
  return traces.get(sql);
}

/** The same on all connections of this process. */
const NAMES = new StatementNames();

function asSql(client: pg.PoolClient, { traceparent }: Scope): Sql {
  const sql: Sql = {
    async query<Row extends pg.QueryResultRow>(
      text: string,
      values: readonly unknown[] = [],
      reading?: Reading,
    ) {
      const name = NAMES.nameOf(text);
      const { rows, rowCount } = await client.query<Row>({
        ...(name && { name }),
        ...(reading && { types: TIMES_AS_TEXT }),
        text,
        values: [...values],
      });
      return { rows, rowCount: rowCount ?? 0 };
    },
  };
  connections.set(sql, client);
  if (traceparent !== undefined) traces.set(sql, traceparent);
  return sql;
}

/** A connection that can't even end its transaction is broken, and must not go back to the pool. */
async function endWith(client: pg.PoolClient, end: 'COMMIT' | 'ROLLBACK'): Promise<void> {
  try {
    await client.query(end);
    client.release();
  } catch (error) {
    client.release(error instanceof Error ? error : true);
  }
}
