/**
 * Prisma's generated client for plain rows, which users configure one at a time. It works on the connection of a transaction that
 * `scope.ts` has opened, so that organization, limits and isolation are set in one place, and its writes commit together with those
 * made in SQL.
 *
 * To the client that is an interactive transaction of its own, so it never mixes statements of two of ours.
 */
import { Bug } from '@holdfast/core/model/faults.js';
import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapter, SqlDriverAdapterFactory, Transaction } from '@prisma/driver-adapter-utils';
import type pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.js';
import { connectionOf, type Sql } from '../sql/scope.js';

/** Models that are plain rows. Frequent reads, and rows that the planners change, are SQL. */
type PlainModel =
  | 'organization'
  | 'user'
  | 'membership'
  | 'project'
  | 'projectMembership'
  | 'invitation'
  | 'quota'
  | 'clusterGrant'
  | 'userIdentity'
  | 'signInProvider'
  | 'signInProviderSecret'
  | 'providerIdentity'
  | 'firstLink'
  | 'token'
  | 'cluster'
  | 'silence'
  | 'webhook'
  | 'webhookSecret'
  | 'webhookDelivery';

/** Plain rows of one running transaction. */
export type PlainRows = Pick<PrismaClient, PlainModel>;

/** Longer than the limit for statements (`pool.ts`), so that Postgres ends and reports a statement that hangs. */
const TRANSACTION_MS_MAX = 30_000;

/** One of our transactions, lent to the client, and the first error that Postgres gave it. */
type BorrowedConnection = { readonly connection: Pick<pg.PoolClient, 'query'>; failure?: unknown };

/**
 * Connection of the transaction that Prisma is starting; one starts at a time, so that each takes its own. Not an
 * AsyncLocalStorage: Node 20 and 22 make every promise of a process dearer as soon as one is in use.
 */
let borrowedConnection: BorrowedConnection | undefined;
/** Resolves when the last requested transaction has started. */
let lastStart: Promise<void> = Promise.resolve();

let shared: PrismaClient | undefined;

/** Made at the first use: most processes never ask. */
function client(): PrismaClient {
  shared ??= new PrismaClient({
    adapter: lendingAdapter(),
    transactionOptions: { maxWait: TRANSACTION_MS_MAX, timeout: TRANSACTION_MS_MAX },
  });
  return shared;
}

/** Works on plain rows within the transaction. */
export async function withPlainRows<T>(sql: Sql, work: (rows: PlainRows) => Promise<T>): Promise<T> {
  const borrowed: BorrowedConnection = { connection: connectionOf(sql) };
  const endStart = await turnToStart();
  try {
    borrowedConnection = borrowed;
    return await client().$transaction((rows) => {
      endStart();
      return work(rows);
    });
  } catch (error) {
    // Postgres' own error, as every other statement throws it; Prisma's version has lost the constraint.
    throw borrowed.failure ?? error;
  } finally {
    endStart();
  }
}

/** Waits until no transaction is starting. A start asks Postgres nothing, so the wait is short. */
async function turnToStart(): Promise<() => void> {
  const before = lastStart;
  let end = () => {};
  lastStart = new Promise((resolve) => {
    end = resolve;
  });
  await before;
  return end;
}

/** An adapter whose transactions are ours: they neither begin nor end anything in Postgres. */
function lendingAdapter(): SqlDriverAdapterFactory {
  const factory = new PrismaPg({});
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    async connect() {
      // Its pool opens no connection on its own, and is never asked for one.
      const adapter = await factory.connect();
      const lending: SqlDriverAdapter = Object.create(adapter, {
        client: { value: { query: refuseOutside } },
        startTransaction: { value: async () => borrow(adapter) },
      });
      return lending;
    },
  };
}

async function refuseOutside(): Promise<never> {
  throw new Bug('plain rows were asked for outside of a transaction');
}

/** The borrowed connection as a transaction of Prisma's: the adapter's own way of asking, on our connection. */
function borrow(adapter: SqlDriverAdapter): Transaction {
  const borrowed = borrowedConnection;
  borrowedConnection = undefined;
  if (borrowed === undefined) throw new Bug('plain rows were asked for outside of a transaction');
  const { connection } = borrowed;
  const query = async (config: pg.QueryConfig) => {
    try {
      return await connection.query(config);
    } catch (error) {
      borrowed.failure ??= error;
      throw error;
    }
  };
  const done = async () => undefined;
  return Object.create(adapter, {
    client: { value: { query } },
    // Prisma then says BEGIN and COMMIT to its log only.
    options: { value: { usePhantomQuery: true } },
    commit: { value: done },
    rollback: { value: done },
  });
}
