import fs from 'node:fs';
import { createPostgresBackend, Queue as RedisQueue, Worker as RedisWorker, withBackend } from 'bullmq';
import { Redis } from 'ioredis';

export type BackendOptions = {
  /** Redis that holds the jobs, if there is one. */
  redisUrl?: string | undefined;
  /** PEM file of the authority that a Redis at `rediss://` is known by; left out: those that Node trusts. */
  redisCaFile?: string | undefined;
  /** Postgres that holds them otherwise, in BullMQ's own tables, in a schema beside Holdfast's. */
  databaseUrl: string;
};

export type JobQueue = Pick<RedisQueue, 'add' | 'close' | 'getJobCounts'>;
export type JobWorker = { close(): Promise<void> };
/** @param priority that the job was added with; 0: none */
export type JobHandler = (data: unknown, priority: number) => Promise<void>;
export type WorkerOptions = {
  concurrency: number;
  onError: (error: Error) => void;
  /** The worker has found nothing more that waits. */
  onIdle?: () => void;
};

/** Backend of the job queue: BullMQ on Redis or on Postgres. Only this file knows which one is in use. */
export interface JobBackend {
  readonly kind: 'redis' | 'postgres';
  queue(name: string, onError: (error: Error) => void): JobQueue;
  worker(name: string, handler: JobHandler, options: WorkerOptions): JobWorker;
  /** Resolves when it accepts writes. On Postgres there is nothing to check beside the database itself. */
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Lifetime of a job's lock. A dead worker's job goes to another after this and about one check: 4 to 5 s in all. A
 * worker that stands still for longer loses its job too. The job then runs twice, which is harmless: it reads the
 * current state.
 */
const LOCK_DURATION_MS = 4_000;
/** Interval of a lock's renewal: four in its lifetime, so that one or two slow ones do no harm. */
const LOCK_RENEW_MS = 1_000;
/** Interval of the search for expired locks: one short query for each queue. */
const STALLED_INTERVAL_MS = 1_000;
const SCHEMA = 'bullmq';
/** Key that a ping writes, and its lifetime: it leaves nothing behind. */
const PING_KEY = 'holdfast-ping';
const PING_SECONDS = 10;
/**
 * Jobs only name a subject, so none waits for the disk: jobs lost in a failure of Postgres' machine are made again by the sweep. A
 * job whose outbox row is gone for good is kept, since commits keep their order.
 */
const UNSYNCED = '-c synchronous_commit=off';
/** Connections of each queue or worker on Postgres, beside one that listens. */
const POSTGRES_CONNECTIONS = 2;

export function openBackend({ redisUrl, redisCaFile, databaseUrl }: BackendOptions): JobBackend {
  return redisUrl === undefined || redisUrl === ''
    ? postgresBackend(databaseUrl)
    : redisBackend(redisUrl, redisCaFile);
}

const workerTimes = {
  lockDuration: LOCK_DURATION_MS,
  lockRenewTime: LOCK_RENEW_MS,
  stalledInterval: STALLED_INTERVAL_MS,
  maxStalledCount: 1_000,
};

function redisBackend(url: string, caFile: string | undefined): JobBackend {
  const tls = caFile === undefined ? {} : { tls: { ca: fs.readFileSync(caFile) } };
  // BullMQ requires this setting on connections that block.
  const connection = new Redis(url, { maxRetriesPerRequest: null, ...tls });
  return {
    kind: 'redis',
    queue(name, onError) {
      const queue = new RedisQueue(name, { connection });
      queue.on('error', onError);
      return queue;
    },
    worker(name, handler, { concurrency, onError, onIdle }) {
      const worker = new RedisWorker(name, (job) => handler(job.data, job.opts.priority ?? 0), {
        connection,
        concurrency,
        ...workerTimes,
      });
      worker.on('error', onError);
      if (onIdle !== undefined) worker.on('drained', onIdle);
      return worker;
    },
    // A server whose memory is full answers every question, and refuses jobs.
    ping: () => connection.set(PING_KEY, '1', 'EX', PING_SECONDS),
    async close() {
      await connection.quit().catch(() => connection.disconnect());
    },
  };
}

function postgresBackend(databaseUrl: string): JobBackend {
  const { Queue, Worker } = withBackend(createPostgresBackend);
  const connection = {
    connectionString: databaseUrl,
    schema: SCHEMA,
    migrate: true,
    max: POSTGRES_CONNECTIONS,
    application_name: 'jobs',
    options: UNSYNCED,
  };
  return {
    kind: 'postgres',
    queue(name, onError) {
      const queue = new Queue(name, { connection });
      queue.on('error', onError);
      return queue;
    },
    worker(name, handler, { concurrency, onError, onIdle }) {
      const worker = new Worker(name, (job) => handler(job.data, job.opts.priority ?? 0), {
        connection,
        concurrency,
        ...workerTimes,
      });
      worker.on('error', onError);
      if (onIdle !== undefined) worker.on('drained', onIdle);
      return worker;
    },
    ping: async () => undefined,
    async close() {
      // Queues and workers own their connections here.
    },
  };
}
