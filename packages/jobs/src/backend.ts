import { createPostgresBackend, Queue as RedisQueue, Worker as RedisWorker, withBackend } from 'bullmq';
import { Redis } from 'ioredis';

export type BackendOptions = {
  /** Where jobs live when it is given. */
  redisUrl?: string | undefined;
  /** Where they live else: BullMQ's own tables in a schema beside ours. */
  databaseUrl: string;
};

export type JobQueue = Pick<RedisQueue, 'add' | 'close' | 'getJobCounts'>;
export type JobWorker = { close(): Promise<void> };
export type JobHandler = (data: unknown) => Promise<void>;
export type WorkerOptions = { concurrency: number; onError: (error: Error) => void };

/** The one place that knows which of the two is used. Everything above sees queues and workers. */
export interface JobBackend {
  readonly kind: 'redis' | 'postgres';
  queue(name: string, onError: (error: Error) => void): JobQueue;
  worker(name: string, handler: JobHandler, options: WorkerOptions): JobWorker;
  close(): Promise<void>;
}

/**
 * A worker whose process died loses its job to another after this and about one look: 4 to 5 s in all. A worker that stands
 * still for longer loses it too; its job then runs twice, which is harmless: it reads the current state.
 */
const LOCK_DURATION_MS = 4_000;
/** Four times in the life of a lock, so that a slow renewal or two cost nothing. */
const LOCK_RENEW_MS = 1_000;
/** How often locks that have run out are looked for. One short query for each queue. */
const STALLED_INTERVAL_MS = 1_000;
const SCHEMA = 'bullmq';
/** Connections for each queue or worker on Postgres, beside one that listens. */
const POSTGRES_CONNECTIONS = 2;

export function openBackend({ redisUrl, databaseUrl }: BackendOptions): JobBackend {
  return redisUrl === undefined || redisUrl === '' ? postgresBackend(databaseUrl) : redisBackend(redisUrl);
}

const workerTimes = {
  lockDuration: LOCK_DURATION_MS,
  lockRenewTime: LOCK_RENEW_MS,
  stalledInterval: STALLED_INTERVAL_MS,
  maxStalledCount: 1_000,
};

function redisBackend(url: string): JobBackend {
  // BullMQ asks for this setting on connections that block.
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  return {
    kind: 'redis',
    queue(name, onError) {
      const queue = new RedisQueue(name, { connection });
      queue.on('error', onError);
      return queue;
    },
    worker(name, handler, { concurrency, onError }) {
      const worker = new RedisWorker(name, (job) => handler(job.data), {
        connection,
        concurrency,
        ...workerTimes,
      });
      worker.on('error', onError);
      return worker;
    },
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
  };
  return {
    kind: 'postgres',
    queue(name, onError) {
      const queue = new Queue(name, { connection });
      queue.on('error', onError);
      return queue;
    },
    worker(name, handler, { concurrency, onError }) {
      const worker = new Worker(name, (job) => handler(job.data), {
        connection,
        concurrency,
        ...workerTimes,
      });
      worker.on('error', onError);
      return worker;
    },
    async close() {
      // Queues and workers own their connections here.
    },
  };
}
