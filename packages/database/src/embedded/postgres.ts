/**
 * Runs the Postgres that comes from npm, for `npm start` and for tests.
 *
 * Crash behaviour: a half-made data folder is thrown away (initdb works under another name, then renames). A Postgres
 * whose supervisor was killed is adopted at the next start, so that two never fight over one folder. A killed
 * Postgres recovers from its log at the next start.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StorageFault } from '@holdfast/core/model/faults.js';
import pg from 'pg';
import { locatePostgres, type PostgresLocation } from './location.js';
import { findRunningPostmaster, isAlive, type Postmaster, readPostmasterFile } from './postmaster-file.js';

export { removeEmbeddedPostgres } from './location.js';

/** Recovery after a crash replays at most `max_wal_size`; a minute covers that on a slow disk. */
const READY_TIMEOUT_MS = 60_000;
/** A fast shutdown writes one checkpoint. After this a stop turns into an immediate one, which loses nothing either. */
const STOP_TIMEOUT_MS = 10_000;
const POLL_MS = 15;
/** Adopted processes are not our children, so their death is noticed by looking. */
const ADOPTED_POLL_MS = 1_000;
/** The log is cut at a start once it is larger, so that it can't fill the disk over the years. */
const LOG_BYTES_MAX = 8 * 1024 * 1024;

const OWNER = 'postgres';
const DATABASE = 'holdfast';

/**
 * Small memory: the whole idle stack has a budget of 1.2 GB. Many connections: BullMQ on Postgres takes two for each
 * worker. No replication, so the smaller log level will do. Durability settings stay at their safe defaults.
 */
const SERVER_SETTINGS = {
  max_connections: '200',
  shared_buffers: '48MB',
  max_wal_size: '256MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  io_method: 'sync',
  jit: 'off',
  log_min_messages: 'warning',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
};

export type EmbeddedPostgresOptions = {
  directory: string;
  /** A free one is chosen when it is left out. */
  port?: number;
  /** Extra server settings, for tests. */
  settings?: Readonly<Record<string, string>>;
  log?: (line: string) => void;
  /** Whether this process stays alive as long as Postgres does: `true` where it is left out. */
  holdsProcess?: boolean;
};

export type EmbeddedPostgres = {
  /** The owner's connection to the `holdfast` database: for migrations, never for serving. */
  url: string;
  port: number;
  pid: number;
  /** Its data folder, which is not always the requested one. */
  directory: string;
  /** Resolves when the process is gone, whatever the reason. */
  exited: Promise<void>;
  stop(): Promise<void>;
};

type Running = { pid: number; port: number; exited: Promise<void> };

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const location = locatePostgres(options.directory);
  const log = options.log ?? (() => {});
  prepareDirectory(location);
  const dataDirectory = path.join(location.directory, 'pgdata');
  const password = ownerPassword(location);
  initialise(location, dataDirectory, log);

  const running = (await adopt(dataDirectory, options.port, log)) ?? (await launch(location, options));
  log(`postgres ${running.pid} is ready on port ${running.port}`);
  await createDatabase(ownerUrl(running.port, password, 'postgres'));
  return {
    url: ownerUrl(running.port, password, DATABASE),
    port: running.port,
    pid: running.pid,
    directory: location.directory,
    exited: running.exited,
    stop: () => stopProcess(running),
  };
}

function ownerUrl(port: number, password: string, database: string): string {
  return `postgresql://${OWNER}:${password}@127.0.0.1:${port}/${database}`;
}

function prepareDirectory(location: PostgresLocation): void {
  fs.mkdirSync(location.directory, { recursive: true });
  if (location.runAs.uid === undefined) return;
  fs.chownSync(location.directory, location.runAs.uid, location.runAs.gid);
  fs.chmodSync(location.directory, 0o700);
}

/** Any process on the machine can reach the loopback port, so even the owner needs a password. Made once. */
function ownerPassword(location: PostgresLocation): string {
  const file = path.join(location.directory, 'owner-password');
  if (!fs.existsSync(file)) {
    const partial = `${file}.tmp`;
    fs.writeFileSync(partial, randomBytes(24).toString('base64url'), { mode: 0o600 });
    if (location.runAs.uid !== undefined) fs.chownSync(partial, location.runAs.uid, location.runAs.gid);
    fs.renameSync(partial, file);
  }
  return fs.readFileSync(file, 'utf8').trim();
}

function initialise(location: PostgresLocation, dataDirectory: string, log: (line: string) => void): void {
  if (fs.existsSync(path.join(dataDirectory, 'PG_VERSION'))) return;
  log('making a new Postgres data folder');
  const partial = `${dataDirectory}.init`;
  fs.rmSync(partial, { recursive: true, force: true });
  const passwordFile = path.join(location.directory, 'owner-password');
  const result = spawnSync(
    location.initdb,
    [
      `--pgdata=${partial}`,
      `--username=${OWNER}`,
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--no-locale',
      '--encoding=UTF8',
      '--no-instructions',
    ],
    { ...processOptions(location), encoding: 'utf8' },
  );
  if (result.status !== 0) {
    throw unavailable(`initdb failed: ${result.error?.message ?? `${result.stderr}${result.stdout}`}`);
  }
  fs.renameSync(partial, dataDirectory);
}

