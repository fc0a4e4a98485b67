/**
 * A volume of the `v2` engine on block disks, told over the public surface: create, attach, write with NBD clients, take a
 * snapshot, lose a node, rebuild, verify; and a stop and start of the whole stack, with a volume in use.
 */
import { execFile } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { LocalStack } from '@holdfast/testkit/local-stack.js';
import { connectNbd, NbdWorkload, pattern } from '@holdfast/testkit/nbd-workload.js';
import { readVolume, writeVolume } from '@holdfast/testkit/volume-bytes.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const run = promisify(execFile);
const DATA_BYTES = 64 * MIB;

type Disk = { id: string; type: string; path: string; storageAvailable: number; storageMaximum: number };
type Replica = { id: string; nodeId: string; diskId: string; state: string };
type Volume = {
  dataEngine: string;
  state: string;
  robustness: string;
  attachedNodeId: string | null;
  endpoint: { nbdUri: string } | null;
  replicas: Replica[];
};
type Rebuild = { targetReplicaId: string; state: string; snapshots: { name: string; method: string }[] };
type Verification = { equal: boolean; replicas: { checksum: string }[] };

let stack: LocalStack;
let uri = '';

const volume = () => stack.cliJson<Volume>('volume', 'get', 'raw');
const becomes = (robustness: string) =>
  eventually(`the volume becomes ${robustness}`, volume, (now) => now.robustness === robustness);
const verify = () => stack.cliJson<Verification>('volume', 'verify', 'raw');
const rebuilds = async () => (await stack.call<{ items: Rebuild[] }>('GET', '/rebuilds')).body.items;

beforeAll(async () => {
  stack = await LocalStack.start({ env: { HOLDFAST_BLOCK_DISK_SIZE: '512Mi' } });
});

afterAll(async () => {
  await stack?.destroy();
});

describe('a volume on block disks', () => {
  test('has its copies on them, and only there', async () => {
    const created = await stack.cliJson<Volume>(
      ...['volume', 'create', 'raw', '--size', '256Mi', '--replicas', '3', '--data-engine', 'v2'],
    );
    expect(created.dataEngine).toBe('v2');
    const { items } = (await stack.call<{ items: Disk[] }>('GET', '/disks')).body;
    const blocks = items.filter(({ type }) => type === 'block');
    expect(blocks).toHaveLength(3);
    for (const { path: file, storageMaximum } of blocks) {
      expect(fs.statSync(file).isFile()).toBe(true);
      expect(storageMaximum).toBeGreaterThan(480 * MIB);
    }
    expect(created.replicas.map(({ diskId }) => diskId).sort()).toEqual(blocks.map(({ id }) => id).sort());
  });

  test('takes what NBD clients write, and gives it back', async () => {
    const attached = await stack.cliJson<Volume>('volume', 'attach', 'raw', '--node', 'node-1');
    uri = attached.endpoint?.nbdUri ?? '';
    const file = path.join(stack.home, 'data.img');
    fs.writeFileSync(file, crypto.randomBytes(DATA_BYTES));
    await run('nbdcopy', ['--flush', file, uri]);
    const back = path.join(stack.home, 'back.img');
    await run('nbdcopy', [uri, back]);
    expect(fs.readFileSync(back).subarray(0, DATA_BYTES).equals(fs.readFileSync(file))).toBe(true);
  });

  test('a node dies under load after a snapshot: no error; it comes back, and its copy is rebuilt', async () => {
    await stack.cliJson('snapshot', 'create', 'raw', 'before');
    const client = await connectNbd(uri);
    const workload = new NbdWorkload(client, 512);
    workload.start(8);
    await eventually(
      'the load runs',
      () => workload.operations,
      (operations) => operations > 200,
    );
    const { nodeId } = stack.agent('node-2');
    stack.killAgent('node-2');
    const lost = (await becomes('degraded')).replicas.find((replica) => replica.nodeId === nodeId);
    expect((await stack.cli('local', 'start-agent', 'node-2')).exitCode).toBe(0);
    await becomes('healthy');
    const rebuild = (await rebuilds()).find(({ targetReplicaId }) => targetReplicaId === lost?.id);
    expect(rebuild).toMatchObject({ state: 'succeeded' });
    // The snapshot was frozen while it was a current copy.
    expect(rebuild?.snapshots.find(({ name }) => name === 'before')?.method).toBe('fast');
    await workload.flush();
    await workload.stop();
    expect(workload.errors).toEqual([]);
    expect(await workload.wrongChunks(client)).toEqual([]);
    client.close();
  });

  test('detached, all copies are equal, also after everything was stopped and started', async () => {
    await stack.cliJson('volume', 'detach', 'raw');
    const before = await verify();
    expect(before).toMatchObject({ equal: true });
    expect(new Set(before.replicas.map(({ checksum }) => checksum)).size).toBe(1);
    await stack.cliJson('volume', 'create', 'served', '--size', '64Mi', '--replicas', '3');
    await stack.cliJson('volume', 'attach', 'served', '--node', 'node-1');
    await writeVolume(stack, 'served', 0, pattern(1, MIB));
    expect((await stack.stop('SIGINT')).exitCode).toBe(0);
    await stack.run();
    const after = await eventually('it can be verified', verify, ({ equal }) => equal);
    expect(after.replicas[0]?.checksum).toBe(before.replicas[0]?.checksum);
    await servedAsBefore();
  });

  test('deleted, it gives its space back', async () => {
    const free = async () => {
      const { items } = (await stack.call<{ items: Disk[] }>('GET', '/disks')).body;
      return items.filter(({ type, storageAvailable, storageMaximum }) => {
        return type === 'block' && storageAvailable === storageMaximum;
      }).length;
    };
    expect(await free()).toBe(0);
    expect((await stack.cli('volume', 'delete', 'raw', '--yes')).exitCode).toBe(0);
    await eventually('all block disks are empty', free, (count) => count === 3);
  });
});

/** A volume that was in use when everything was stopped is attached where it was, and a clean stop leaves nothing to rebuild. */
async function servedAsBefore(): Promise<void> {
  const again = await eventually(
    'it is attached again',
    () => stack.cliJson<Volume>('volume', 'get', 'served'),
    ({ state, robustness, endpoint }) =>
      state === 'attached' && robustness === 'healthy' && endpoint !== null,
  );
  expect(again.attachedNodeId).toBe(stack.agent('node-1').nodeId);
  expect((await readVolume(stack, 'served', MIB)).equals(pattern(1, MIB))).toBe(true);
  expect((await rebuilds()).filter(({ state }) => state === 'running' || state === 'queued')).toEqual([]);
}
