/** The promises of the queue, on both backends: on Postgres always, on Redis where a server is installed. */
import { type ChildProcess, fork } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Outbox } from '@holdfast/control/ports/outbox.js';
import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { asId, type VolumeId } from '@holdfast/core/model/ids.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { hasRedis, type RedisServer, startRedis } from '@holdfast/testkit/redis-server.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type JobBackend, openBackend } from '../src/backend.js';
import { OutboxRelay } from '../src/outbox-relay.js';
import { WakeQueue } from '../src/wake-queue.js';
import { WakeWorkers } from '../src/wake-workers.js';

const KEPT_MS = 6_000;
const FILL = 200;
const backends = hasRedis() ? (['postgres', 'redis'] as const) : (['postgres'] as const);

let postgres: EmbeddedPostgres;
let redis: RedisServer | undefined;
let directory: string;
let counter = 0;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-jobs-'));
  postgres = await startEmbeddedPostgres({ directory });
  redis = hasRedis() ? await startRedis() : undefined;
});

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

afterAll(async () => {
  await postgres?.stop();
  await redis?.stop();
  fs.rmSync(directory, { recursive: true, force: true });
});

const errors: unknown[] = [];
const onError = (error: unknown) => errors.push(error);

describe.each(backends)('on %s', (kind) => {
  test('waiting wake-ups of the same volume are one run', async () => {
    const backend = open(kind);
    const queue = openQueue(backend);
    const wakeUp = volume();
    for (let n = 0; n < 5; n += 1) await queue.wake(wakeUp);
    const other = volume();
    await queue.wake(other);
    const ran: string[] = [];
    work(backend, async (id) => void ran.push(id));
    await eventually(
      'both ran',
      () => ran,
      (ids) => ids.includes(wakeUp.volumeId) && ids.includes(other.volumeId),
    );
    expect(ran.filter((id) => id === wakeUp.volumeId)).toHaveLength(1);
  });

  test('a wake-up that comes while its subject is worked on leads to one more run', async () => {
    const backend = open(kind);
    const queue = openQueue(backend);
    const wakeUp = volume();
    let runs = 0;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    work(backend, async (id) => {
      if (id !== wakeUp.volumeId) return;
      runs += 1;
      if (runs === 1) await held;
    });
    await queue.wake(wakeUp);
    await eventually(
      'the first run has begun',
      () => runs,
      (count) => count === 1,
    );
    await queue.wake(wakeUp);
    await queue.wake(wakeUp);
    release();
    await eventually(
      'it ran again',
      () => runs,
      (count) => count === 2,
    );
  });

  test('a delayed wake-up does not hold an immediate one back', async () => {
    const backend = open(kind);
    const queue = openQueue(backend);
    const wakeUp = volume();
    const ran: string[] = [];
    work(backend, async (id) => void ran.push(id));
    await queue.wake(wakeUp, { delayMs: 60_000 });
    await queue.wake(wakeUp);
    await eventually(
      'it ran at once',
      () => ran,
      (ids) => ids.includes(wakeUp.volumeId),
    );
  });

  test('a run that fails does not stop later ones', async () => {
    const backend = open(kind);
    const queue = openQueue(backend);
    const wakeUp = volume();
    let runs = 0;
    work(backend, async (id) => {
      if (id !== wakeUp.volumeId) return;
      runs += 1;
      if (runs === 1) throw new Error('planned');
    });
    await queue.wake(wakeUp);
    await eventually(
      'the first run failed',
      () => runs,
      (count) => count === 1,
    );
    // Once: this wake-up is not lost, whether the failed job has been removed by now or not.
    await queue.wake(wakeUp);
    await eventually(
      'the later wake-up runs',
      () => runs,
      (count) => count === 2,
    );
  });

  test('a job is kept while its worker lives and given to another soon after it was killed', async () => {
    const backend = open(kind);
    const queue = openQueue(backend);
    const wakeUp = volume();
    await queue.wake(wakeUp);
    const holder = await startHolder(kind, wakeUp.volumeId);
    const ran: string[] = [];
    work(backend, async (id) => void ran.push(id));
    // Longer than a lock lives without renewal, beside another worker that looks for expired locks.
    await sleep(KEPT_MS);
    expect(ran).not.toContain(wakeUp.volumeId);

    holder.kill('SIGKILL');
    await eventually(
      'another worker has it',
      () => ran,
      (ids) => ids.includes(wakeUp.volumeId),
    );
  });

  test('what is urgent, and what others want, does not wait behind the many creations of one organization', async () => {
    const backend = open(kind);
    const queue = openQueue(backend);
    const filled = Array.from({ length: FILL }, () => volume());
    await Promise.all(filled.map((wakeUp) => queue.wake({ ...wakeUp, lane: 'bulk', party: 'filler' })));
    const [removed, threatened, theirs] = [volume(), volume(), volume()];
    await queue.wake({ ...theirs, lane: 'bulk', party: 'other' });
    await queue.wake({ ...removed, lane: 'request', party: 'filler' });
    await queue.wake({ ...threatened, lane: 'safety', party: 'filler' });
    const ran: string[] = [];
    const creations = new Set<string>([...filled, theirs].map(({ volumeId }) => volumeId));
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    work(backend, async (id) => {
      if (creations.has(id)) await held;
      ran.push(id);
    });
    closers.push(async () => release());
    await eventually(
      'the other lanes have run while the first creation holds all slots of its own',
      () => ran,
      (ids) => [removed, threatened].every(({ volumeId }) => ids.includes(volumeId)),
    );
    release();
    await eventually(
      'all ran',
      () => ran.length,
      (count) => count === FILL + 3,
    );
    // Among the creations the two parties take turns.
    expect(ran.indexOf(theirs.volumeId)).toBeLessThan(FILL / 4);
  });

  test('turns begin anew when nothing waits', async () => {
    const backend = open(kind);
    const queue = openQueue(backend);
    const turns: number[] = [];
    let isDrained = false;
    const workers = new WakeWorkers(
      backend,
      {
        volume: {
          concurrency: { safety: 1, request: 1, bulk: 1 },
          run: async (wakeUp, turn) => {
            queue.began(wakeUp, turn);
            turns.push(turn);
          },
          onIdle: (lane) => {
            queue.idle(lane);
            if (lane === 'bulk') isDrained = turns.length === 3;
          },
        },
        cluster: { concurrency: 1, run: async () => {} },
      },
      onError,
    );
    closers.push(() => workers.close());
    for (let n = 0; n < 3; n += 1) await queue.wake({ ...volume(), lane: 'bulk', party: 'filler' });
    await eventually(
      'all ran, and nothing waits',
      () => isDrained,
      (is) => is,
    );
    await queue.wake({ ...volume(), lane: 'bulk', party: 'filler' });
    await eventually(
      'one more ran',
      () => turns.length,
      (count) => count === 4,
    );
    expect(turns.at(-1)).toBe(1);
  });

  test('the relay hands over what it finds, also what no notification told of', async () => {
    const backend = open(kind);
    const queue = openQueue(backend);
    const written = [volume(), volume(), volume()];
    const ran: string[] = [];
    work(backend, async (id) => void ran.push(id));
    const relay = new OutboxRelay(silentOutbox([...written]), queue, onError);
    await relay.start();
    closers.push(() => relay.stop());
    await eventually(
      'all ran',
      () => ran.length,
      (count) => count === written.length,
    );
    expect(ran.sort()).toEqual(written.map(({ volumeId }) => volumeId).sort());
  });
});