/** Takes over a Postgres that outlived its supervisor, or stops it when the caller needs another port. */
async function adopt(
  dataDirectory: string,
  wantedPort: number | undefined,
  log: (line: string) => void,
): Promise<Running | undefined> {
  const found = findRunningPostmaster(dataDirectory);
  if (found === undefined) {
    removeStaleFile(dataDirectory);
    return undefined;
  }
  const running = { pid: found.pid, port: found.port, exited: watchUntilGone(found.pid) };
  if (wantedPort !== undefined && found.port !== wantedPort) {
    log(`stopping postgres ${found.pid}: it is on port ${found.port}`);
    await stopProcess(running);
    return undefined;
  }
  const ready = await waitUntilReady(dataDirectory, found.pid);
  if (ready !== undefined) log(`adopted postgres ${found.pid}, which was still running`);
  return ready === undefined ? undefined : running;
}

/**
 * After a reboot the pid in the file may belong to a stranger, and Postgres would refuse to start. Only then is the
 * file removed: otherwise it also guards against a dead postmaster's last sessions.
 */
function removeStaleFile(dataDirectory: string): void {
  const stale = readPostmasterFile(dataDirectory);
  if (stale !== undefined && isAlive(stale.pid)) fs.rmSync(path.join(dataDirectory, 'postmaster.pid'));
}

async function launch(location: PostgresLocation, options: EmbeddedPostgresOptions): Promise<Running> {
  const port = options.port ?? (await freePort());
  const dataDirectory = path.join(location.directory, 'pgdata');
  const logFile = path.join(location.directory, 'postgres.log');
  const child = spawnPostgres(location, { dataDirectory, port, logFile, settings: options.settings ?? {} });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  if (options.holdsProcess === false) child.unref();
  const pid = child.pid;
  if (pid === undefined) throw unavailable(`${location.postgres} could not be started`);
  const ready = await waitUntilReady(dataDirectory, pid);
  if (ready === undefined) throw unavailable(`Postgres ended at its start: ${tail(logFile)}`);
  return { pid, port, exited };
}

function spawnPostgres(
  location: PostgresLocation,
  start: {
    dataDirectory: string;
    port: number;
    logFile: string;
    settings: Readonly<Record<string, string>>;
  },
): ChildProcess {
  const settings = Object.entries({ ...SERVER_SETTINGS, ...start.settings });
  const size = fs.statSync(start.logFile, { throwIfNoEntry: false })?.size ?? 0;
  // A file and not a pipe: Postgres outlives us when we are killed, and must still be able to write its log.
  const logHandle = fs.openSync(start.logFile, size > LOG_BYTES_MAX ? 'w' : 'a', 0o600);
  const child = spawn(
    location.postgres,
    [
      '-D',
      start.dataDirectory,
      '-p',
      String(start.port),
      ...settings.flatMap(([k, v]) => ['-c', `${k}=${v}`]),
    ],
    {
      ...processOptions(location),
      // A process group of its own: Ctrl-C reaches the supervisor alone, which then stops things in their order.
      detached: true,
      stdio: ['ignore', logHandle, logHandle],
    },
  );
  fs.closeSync(logHandle);
  return child;
}

function processOptions(location: PostgresLocation) {
  // Fixed locale and zone, so that messages can be read by us and nothing depends on the user's environment.
  const env = { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' };
  return { ...location.runAs, cwd: location.directory, env };
}

/** Resolves when Postgres accepts connections, or with undefined when the process ended first. */
async function waitUntilReady(dataDirectory: string, pid: number): Promise<Postmaster | undefined> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const postmaster = readPostmasterFile(dataDirectory);
    if (postmaster?.pid === pid && postmaster.ready) return postmaster;
    if (!isAlive(pid)) return undefined;
    await delay(POLL_MS);
  }
  throw unavailable(`Postgres was not ready within ${READY_TIMEOUT_MS / 1000} s`);
}

async function watchUntilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await delay(ADOPTED_POLL_MS, undefined, { ref: false });
}

/** Fast shutdown first: it ends sessions and writes a checkpoint. Then immediate, then the kernel's. */
async function stopProcess(running: Running): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!isAlive(running.pid)) return;
    process.kill(running.pid, signal);
    const deadline = Date.now() + STOP_TIMEOUT_MS;
    while (isAlive(running.pid) && Date.now() < deadline) await delay(POLL_MS);
  }
}

async function createDatabase(maintenanceUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: maintenanceUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}

async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === 'string') throw unavailable('no free port was found');
  return address.port;
}

function tail(file: string): string {
  const TAIL_CHARACTERS = 2_000;
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').slice(-TAIL_CHARACTERS).trim() : 'no log';
}

function unavailable(message: string): StorageFault {
  return new StorageFault('store.unavailable', { publicMessage: message });
}
