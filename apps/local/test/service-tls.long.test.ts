/** Postgres and Redis of a deployment: by TLS with certificates of our own, and with a password. */
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { migrate } from '@holdfast/database/migrate.js';
import { prepareRoles } from '@holdfast/database/roles.js';
import { databaseTrouble } from '@holdfast/database/sql/connection-trouble.js';
import { createPool } from '@holdfast/database/sql/pool.js';
import { openBackend } from '@holdfast/jobs/backend.js';
import { redisTrouble } from '@holdfast/jobs/redis-trouble.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { freePortBlock } from '@holdfast/testkit/local-stack.js';
import { hasRedis, startRedis } from '@holdfast/testkit/redis-server.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ensureServiceCertificates, type ServiceFolders } from '../src/service-certificates.js';

const repositoryRoot = fileURLToPath(new URL('../../../', import.meta.url));
const NOW = new Date();
const DAY_MS = 24 * 3_600_000;
/** Whom Postgres runs as where these tests are run by root. */
const NOBODY_ID = 65534;
const PASSWORD = 'a-password-of-redis';

let root: string;
let folders: ServiceFolders;
const ca = () => path.join(root, 'ca/ca.pem');
const certificate = (host: string) =>
  new X509Certificate(fs.readFileSync(path.join(root, host, 'server-cert.pem')));

beforeAll(async () => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-service-tls-'));
  for (const folder of ['', 'ca', 'localhost', 'redis', 'other']) {
    fs.mkdirSync(path.join(root, folder), { recursive: true });
    fs.chmodSync(path.join(root, folder), 0o755);
  }
  const ownerId = process.getuid?.() === 0 ? NOBODY_ID : undefined;
  const services = ['localhost', 'redis'].map((host) => ({ host, folder: path.join(root, host), ownerId }));
  folders = { authority: path.join(root, 'ca'), services };
  await ensureServiceCertificates(folders, NOW);
  await ensureServiceCertificates({ authority: path.join(root, 'other'), services: [] }, NOW);
});
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));

describe('the certificates of Postgres and Redis', () => {
  test('are for one host each, of one authority whose key is nowhere', () => {
    const issuer = new X509Certificate(fs.readFileSync(ca()));
    for (const host of ['localhost', 'redis']) {
      expect(certificate(host).verify(issuer.publicKey)).toBe(true);
      expect(certificate(host).checkHost(host)).toBe(host);
      expect(certificate(host).checkHost('other')).toBeUndefined();
      expect(fs.statSync(path.join(root, host, 'server-key.pem')).mode & 0o077).toBe(0);
    }
    expect(fs.readdirSync(path.join(root, 'ca'))).toEqual(['ca.pem']);
  });

  test.each<[string, Date, () => void, boolean]>([
    ['stay while they are good', NOW, () => undefined, false],
    ['are made anew before they end', new Date(NOW.getTime() + 680 * DAY_MS), () => undefined, true],
    [
      'are made anew where a run was cut short',
      NOW,
      () => fs.rmSync(path.join(root, 'redis/server-cert.pem')),
      true,
    ],
  ])('certificates of services %s', async (_what, now, before, isNew) => {
    before();
    expect(await ensureServiceCertificates(folders, now)).toBe(isNew);
    expect(await ensureServiceCertificates(folders, now)).toBe(false);
  });
});

