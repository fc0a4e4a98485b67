/**
 * The main job, told over the public surface only: create, attach, write, lose a node, rebuild, verify, restart.
 * Real processes, real bytes, real NBD tools where they are installed.
 */
import { execFile } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { GIB, MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { LocalStack } from '@holdfast/testkit/local-stack.js';
import { connectNbd, NbdWorkload } from '@holdfast/testkit/nbd-workload.js';
import { patient } from '@holdfast/testkit/slowness.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const run = promisify(execFile);
const STORY_TIMEOUT_MS = 240_000;
const DATA_BYTES = 256 * MIB;

type Replica = {
  id: string;
  nodeId: string;
  zone: string;
  mode: string | null;
  state: string;
  failedAt: string | null;
};
type Volume = {
  id: string;
  state: string;
  robustness: string;
  attachedNodeId: string | null;
  endpoint: { nbdUri: string } | null;
  writtenBytes: number;
  replicas: Replica[];
};
type Rebuild = {
  id: string;
  targetReplicaId: string;
  state: string;
  percent: number;
  bytes: { sent: number };
  snapshots: { method: string }[];
};

let stack: LocalStack;
let volumeId: string;
const nodeNameOf = (nodeId: string | null) =>
  stack.local.agents.find((agent) => agent.nodeId === nodeId)?.name ?? '';

const volume = async () => (await stack.call<Volume>('GET', `/volumes/${volumeId}`)).body;
const rebuilds = async () => (await stack.call<{ items: Rebuild[] }>('GET', '/rebuilds')).body.items;
const becomes = (robustness: string, timeoutMs: number) =>
  eventually(
    `the volume becomes ${robustness}`,
    volume,
    (answer) => answer.robustness === robustness,
    timeoutMs,
  );

beforeAll(async () => {
  stack = await LocalStack.start();
}, STORY_TIMEOUT_MS);

afterAll(async () => {
  await stack?.destroy();
}, STORY_TIMEOUT_MS);

describe('a volume of three copies loses a node and gets it back', () => {
  test('one copy is placed in each zone', async () => {
    const created = await stack.cliJson<Volume>(
      'volume',
      'create',
      'pg-data',
      '--size',
      '1Gi',
      '--replicas',
      '3',
    );
    volumeId = created.id;
    expect(created.replicas.map((replica) => replica.zone).sort()).toEqual(['zone-a', 'zone-b', 'zone-c']);
  });

  test(
    'it is attached and takes 256 MiB, which read back identical',
    async () => {
      const attached = await stack.cliJson<Volume>('volume', 'attach', 'pg-data', '--node', 'node-1');
      const uri = attached.endpoint?.nbdUri ?? '';
      expect(uri).toMatch(/^nbd:\/\/127\.0\.0\.1:\d+\/pg-data/);
      const file = path.join(stack.home, 'data.img');
      const back = path.join(stack.home, 'back.img');
      fs.writeFileSync(file, crypto.randomBytes(DATA_BYTES));
      await copyIn(file, uri);
      await copyOut(uri, back);
      expect(fs.readFileSync(back).equals(fs.readFileSync(file))).toBe(true);
      await eventually(
        'the written bytes are shown',
        volume,
        (answer) => answer.writtenBytes >= DATA_BYTES,
        15_000,
      );
    },
    STORY_TIMEOUT_MS,
  );

  test(
    'a node dies under load: no error, degraded within 15 s; it comes back and its copy is rebuilt',
    async () => {
      const before = await volume();
      const client = await connectNbd(before.endpoint?.nbdUri ?? '');
      const workload = new NbdWorkload(client, 512);
      workload.start(8);
      await eventually(
        'the load runs',
        () => workload.operations,
        (operations) => operations > 200,
      );

      stack.killAgent('node-2');
      const degraded = await becomes('degraded', 15_000);
      const lost = degraded.replicas.find((replica) => nodeNameOf(replica.nodeId) === 'node-2');
      await eventually('the failed copy is shown', volume, (answer) =>
        answer.replicas.some((replica) => replica.id === lost?.id && replica.failedAt !== null),
      );

      const { exitCode, stderr } = await stack.cli('local', 'start-agent', 'node-2');
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      const healthy = await becomes('healthy', 120_000);
      // The same replica was reused: no fourth ever existed.
      expect(healthy.replicas.map((replica) => replica.id).sort()).toEqual(
        before.replicas.map((replica) => replica.id).sort(),
      );
      const [rebuild] = (await rebuilds()).filter(({ targetReplicaId }) => targetReplicaId === lost?.id);
      expect(rebuild).toMatchObject({ state: 'succeeded', percent: 100 });
      // What it had before it died is not sent again.
      expect(rebuild?.bytes.sent).toBeLessThan(DATA_BYTES / 2);
      expect(rebuild?.snapshots.map(({ method }) => method)).toContain('delta');

      await workload.flush();
      await workload.stop();
      expect(workload.errors).toEqual([]);
      expect(await workload.wrongChunks(client)).toEqual([]);
      client.close();
    },
    STORY_TIMEOUT_MS,
  );

  test('the command line tells of the rebuild', async () => {
    const { stdout } = await stack.cli('rebuild', 'list');
    // A pipe gets no colours, wherever it runs.
    expect(stdout).toMatch(/pg-data +node-2 +✓ succeeded/);
    const watched = await stack.cli('rebuild', 'watch');
    expect(watched).toMatchObject({ exitCode: 0 });
  });

  test(
    'with a fourth node and no wait, a new replica is built there instead',
    async () => {
      await stack.cliJson('setting', 'set', 'replica-replenishment-wait-interval', '0');
      expect((await stack.cli('local', 'start-agent', 'node-4')).exitCode).toBe(0);
      stack.killAgent('node-3');
      await becomes('degraded', 15_000);
      const healthy = await becomes('healthy', 120_000);
      const running = healthy.replicas
        .filter((replica) => replica.mode === 'RW')
        .map((replica) => nodeNameOf(replica.nodeId));
      expect(running.sort()).toEqual(['node-1', 'node-2', 'node-4']);
      expect((await stack.cli('local', 'start-agent', 'node-3')).exitCode).toBe(0);
    },
    STORY_TIMEOUT_MS,
  );

  test(
    'detached, all copies are equal',
    async () => {
      const detached = await stack.cliJson<Volume>('volume', 'detach', 'pg-data');
      expect(detached).toMatchObject({ state: 'detached', endpoint: null, attachedNodeId: null });
      const verified = await stack.cliJson<{ equal: boolean; replicas: { checksum: string }[] }>(
        'volume',
        'verify',
        'pg-data',
      );
      expect(verified.equal).toBe(true);
      expect(verified.replicas.length).toBeGreaterThanOrEqual(3);
      expect(new Set(verified.replicas.map((replica) => replica.checksum)).size).toBe(1);
    },
    STORY_TIMEOUT_MS,
  );

  test(
    'the stack stops within 15 s and starts again with volume and data, attached as before',
    async () => {
      const before = await stack.cliJson<Volume>('volume', 'attach', 'pg-data', '--node', 'node-1');
      const sumBefore = await checksumOf(before.endpoint?.nbdUri ?? '');
      const { exitCode, tookMs } = await stack.stop('SIGINT');
      expect(exitCode).toBe(0);
      expect(tookMs).toBeLessThan(patient(15_000));

      await stack.run();
      const again = await eventually(
        'it is attached again',
        volume,
        (answer) => answer.state === 'attached' && answer.endpoint !== null,
        60_000,
      );
      expect(nodeNameOf(again.attachedNodeId)).toBe('node-1');
      expect(await checksumOf(again.endpoint?.nbdUri ?? '')).toBe(sumBefore);
      // A clean stop leaves no copy behind: nothing has to be rebuilt.
      await becomes('healthy', 30_000);
      expect(
        (await rebuilds()).filter((rebuild) => rebuild.state === 'running' || rebuild.state === 'queued'),
      ).toEqual([]);
    },
    STORY_TIMEOUT_MS,
  );
});

/** With libnbd's own tool where it is installed, else with the repository's client. */
async function copyIn(file: string, uri: string): Promise<void> {
  if (await isInstalled('nbdcopy')) {
    await run('nbdcopy', ['--flush', file, uri]);
    return;
  }
  const client = await connectNbd(uri);
  const bytes = fs.readFileSync(file);
  for (let offset = 0; offset < bytes.length; offset += MIB) {
    await client.write(offset, [bytes.subarray(offset, offset + MIB)], MIB, { fua: false });
  }
  await client.flush();
  client.close();
}

async function copyOut(uri: string, file: string): Promise<void> {
  if (await isInstalled('nbdcopy')) {
    await run('nbdcopy', [uri, file]);
    fs.truncateSync(file, DATA_BYTES);
    return;
  }
  const client = await connectNbd(uri);
  fs.writeFileSync(file, '');
  for (let offset = 0; offset < DATA_BYTES; offset += MIB) {
    fs.appendFileSync(file, Buffer.concat(await client.read(offset, MIB)));
  }
  client.close();
}

async function checksumOf(uri: string): Promise<string> {
  const client = await connectNbd(uri);
  const hash = crypto.createHash('sha256');
  for (let offset = 0; offset < GIB; offset += 4 * MIB) {
    for (const part of await client.read(offset, 4 * MIB)) hash.update(part);
  }
  client.close();
  return hash.digest('hex');
}

async function isInstalled(tool: string): Promise<boolean> {
  return run('which', [tool]).then(
    () => true,
    () => false,
  );
}
