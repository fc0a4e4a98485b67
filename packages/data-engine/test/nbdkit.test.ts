/** nbdkit's filters between a client and a volume, and between an engine and one of its copies. */
import { type ChildProcess, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { ReplicaAddress } from '@holdfast/core/model/agent-protocol.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { freePort } from '@holdfast/testkit/free-port.js';
import { hasPrograms, outputOf, runTool } from '@holdfast/testkit/nbd-tools.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Engine } from '../src/engine/engine.js';
import { type Cluster, expectBytes, MIB, modes, SIZE, useClusters, write } from './engine-cluster.js';
import { ServedVolume } from './served-volume.js';

const clusters = useClusters();
const kits: ChildProcess[] = [];
const volumes: ServedVolume[] = [];
let folder: string;

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-nbdkit-'));
});
afterEach(async () => {
  for (const kit of kits.splice(0)) {
    const ended = once(kit, 'exit');
    kit.kill('SIGKILL');
    await ended;
  }
  for (const volume of volumes.splice(0)) await volume.stop();
  fs.rmSync(folder, { recursive: true });
});

/** One request in fifty fails, and is retried a second later: the filter accepts no shorter delay. */
const RETRIED_ERRORS = [
  '--filter=retry-request',
  '--filter=error',
  'error-pread-rate=2%',
  'error-pwrite-rate=2%',
  'retry-request-retries=10',
  'retry-request-delay=1',
];

const withTools = hasPrograms('nbdkit', 'nbdcopy', 'qemu-io') ? describe : describe.skip;

withTools('filters in front of a volume', () => {
  async function proxied(...filters: string[]): Promise<{ volume: ServedVolume; uri: string }> {
    const cluster = await clusters.cluster(3);
    const volume = await serve(await cluster.start(1));
    const port = await nbdkit([`uri=${volume.uri}`], filters);
    return { volume, uri: `nbd://127.0.0.1:${port}` };
  }

  async function thereAndBack(uri: string): Promise<void> {
    const bytes = Buffer.alloc(SIZE);
    crypto.randomFillSync(bytes, MIB, 6 * MIB + 1536);
    fs.writeFileSync(path.join(folder, 'there'), bytes);
    await outputOf('nbdcopy', '--flush', path.join(folder, 'there'), uri);
    await outputOf('nbdcopy', uri, path.join(folder, 'back'));
    expect({ same: fs.readFileSync(path.join(folder, 'back')).equals(bytes) }).toEqual({ same: true });
  }

  test.each([
    { name: 'none', filters: [] },
    { name: 'delay', filters: ['--filter=delay', 'rdelay=2ms', 'wdelay=2ms'] },
    { name: 'blocksize', filters: ['--filter=blocksize', 'minblock=4k', 'maxdata=64k', 'maxlen=1m'] },
    { name: 'error, and retry-request before it', filters: RETRIED_ERRORS },
  ])('$name: an image goes there and back', async ({ filters }) => {
    const { uri } = await proxied(...filters);
    await thereAndBack(uri);
  });

  test('an error on the way is the client’s, and what came before and after it is there', async () => {
    const trigger = path.join(folder, 'errors');
    const { uri, volume } = await proxied(
      '--filter=error',
      'error=EIO',
      'error-rate=100%',
      `error-file=${trigger}`,
    );
    const io = (line: string) => runTool('qemu-io', ['-f', 'raw', '-c', line, uri]);
    expect((await io('write -P 1 0 64k')).stdout).toContain('wrote 65536/65536');
    fs.writeFileSync(trigger, '');
    expect((await io('write -P 2 0 64k')).stdout).toContain('Input/output error');
    fs.rmSync(trigger);
    expect((await io('read -P 1 0 64k')).stdout).toContain('read 65536/65536');
    const client = await volume.connect();
    expect((await client.read(0, 4096))[0]?.[0]).toBe(1);
    client.close();
  });
});