test('the control plane reaches Postgres by its name and authority only', async () => {
  const directory = path.join(root, 'data');
  const settings = {
    ssl: 'on',
    ssl_cert_file: path.join(root, 'localhost/server-cert.pem'),
    ssl_key_file: path.join(root, 'localhost/server-key.pem'),
    fsync: 'off',
  };
  const server = await startEmbeddedPostgres({ directory, settings });
  const over = (host: string, file: string) => {
    const url = new URL(server.url);
    url.hostname = host;
    url.search = `?sslmode=verify-full&sslrootcert=${file}`;
    return url.href;
  };
  try {
    await migrate(over('localhost', ca()));
    const { systemUrl } = await prepareRoles(over('localhost', ca()));
    const pool = createPool(systemUrl, { connectionsMax: 1, applicationName: 'test' });
    const { rows } = await pool.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    await pool.end();
    expect(rows).toEqual([{ ssl: true }]);
    await expect(migrate(over('127.0.0.1', ca()))).rejects.toThrow(/altnames|does not match/i);
    const otherCa = path.join(root, 'other/ca.pem');
    await expect(migrate(over('localhost', otherCa))).rejects.toThrow();

    const noFile = path.join(root, 'none.pem');
    const noPem = path.join(root, 'letter.pem');
    fs.writeFileSync(noPem, 'a letter');
    const cases: [string, string, RegExp][] = [
      [
        'localhost',
        otherCa,
        /^holdfast: Postgres at localhost:\d+ shows a certificate of another authority than .*other/,
      ],
      ['localhost', noFile, /^holdfast: .*none\.pem, the authority of Postgres .*, is not there/],
      [
        'localhost',
        noPem,
        /^holdfast: .*letter\.pem.* is no certificate|^holdfast: .*another authority than .*letter\.pem/,
      ],
      ['127.0.0.1', ca(), /^holdfast: Postgres at 127\.0\.0\.1:\d+ shows a certificate for another name/],
    ];
    for (const [host, file, says] of cases) {
      const told = prepareWith(over(host, file));
      expect({ status: told.status, stderr: told.stderr.trim().split('\n') }).toEqual({
        status: 2,
        stderr: [expect.stringMatching(says)],
      });
    }
    // All others that go to the database say the same, each with the exit code of its kind.
    const distrusted = over('localhost', otherCa);
    const home = path.join(root, 'home');
    const port = await freePortBlock();
    const others: [string, string[], NodeJS.ProcessEnv, number][] = [
      ['the api', ['apps/api/dist/main.js'], { DATABASE_SYSTEM_URL: distrusted, HOLDFAST_API_PORT: '0' }, 2],
      ['the worker', ['apps/worker/dist/main.js'], { DATABASE_SYSTEM_URL: distrusted }, 2],
      [
        'npm start',
        ['apps/local/dist/main.js'],
        { HOLDFAST_HOME: home, HOLDFAST_PORT_BASE: String(port), HOLDFAST_CONSOLE: 'off' },
        1,
      ],
      ['a backup', ['apps/cli/bin/holdfast.mjs', 'backup', 'create', path.join(root, 'a-backup')], {}, 3],
    ];
    for (const [what, command, environment, status] of others) {
      const told = run(command, { DATABASE_URL: distrusted, ...environment });
      expect({ what, status: told.status, stderr: told.stderr.trim().split('\n') }).toEqual({
        what,
        status,
        stderr: [expect.stringMatching(/Postgres at localhost:\d+ shows a certificate of another authority/)],
      });
    }
    expect(fs.existsSync(path.join(root, 'a-backup'))).toBe(false);
    // Nothing is half-made, and what is only away is no trouble of certificates.
    expect(await databaseTrouble(over('localhost', ca()))).toBeUndefined();
    expect(await databaseTrouble('postgresql://postgres@localhost:1/none')).toBeUndefined();
  } finally {
    await server.stop();
  }
});

/** Runs a program of the repository to its end. */
function run(command: readonly string[], environment: NodeJS.ProcessEnv) {
  return spawnSync(process.execPath, command, {
    cwd: repositoryRoot,
    encoding: 'utf8',
    timeout: 180_000,
    env: { PATH: process.env.PATH, ...environment },
  });
}

/** The run that prepares a database, as a deployment has it. */
function prepareWith(databaseUrl: string) {
  return run(['apps/local/dist/prepare.js'], {
    DATABASE_URL: databaseUrl,
    HOLDFAST_DATABASE_API_PASSWORD: 'a-password-of-the-api',
    HOLDFAST_DATABASE_SYSTEM_PASSWORD: 'a-password-of-the-system',
  });
}

/** A worker whose Postgres is away, which it would wait for. */
function workerWith(redisUrl: string, caFile: string) {
  return run(['apps/worker/dist/main.js'], {
    DATABASE_SYSTEM_URL: 'postgresql://system@localhost:1/holdfast',
    REDIS_URL: redisUrl,
    REDIS_CA_FILE: caFile,
    HOLDFAST_WORKER_PORT: '0',
  });
}

const withRedis = hasRedis() ? test : test.skip;

withRedis(
  'jobs go through Redis by TLS and with its password only',
  async () => {
    const redis = await startRedis({
      certFile: path.join(root, 'localhost/server-cert.pem'),
      keyFile: path.join(root, 'localhost/server-key.pem'),
      password: PASSWORD,
    });
    const { port } = new URL(redis.url);
    const done: unknown[] = [];
    const redisUrl = `rediss://:${PASSWORD}@localhost:${port}`;
    const backend = openBackend({ redisUrl, redisCaFile: ca(), databaseUrl: '' });
    const queue = backend.queue('holdfast-test', () => undefined);
    try {
      const take = async (data: unknown) => void done.push(data);
      const worker = backend.worker('holdfast-test', take, { concurrency: 1, onError: () => undefined });
      await queue.add('wake', { id: 'x' });
      await eventually(
        'the job is done',
        async () => done,
        (all) => all.length === 1,
      );
      await Promise.all([worker.close(), queue.close()]);
      const stranger = tls.connect({ port: Number(port), host: 'localhost', ca: fs.readFileSync(ca()) });
      stranger.write('PING\r\n');
      const [answer] = await once(stranger, 'data');
      stranger.destroy();
      expect(String(answer)).toContain('NOAUTH');

      expect(await redisTrouble(redisUrl, ca())).toBeUndefined();
      expect(await redisTrouble('rediss://localhost:1', ca())).toBeUndefined();
      const otherCa = path.join(root, 'other/ca.pem');
      for (const [file, says] of [
        [otherCa, `Redis at localhost:${port} shows a certificate of another authority than ${otherCa} has`],
        ['/none/ca.pem', '/none/ca.pem, the authority of Redis (REDIS_CA_FILE), is not there'],
      ] as const) {
        const told = workerWith(redisUrl, file);
        expect({ status: told.status, says: told.stderr }).toEqual({
          status: 2,
          says: expect.stringContaining(says),
        });
      }
    } finally {
      await backend.close();
      await redis.stop();
    }
  },
  60_000,
);
