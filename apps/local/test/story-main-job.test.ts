/**
 * The main job, told over the public surface only: create, attach, write, lose a node, rebuild, verify. Real processes, real
 * bytes, real NBD tools where they are installed.
 */
import crypto from 'node:crypto';
import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { connectNbd, NbdWorkload } from '@holdfast/testkit/nbd-workload.js';
import { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { copyIn, copyOut } from './nbd-copies.js';

const DATA_BYTES = 64 * MIB;
/** The load writes at random over the first part of it. */
const LOAD_CHUNKS = 128;
const LOAD_BYTES = 8 * MIB;

type Replica = { id: string; nodeId: string; zone: string; failedAt: string | null };
type Volume = {
  id: string;
  robustness: string;
  endpoint: { nbdUri: string } | null;
  writtenBytes: number;
  replicas: Replica[];
};
type Rebuild = {
  targetReplicaId: string;
  state: string;
  percent: number;
  bytes: { sent: number };
  snapshots: { method: string }[];
};

let cluster: TestCluster;
const volume = () => cluster.cliJson<Volume>('volume', 'get', 'pg-data');
const becomes = (robustness: string) =>
  eventually(`the volume becomes ${robustness}`, volume, (now) => now.robustness === robustness);

beforeAll(async () => {
  cluster = await TestCluster.start();
});
afterAll(() => cluster?.destroy());

test('a volume of three copies loses a node under load and is whole again, with every acknowledged byte', async () => {
  const created = await cluster.cliJson<Volume>(
    ...['volume', 'create', 'pg-data', '--size', '256Mi', '--replicas', '3'],
  );
  expect(created.replicas.map(({ zone }) => zone).sort()).toEqual(['zone-a', 'zone-b', 'zone-c']);

  const attached = await cluster.cliJson<Volume>('volume', 'attach', 'pg-data', '--node', 'node-1');
  const uri = attached.endpoint?.nbdUri ?? '';
  expect(uri).toMatch(/^nbd:\/\/127\.0\.0\.1:\d+\/pg-data/);
  const data = crypto.randomBytes(DATA_BYTES);
  await copyIn(cluster.home, data, uri);
  await eventually('the written bytes are shown', volume, (now) => now.writtenBytes >= DATA_BYTES);
  const client = await connectNbd(uri);
  const workload = await underLoad(client);

  cluster.killAgent('node-2');
  const { nodeId } = cluster.agent('node-2');
  const lost = (await becomes('degraded')).replicas.find((replica) => replica.nodeId === nodeId);
  await eventually('the failed copy is shown', volume, ({ replicas }) =>
    replicas.some(({ id, failedAt }) => id === lost?.id && failedAt !== null),
  );
  await cluster.startAgent('node-2');
  const healthy = await becomes('healthy');
  // The same replica was reused: no fourth ever existed.
  expect(idsOf(healthy)).toEqual(idsOf(created));
  await sentOnlyWhatItMissed(lost?.id);

  await workload.flush();
  await workload.stop();
  expect(workload.errors).toEqual([]);
  expect(await workload.wrongChunks(client)).toEqual([]);
  client.close();
  const back = await copyOut(cluster.home, uri, DATA_BYTES);
  expect(back.subarray(LOAD_BYTES).equals(data.subarray(LOAD_BYTES))).toBe(true);
  await cluster.cliJson('volume', 'detach', 'pg-data');
  const verified = await cluster.cliJson<{ equal: boolean; replicas: object[] }>(
    ...['volume', 'verify', 'pg-data'],
  );
  expect([verified.equal, verified.replicas.length]).toEqual([true, 3]);
});

function idsOf({ replicas }: Volume): string[] {
  return replicas.map(({ id }) => id).sort();
}

async function underLoad(client: Awaited<ReturnType<typeof connectNbd>>): Promise<NbdWorkload> {
  const workload = new NbdWorkload(client, LOAD_CHUNKS);
  workload.start(8);
  await eventually(
    'the load runs',
    () => workload.operations,
    (operations) => operations > 200,
  );
  return workload;
}

async function sentOnlyWhatItMissed(replicaId: string | undefined): Promise<void> {
  const { body } = await cluster.call<{ items: Rebuild[] }>('GET', '/rebuilds');
  const rebuild = body.items.find(({ targetReplicaId }) => targetReplicaId === replicaId);
  expect(rebuild).toMatchObject({ state: 'succeeded', percent: 100 });
  expect(rebuild?.bytes.sent).toBeLessThan(DATA_BYTES / 2);
  expect(rebuild?.snapshots.map(({ method }) => method)).toContain('delta');
  // A pipe gets no colours, wherever it runs.
  const { stdout } = await cluster.cli('rebuild', 'list');
  expect(stdout).toMatch(/pg-data +node-2 +✓ succeeded/);
}