/** A worker in a process of its own that holds the job; resolves once it has it. */
async function startHolder(kind: 'postgres' | 'redis', id: string): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('./hold-job.mjs', import.meta.url));
  const child = fork(script, [postgres.url, kind === 'redis' ? (redis?.url ?? '') : '']);
  closers.push(async () => void child.kill('SIGKILL'));
  await new Promise<void>((resolve, reject) => {
    child.on('message', (held) => held === id && resolve());
    child.once('exit', (code) => reject(new Error(`the holder ended with ${code}`)));
  });
  return child;
}

/**
 * An outbox without notifications, so that the relay finds rows by polling. The real one is tested with the database.
 */
function silentOutbox(rows: WakeUp[]): Outbox {
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

function volume(): WakeUp & { kind: 'volume' } {
  counter += 1;
  return {
    kind: 'volume',
    volumeId: asId<VolumeId>(`01890000-0000-7000-8000-${String(counter).padStart(12, '0')}`),
  };
}

function open(kind: 'postgres' | 'redis'): JobBackend {
  const backend = openBackend({
    databaseUrl: postgres.url,
    redisUrl: kind === 'redis' ? redis?.url : undefined,
  });
  expect(backend.kind).toBe(kind);
  closers.push(() => backend.close());
  return backend;
}

function openQueue(backend: JobBackend): WakeQueue {
  const queue = new WakeQueue(backend, onError);
  closers.push(() => queue.close());
  return queue;
}

function work(backend: JobBackend, run: (id: string) => Promise<void>): void {
  const workers = new WakeWorkers(
    backend,
    {
      volume: { concurrency: { safety: 4, request: 4, bulk: 1 }, run: ({ volumeId }) => run(volumeId) },
      cluster: { concurrency: 1, run: ({ clusterId }) => run(clusterId) },
    },
    onError,
  );
  closers.push(() => workers.close());
}
