/** Copies that move on real processes: by hand, and to the node of the engine; every byte is there afterwards. */
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { connectNbd, pattern } from '@holdfast/testkit/nbd-workload.js';
import { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const WRITTEN = 32 * MIB;

type Volume = {
  id: string;
  robustness: string;
  endpoint: { nbdUri: string } | null;
  replicas: { id: string; nodeId: string; relocation: object | null }[];
};

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await TestCluster.start({ agents: 4 });
});
afterAll(() => cluster?.destroy());

const read = (name: string) => cluster.cliJson<Volume>('volume', 'get', name);
const nameOf = (nodeId: string) => cluster.local.agents.find((agent) => agent.nodeId === nodeId)?.name ?? '';
const holders = async (name: string) =>
  (await read(name)).replicas.map(({ nodeId }) => nameOf(nodeId)).sort();

async function write(name: string): Promise<void> {
  const client = await connectNbd((await read(name)).endpoint?.nbdUri ?? '');
  for (let offset = 0; offset < WRITTEN; offset += MIB) {
    await client.write(offset, [pattern(offset, MIB)], MIB, { fua: false });
  }
  await client.flush();
  client.close();
}

test('a copy that a user moves is on the other node, the volume is whole all the while, and all copies are equal', async () => {
  await cluster.cli('volume', 'create', 'moved', '--size', '64Mi');
  await cluster.cli('volume', 'attach', 'moved', '--node', 'node-1');
  await write('moved');
  const before = await holders('moved');
  const free = ['node-1', 'node-2', 'node-3', 'node-4'].find((name) => !before.includes(name)) ?? '';
  const from = before.find((name) => name !== 'node-1') ?? '';

  const plan = await cluster.cli('volume', 'move-replica', 'moved', from, '--to-node', free, '--plan');
  expect([plan.exitCode, plan.stdout]).toEqual([0, expect.stringContaining(`of ${free}`)]);
  expect(await holders('moved')).toEqual(before);
  const other = before.find((name) => name !== from) ?? '';
  const taken = await cluster.cli('volume', 'move-replica', 'moved', from, '--to-node', other, '--plan');
  expect(taken.exitCode).toBe(3);

  const moved = await cluster.cli('volume', 'move-replica', 'moved', from, '--to-node', free, '--wait');
  expect([moved.exitCode, moved.stdout.trim()]).toEqual([0, 'moved: moved']);
  expect(await holders('moved')).toEqual([...before.filter((name) => name !== from), free].sort());
  expect((await read('moved')).robustness).toBe('healthy');

  await cluster.cli('volume', 'detach', 'moved');
  expect((await cluster.cli('volume', 'verify', 'moved')).exitCode).toBe(0);
});

test('with best-effort locality the only copy follows the engine to its node, with its data', async () => {
  await cluster.cli(
    'volume',
    'create',
    'local',
    '--size',
    '64Mi',
    '--replicas',
    '1',
    '--data-locality',
    'best-effort',
  );
  const [first = ''] = await holders('local');
  await cluster.cli('volume', 'attach', 'local', '--node', first);
  await write('local');
  await cluster.cli('volume', 'detach', 'local');
  const other = first === 'node-2' ? 'node-3' : 'node-2';
  await cluster.cli('volume', 'attach', 'local', '--node', other);
  await eventually(
    'the copy is on the node of its engine',
    () => holders('local'),
    (names) => names.join() === other,
  );

  const client = await connectNbd((await read('local')).endpoint?.nbdUri ?? '');
  for (let offset = 0; offset < WRITTEN; offset += MIB) {
    expect(Buffer.compare(Buffer.concat(await client.read(offset, MIB)), pattern(offset, MIB))).toBe(0);
  }
  client.close();
});

test('a disk is added to a running node, holds copies, outlives its agent, and is taken off when it is empty', async () => {
  const agent = cluster.local.agents.find(({ name }) => name === 'node-2');
  const folder = path.join(path.dirname(agent?.disks[0] ?? ''), 'added');
  const added = await cluster.cli('disk', 'add', 'node-2', folder, '--size', '4Gi', '--tag', 'new', '--wait');
  expect([added.exitCode, added.stdout.trim()]).toEqual([0, 'node-2/added: ✓ ready, 4 GiB']);
  const outside = await cluster.cli('disk', 'add', 'node-2', '/etc/holdfast-disk', '--wait');
  expect([outside.exitCode, outside.stderr]).toEqual([3, expect.stringContaining('HOLDFAST_DISK_ROOTS')]);
  expect((await cluster.cli('disk', 'remove', 'node-2', 'holdfast-disk', '--wait', '--yes')).exitCode).toBe(
    0,
  );

  const create = [
    'volume',
    'create',
    'on-added',
    '--size',
    '64Mi',
    '--replicas',
    '1',
    '--disk-selector',
    'new',
  ];
  await cluster.cli(...create);
  expect(await holders('on-added')).toEqual(['node-2']);
  process.kill(-(agent?.pid ?? 0), 'SIGKILL');
  await cluster.cli('local', 'start-agent', 'node-2');
  await cluster.cli('volume', 'attach', 'on-added');
  await write('on-added');
  await cluster.cli('volume', 'detach', 'on-added');
  const refused = await cluster.cli('disk', 'remove', 'node-2', 'added', '--yes');
  expect([refused.exitCode, refused.stderr]).toEqual([6, expect.stringContaining('evictionRequested')]);

  await cluster.cli('volume', 'delete', 'on-added', '--yes');
  await eventually(
    'the copy is gone',
    () => cluster.cli('disk', 'remove', 'node-2', 'added', '--wait', '--yes'),
    ({ exitCode }) => exitCode === 0,
  );
  const left = await cluster.cliJson<{ items: { name: string }[] }>('disk', 'list', '--node', 'node-2');
  expect(left.items.map(({ name }) => name)).not.toContain('added');
});