withTools('filters between an engine and one of its copies', () => {
  /** The addresses of all copies, the last one of them behind nbdkit, which passes the export's name on. */
  async function behind(cluster: Cluster, ...filters: string[]): Promise<ReplicaAddress[]> {
    const { address } = cluster.copy(2);
    const far = ['hostname=127.0.0.1', `port=${address.nbdPort}`, 'dynamic-export=true'];
    const nbdPort = await nbdkit(far, filters);
    return [cluster.copy(0).address, cluster.copy(1).address, { ...address, nbdPort }];
  }

  test('a copy that answers late is waited for', async () => {
    const cluster = await clusters.cluster(3);
    const replicas = await behind(cluster, '--filter=delay', 'delay-read=50ms', 'delay-write=50ms');
    const engine = await cluster.start(1, { replicas });
    await serve(engine);
    const data = crypto.randomBytes(4 * MIB);
    await write(engine, MIB, data);
    await engine.device.flush();
    await expectBytes(engine, MIB, data);
    expect(modes(engine)).toEqual(['RW', 'RW', 'RW']);
  });

  test('one that fails a write is dropped without an error, and the others go on', async () => {
    const cluster = await clusters.cluster(3);
    const trigger = path.join(folder, 'errors');
    const failing = ['--filter=error', 'error=EIO', 'error-rate=100%', `error-file=${trigger}`];
    const engine = await cluster.start(1, { replicas: await behind(cluster, ...failing) });
    const volume = await serve(engine);
    await outputOf('qemu-io', '-f', 'raw', '-c', 'write -P 1 0 1M', '-c', 'flush', volume.uri);
    expect(modes(engine)).toEqual(['RW', 'RW', 'RW']);
    fs.writeFileSync(trigger, '');
    await outputOf('qemu-io', '-f', 'raw', '-c', 'write -f -P 2 0 64k', '-c', 'read -P 2 0 64k', volume.uri);
    expect(modes(engine)).toEqual(['RW', 'RW', 'ERR']);
    expect(engine.report().record).toMatchObject({ dataGeneration: 2 });
    expect(engine.report().record.members).not.toContain(cluster.copy(2).address.replicaId);
  });

  test('one that fails a read is dropped, and another one serves it', async () => {
    const cluster = await clusters.cluster(3);
    const trigger = path.join(folder, 'errors');
    const failing = [
      '--filter=error',
      'error-pread=EIO',
      'error-pread-rate=100%',
      `error-pread-file=${trigger}`,
    ];
    // A copy that a loaded machine keeps silent is not what is meant.
    const engine = await cluster.start(1, {
      replicas: await behind(cluster, ...failing),
      replicaTimeoutMs: 20_000,
    });
    const volume = await serve(engine);
    await outputOf('qemu-io', '-f', 'raw', '-c', 'write -P 1 0 16M', volume.uri);
    fs.writeFileSync(trigger, '');
    // A stretch of 1 MiB is read from one copy, the next from the next one.
    const reads = Array.from({ length: 16 }, (_, at) => ['-c', `read -P 1 ${at}M 1M`]).flat();
    const output = await outputOf('qemu-io', '-f', 'raw', ...reads, volume.uri);
    expect(output.match(/^read 1048576\/1048576/gm)).toHaveLength(16);
    expect(output).not.toContain('failed');
    expect(modes(engine)).toEqual(['RW', 'RW', 'ERR']);
  });

  test('one that is silent for longer than the limit is dropped without an error', async () => {
    const cluster = await clusters.cluster(3);
    const replicas = await behind(cluster, '--filter=delay', 'delay-write=60');
    const engine = await cluster.start(1, { replicas });
    const volume = await serve(engine);
    await outputOf('qemu-io', '-f', 'raw', '-c', 'write -P 1 0 1M', '-c', 'read -P 1 0 1M', volume.uri);
    expect(modes(engine)).toEqual(['RW', 'RW', 'ERR']);
    expect(engine.report().replicas[2]?.reason).toContain('silent for');
  });
});

async function serve(engine: Engine): Promise<ServedVolume> {
  const volume = await ServedVolume.start(engine);
  volumes.push(volume);
  return volume;
}

/** Starts nbdkit's nbd plugin with filters on a free port and waits until it listens. */
async function nbdkit(target: readonly string[], filters: readonly string[]): Promise<number> {
  const port = await freePort();
  const flags = filters.filter((word) => word.startsWith('--'));
  const settings = filters.filter((word) => !word.startsWith('--'));
  const args = ['-f', '-i', '127.0.0.1', '-p', String(port), ...flags, 'nbd', ...target, ...settings];
  const kit = spawn('nbdkit', args, { stdio: 'ignore' });
  kits.push(kit);
  await eventually(
    'nbdkit',
    () => reaches(port),
    (listens) => listens,
  );
  return port;
}

function reaches(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
