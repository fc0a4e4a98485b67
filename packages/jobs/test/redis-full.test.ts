/**
 * A Redis that answers, and accepts no writes: its memory is full, or its disk refuses its snapshots. Wake-ups wait in the outbox,
 * and the same processes do them once Redis accepts writes again.
 */
import type { Outbox } from '@holdfast/control/ports/outbox.js';
import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { asId, type VolumeId } from '@holdfast/core/model/ids.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { hasRedis, type RedisServer, startRedis } from '@holdfast/testkit/redis-server.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type JobBackend, openBackend } from '../src/backend.js';
import { OutboxRelay } from '../src/outbox-relay.js';
import { WakeQueue } from '../src/wake-queue.js';
import { WakeWorkers } from '../src/wake-workers.js';
import { REDIS_TROUBLES } from './redis-troubles.js';

const withRedis = hasRedis() ? describe : describe.skip;

let redis: RedisServer;
let backend: JobBackend;
let queue: WakeQueue;
let workers: WakeWorkers;
let relay: OutboxRelay;
const rows: WakeUp[] = [];
const ran: string[] = [];
const errors: unknown[] = [];
/** Jobs that wait here until they may end. */
const held = new Map<string, Promise<void>>();
const releases: (() => void)[] = [];

withRedis('a Redis that refuses writes', () => {
  beforeAll(begin);
  afterAll(end);

  const runsOf = (wakeUp: { volumeId: string }) => ran.filter((id) => id === wakeUp.volumeId).length;
  const until = (what: string, passes: () => boolean) =>
    eventually(
      what,
      async () => passes(),
      (is) => is,
    );

  test.each(Object.entries(REDIS_TROUBLES))(
    '%s: health says so, nothing is lost, and all goes on without a restart',
    async (name, trouble) => {
      const first = Object.keys(REDIS_TROUBLES).indexOf(name) * 10;
      const [before, running, waiting] = [volume(first + 1), volume(first + 2), volume(first + 3)];
      rows.push(before);
      await until('a job ran before', () => runsOf(before) === 1);
      held.set(running.volumeId, new Promise((resolve) => void releases.push(resolve)));
      rows.push(running);
      await until('a job is running', () => runsOf(running) === 1);
      await expect(backend.ping()).resolves.toBeDefined();

      await trouble.begin(redis);
      await expect(backend.ping()).rejects.toThrow(name);
      errors.length = 0;
      rows.push(waiting);
      // Its end can not be written down.
      for (const release of releases) release();
      await until('the relay is refused', () => errors.some((error) => String(error).includes(name)));
      expect(rows).toEqual([waiting]);
      expect(runsOf(waiting)).toBe(0);

      await trouble.end(redis);
      await until('what waited is done', () => runsOf(waiting) === 1 && rows.length === 0);
      await expect(backend.ping()).resolves.toBeDefined();
      // The volume whose job could not end is not stuck behind it.
      const runs = runsOf(running);
      rows.push(running);
      await until('another job of the same volume runs', () => runsOf(running) > runs);
    },
  );
});

async function begin(): Promise<void> {
  redis = await startRedis();
  backend = openBackend({ databaseUrl: '', redisUrl: redis.url });
  const onError = (error: unknown) => errors.push(error);
  queue = new WakeQueue(backend, onError);
  workers = new WakeWorkers(
    backend,
    {
      volume: {
        concurrency: { safety: 4, request: 4, bulk: 1 },
        run: async ({ volumeId }) => {
          ran.push(volumeId);
          await held.get(volumeId);
        },
      },
      cluster: { concurrency: 1, run: async () => undefined },
    },
    onError,
  );
  relay = new OutboxRelay(keptOutbox(), queue, onError);
  await relay.start();
}

async function end(): Promise<void> {
  for (const release of releases) release();
  await relay?.stop();
  await workers?.close();
  await queue?.close();
  await backend?.close();
  await redis?.stop();
}

/** Keeps its rows until they are handed over, as the one in Postgres does. */
function keptOutbox(): Outbox {
  return {
    async drain(limit, handOver) {
      const batch = rows.slice(0, limit);
      await handOver(batch);
      rows.splice(0, batch.length);
      return batch.length;
    },
    listen: async () => ({ close: async () => {} }),
  };
}

function volume(number: number): WakeUp & { kind: 'volume' } {
  const volumeId = asId<VolumeId>(`01890000-0000-7000-8000-${String(number).padStart(12, '0')}`);
  return { kind: 'volume', volumeId };
}
