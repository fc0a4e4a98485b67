import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { freePort } from '@holdfast/testkit/free-port.js';
import {
  seedTestDatabase,
  startTestServer,
  TEST_SECRETS,
  type TestServer,
} from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const POLL_MS = 50;

let database: TestServer;
let api: ChildProcess;
let origin: string;
let clusterId: string;

beforeAll(async () => {
  database = await startTestServer();
  ({ clusterId } = await seedTestDatabase(database));
  await database.server.stop();
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  api = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      HOLDFAST_API_PORT: String(port),
      HOLDFAST_LOG_LEVEL: 'silent',
      DATABASE_URL: database.apiUrl,
      DATABASE_SYSTEM_URL: database.systemUrl,
    },
    stdio: 'ignore',
  });
});

afterAll(async () => {
  if (api?.exitCode === null) {
    api.kill('SIGKILL');
    await once(api, 'exit');
  }
  await database?.stop();
});

test('starts before its database, gets ready with it, survives its death and stops on SIGTERM', async () => {
  expect(await status('/livez')).toBe(200);
  expect(await status('/readyz')).toBe(503);
  expect(await status('/startupz')).toBe(503);

  const { directory, port } = database.server;
  const first = await startEmbeddedPostgres({ directory, port });
  try {
    await untilReady();
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    expect(await status('/readyz')).toBe(503);
    expect(await status('/startupz')).toBe(200);
    // Whoever asks may be a stranger.
    const told = await (await fetch(`${origin}/readyz?verbose`)).text();
    expect(told).toContain('"database","status":"failed"');
    expect(told).not.toMatch(/\d+\.\d+|ECONN|postgres/i);
    const second = await startEmbeddedPostgres({ directory, port });
    try {
      await untilReady();
      // The client keeps its stream open, which must not keep the process from stopping.
      const events = await fetch(`${origin}/api/v1/clusters/${clusterId}/events/stream`, {
        headers: { authorization: `Bearer ${TEST_SECRETS.token}` },
      });
      expect(events.status).toBe(200);
      const exited = once(api, 'exit');
      api.kill('SIGTERM');
      expect(await exited).toEqual([0, null]);
    } finally {
      await second.stop();
    }
  } finally {
    await first.stop();
  }
});

/** Asks until the process answers at all, then returns the status. */
async function status(route: string): Promise<number> {
  for (;;) {
    try {
      return (await fetch(`${origin}${route}`)).status;
    } catch {
      if (api.exitCode !== null) throw new Error(`the API ended with ${api.exitCode}`);
      await delay(POLL_MS);
    }
  }
}

async function untilReady(): Promise<void> {
  while ((await status('/readyz')) !== 200) await delay(POLL_MS);
}
