import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.js';
import { hasPrograms } from './nbd-tools.js';

export type RedisServer = {
  url: string;
  /** Tells it something by its own words, such as `CONFIG SET maxmemory 1mb`, and returns its answer as it is on the wire. */
  tell(command: string): Promise<string>;
  directory: string;
  /** Has it forget everything. */
  forget(): Promise<void>;
  /** Ends the process with all it knew; connections break, and nothing listens until `begin`. */
  end(): Promise<void>;
  /** Starts it again, empty, on the same port. */
  begin(): Promise<void>;
  stop(): Promise<void>;
};

/** As a deployment has it: by TLS only, and with a password. */
export type RedisTls = { certFile: string; keyFile: string; password: string };

function tlsArguments(port: number, { certFile, keyFile, password }: RedisTls): string[] {
  const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-auth-clients', 'no'];
  return ['--port', '0', '--tls-port', String(port), ...files, '--requirepass', password];
}

const READY_TIMEOUT_MS = 120_000;

/** @throws Error in continuous integration, where a missing server would leave tests out unnoticed */
export function hasRedis(): boolean {
  return hasPrograms('redis-server');
}

/** A real Redis of its own, on a free port, that keeps nothing. */
export async function startRedis(tls?: RedisTls): Promise<RedisServer> {
  const port = await freePort();
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-redis-'));
  const args = [
    ...(tls === undefined ? ['--port', String(port)] : tlsArguments(port, tls)),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    directory,
  ];
  let server = await spawned(port, args);
  const end = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.kill('SIGTERM');
    await gone;
  };
  return {
    url: `redis${tls === undefined ? '' : 's'}://127.0.0.1:${port}`,
    directory,
    tell: (command) => tell(port, command),
    forget: () => flushAll(port),
    end,
    async begin() {
      server = await spawned(port, args);
    },
    async stop() {
      await end();
      fs.rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function spawned(port: number, args: readonly string[]): Promise<ChildProcess> {
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await accepts(port))) {
    if (server.exitCode !== null || Date.now() > deadline) throw new Error('redis-server did not start');
    await sleep(20);
  }
  return server;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function tell(port: number, command: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1');
  socket.write(`${command}\r\n`);
  const [answer] = await once(socket, 'data');
  socket.destroy();
  return String(answer);
}

async function flushAll(port: number): Promise<void> {
  const answer = await tell(port, 'FLUSHALL');
  if (answer !== '+OK\r\n') throw new Error(`Redis answered ${answer}`);
}
