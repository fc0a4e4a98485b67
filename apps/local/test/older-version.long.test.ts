/** Processes of a version from before an upgrade that was finished, as a container that is started again has them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { createPool } from '@holdfast/database/sql/pool.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { freePort } from '@holdfast/testkit/free-port.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

/** A migration that only a newer version knows, by which that one has finished its upgrade. */
const FINISHED = `INSERT INTO version_floor VALUES (1, '29990101000000_next', 1, now())`;
const REASON =
  /^holdfast: the database was taken over by a newer Holdfast: .* 29990101000000_next, which this/m;

let database: TestDatabase;
let owner: ReturnType<typeof createPool>;
beforeAll(async () => {
  database = await startTestDatabase();
  owner = createPool(database.ownerUrl, { connectionsMax: 1, applicationName: 'test' });
});
afterAll(async () => {
  await owner?.end();
  await database?.stop();
});
beforeEach(() => owner.query('DELETE FROM version_floor'));

let started: ChildProcess | undefined;
afterEach(() => {
  started?.kill('SIGKILL');
});

const main = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));
const environment = (systemUrl = database.systemUrl) => ({
  PATH: process.env.PATH,
  DATABASE_URL: database.apiUrl,
  DATABASE_SYSTEM_URL: systemUrl,
  HOLDFAST_LOG_LEVEL: 'silent',
});

describe('once a newer version has finished its upgrade', () => {
  test.each(['api/dist/main.js', 'worker/dist/main.js', 'local/dist/finish-upgrade.js'])(
    '%s is not started any more, and says why',
    async (file) => {
      await owner.query(FINISHED);
      const env = { ...environment(), HOLDFAST_API_PORT: '0', HOLDFAST_WORKER_PORT: '0' };
      const told = spawnSync(process.execPath, [main(file)], { env, encoding: 'utf8', timeout: 180_000 });
      expect({ status: told.status, stderr: told.stderr }).toEqual({
        status: 2,
        stderr: expect.stringMatching(REASON),
      });
      expect(told.stderr.trim().split('\n')).toHaveLength(1);
    },
  );

  test('an API that runs goes on, as it does while the upgrade is under way', async () => {
    const port = await freePort();
    const env = { ...environment(), HOLDFAST_API_PORT: String(port) };
    started = spawn(process.execPath, [main('api/dist/main.js')], { env, stdio: 'ignore' });
    const status = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        (answer) => answer.status,
        () => 0,
      );
    await eventually('it is ready', status, (code) => code === 200);
    await owner.query(FINISHED);
    expect(await status()).toBe(200);
    expect(started.exitCode).toBeNull();
  });

  test('an API that began while Postgres was away ends once it has come back', async () => {
    await owner.query(FINISHED);
    // What asks there is cut off, as by a server that is starting.
    const absent = net.createServer((client) => client.destroy());
    const asked = once(absent, 'connection');
    await once(absent.listen(0, '127.0.0.1'), 'listening');
    const { port } = absent.address() as net.AddressInfo;
    const away = Object.assign(new URL(database.systemUrl), { port: String(port) }).href;
    const env = { ...environment(away), HOLDFAST_API_PORT: '0' };
    started = spawn(process.execPath, [main('api/dist/main.js')], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let told = '';
    started.stderr?.on('data', (chunk: Buffer) => (told += chunk.toString()));
    const ended = once(started, 'exit');
    // It has asked in vain by then, and goes on waiting.
    await asked;
    absent.close();
    await once(absent, 'close');
    const { hostname, port: realPort } = new URL(database.systemUrl);
    const back = net.createServer((client) => {
      const server = net.connect(Number(realPort), hostname);
      for (const socket of [client, server]) socket.on('error', () => undefined);
      client.pipe(server).pipe(client);
    });
    back.listen(port, '127.0.0.1');
    try {
      expect(await ended).toEqual([2, null]);
      expect(told).toMatch(REASON);
    } finally {
      back.close();
    }
  });
});

test('an upgrade is not finished while a node has an older agent, unless that is to be refused', async () => {
  const { organizationId, clusterId } = await seedTestDatabase(database);
  await owner.query(
    `INSERT INTO node (id, organization_id, cluster_id, name, last_heartbeat_at, created_at)
       VALUES (gen_random_uuid(), $1, $2, 'node-7', now(), now())`,
    [organizationId, clusterId],
  );
  const finish = (...flags: string[]) =>
    spawnSync(process.execPath, [main('local/dist/finish-upgrade.js'), ...flags], {
      env: environment(),
      encoding: 'utf8',
    });
  const refused = finish();
  expect({ status: refused.status, stderr: refused.stderr }).toEqual({
    status: 3,
    stderr: expect.stringContaining('these nodes have older agents: node-7.'),
  });
  expect((await owner.query('SELECT FROM version_floor')).rowCount).toBe(0);
  const finished = finish('--despite-older-agents');
  expect({ status: finished.status, stderr: finished.stderr }).toEqual({ status: 0, stderr: '' });
  expect(finished.stdout).toContain('the upgrade is finished');
  expect((await owner.query('SELECT FROM version_floor')).rowCount).toBe(1);
});
