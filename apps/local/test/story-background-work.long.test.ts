/**
 * Background work of the worker, over the public surface, on real processes and real bytes: snapshots at set times, the
 * periodic check that finds a damaged copy, and the rebuild of a detached volume.
 */
import fs from 'node:fs';
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { connectNbd } from '@holdfast/testkit/nbd-workload.js';
import { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

type Snapshot = { name: string; state: string; checksum: string | null; recurringName: string | null };
type Volume = {
  state: string;
  robustness: string;
  integrityCheckedAt: string | null;
  endpoint: { nbdUri: string } | null;
  conditions: { type: string; status: string; reason: string }[];
  replicas: { id: string; nodeId: string; failedAt: string | null }[];
};
type Event = { type: string; message: string };

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await TestCluster.start();
  await cluster.cliJson('volume', 'create', 'pg-data', '--size', '64Mi', '--replicas', '3');
  await cluster.cliJson('volume', 'attach', 'pg-data', '--node', 'node-1');
  await write();
});

afterAll(async () => {
  await cluster?.destroy();
});

const volume = () => cluster.cliJson<Volume>('volume', 'get', 'pg-data');
const list = async <T>(...args: string[]) => (await cluster.cliJson<{ items: T[] }>(...args)).items;
const snapshots = () => list<Snapshot>('snapshot', 'list', 'pg-data');
const setSetting = (name: string, value: string) => cluster.cliJson('setting', 'set', name, value);

async function write(): Promise<void> {
  const client = await connectNbd((await volume()).endpoint?.nbdUri ?? '');
  await client.write(0, [Buffer.alloc(MIB, 7)], MIB, { fua: true });
  client.close();
}

test('when their time comes a snapshot is taken and an older one is hashed, and the next check finds the copy that its disk has changed', async () => {
  await cluster.cliJson('snapshot', 'create', 'pg-data', 'mine');
  await setSetting('snapshot-data-integrity', 'enabled');
  await setSetting('snapshot-data-integrity-cronjob', '* * * * *');
  const schedule = ['snapshot', 'schedule'];
  await cluster.cliJson(...schedule, 'set', 'pg-data', 'minutely', '--cron', '* * * * *', '--retain', '1');
  expect((await cluster.cli(...schedule, 'list', 'pg-data')).stdout).toMatch(/minutely +\* \* \* \* \* +1/);

  const minutely = async () => (await snapshots()).find(({ recurringName }) => recurringName !== null);
  const isReady = (found: Snapshot | undefined) => found?.state === 'ready';
  const taken = await eventually('a snapshot is taken', minutely, isReady);
  expect(taken).toMatchObject({
    recurringName: 'minutely',
    name: expect.stringMatching(/^minutely-\d{8}T\d{4}Z$/),
  });
  await cluster.cli(...schedule, 'delete', 'pg-data', 'minutely');
  const isHashed = (all: Snapshot[]) =>
    all.some(({ name, checksum }) => name === 'mine' && checksum !== null);
  await eventually('the older one is hashed unasked', snapshots, isHashed);

  const { replicas } = await volume();
  const victim = cluster.agent('node-3');
  damage(victim.disks, replicas.find(({ nodeId }) => nodeId === victim.nodeId)?.id ?? '');
  const failures = () => cluster.call<{ items: Event[] }>('GET', '/events?filter=type%3DReplicaFailed');
  const isDropped = ({ body }: { body: { items: Event[] } }) => body.items.length > 0;
  await eventually('the damaged copy is dropped', failures, isDropped);
  await eventually('it is rebuilt', volume, ({ robustness }) => robustness === 'healthy');
  await cluster.cli('setting', 'reset', 'snapshot-data-integrity-cronjob');
});

test('a detached volume gets its missing copy back without a user attaching it', async () => {
  cluster.killAgent('node-2');
  await eventually('the copy is dropped', volume, ({ replicas }) =>
    replicas.some(({ failedAt }) => failedAt),
  );
  await write();
  await cluster.cliJson('volume', 'detach', 'pg-data');
  await cluster.cliJson('volume', 'set', 'pg-data', '--offline-rebuilding', 'enabled');
  await cluster.cli('local', 'start-agent', 'node-2');
  let addresses = 0;
  const look = async () => {
    const seen = await volume();
    if (seen.endpoint !== null) addresses += 1;
    return seen;
  };
  // The condition follows at the volume's next reconciliation.
  const isWell = ({ robustness, state, conditions }: Volume) =>
    robustness === 'healthy' &&
    state === 'detached' &&
    conditions.some(({ type, reason }) => type === 'OfflineRebuilding' && reason === 'Healthy');
  await eventually('all copies are full, and the volume says so', look, isWell);
  expect(addresses).toBe(0);
  expect((await cluster.cli('volume', 'verify', 'pg-data')).stdout).toContain('all copies are equal');
});

/** Changes one byte of a frozen layer's file and keeps the file's times, as rot on a disk does. */
function damage(disks: readonly string[], replicaId: string): void {
  const files = disks
    .flatMap((disk) => fs.readdirSync(disk, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.parentPath.includes(replicaId))
    .map((entry) => path.join(entry.parentPath, entry.name));
  const layer = files.find((file) => fs.statSync(file).blocks * 512 >= MIB);
  if (layer === undefined) throw new Error(`no layer of replica ${replicaId} in ${disks.join(', ')}`);
  const { atime, mtime } = fs.statSync(layer);
  const file = fs.openSync(layer, 'r+');
  fs.writeSync(file, Buffer.from([1]), 0, 1, 4096);
  fs.closeSync(file);
  fs.utimesSync(layer, atime, mtime);
}
