import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '@holdfast/testkit/free-port.js';
import { afterEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { type EmbeddedPostgres, removeEmbeddedPostgres, startEmbeddedPostgres } from './postgres.js';

const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A folder that `nobody` may enter (or not), and that is gone after the test. */
function temporaryFolder(mode = 0o755): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-pg-'));
  fs.chmodSync(folder, mode);
  cleanups.push(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function start(directory: string, port?: number): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ directory, ...(port === undefined ? {} : { port }) });
  cleanups.push(() => server.stop());
  return server;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('startEmbeddedPostgres', () => {
  test('keeps data over a stop and over a kill', async () => {
    const directory = path.join(temporaryFolder(), 'postgres');
    const first = await start(directory);
    await query(first.url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)');
    await first.stop();

    const second = await start(directory, first.port);
    expect(second.port).toBe(first.port);
    await query(second.url, 'INSERT INTO kept VALUES (2)');
    process.kill(second.pid, 'SIGKILL');
    await second.exited;

    const third = await start(directory, first.port);
    expect(await query(third.url, 'SELECT n FROM kept ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test('adopts a running one, and moves it when another port is wanted', async () => {
    const directory = path.join(temporaryFolder(), 'postgres');
    const first = await start(directory);
    const adopted = await start(directory);
    expect(adopted.pid).toBe(first.pid);
    expect(adopted.url).toBe(first.url);

    const moved = await start(directory, await freePort());
    expect(moved.pid).not.toBe(first.pid);
    expect(await query(moved.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('does not take another process for Postgres because of a stale pid file', async () => {
    const directory = path.join(temporaryFolder(), 'postgres');
    const first = await start(directory);
    const pidFile = path.join(directory, 'pgdata', 'postmaster.pid');
    const content = fs.readFileSync(pidFile, 'utf8');
    await first.stop();
    const stranger = spawn('sleep', ['60']);
    cleanups.push(async () => {
      stranger.kill();
      await once(stranger, 'exit');
    });
    fs.writeFileSync(pidFile, content.replace(/^\d+/, String(stranger.pid)));

    const second = await start(directory);
    expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(stranger.exitCode).toBeNull();
  });

  test('refuses a connection without the password', async () => {
    const server = await start(path.join(temporaryFolder(), 'postgres'));
    const url = new URL(server.url);
    url.password = 'wrong';
    await expect(query(url.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
  });

  test('runs under a folder that only its owner may enter', async () => {
    const directory = path.join(temporaryFolder(0o700), 'postgres');
    cleanups.push(() => removeEmbeddedPostgres(directory));
    const server = await start(directory);
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});
