/**
 * Snapshots over the public surface only, on real processes and real bytes: taken, hashed, reverted to, deleted and
 * purged; and the volume grown while it is in use.
 */
import { GIB, MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { connectNbd } from '@holdfast/testkit/nbd-workload.js';
import { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

type Snapshot = {
  id: string;
  name: string;
  state: string;
  origin: string;
  size: number;
  parentId: string | null;
  checksum: string | null;
  isHeadParent: boolean;
};
type Volume = {
  id: string;
  size: number;
  state: string;
  task: object | null;
  endpoint: { nbdUri: string } | null;
};

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await TestCluster.start();
  await cluster.cliJson('volume', 'create', 'pg-data', '--size', '1Gi', '--replicas', '3');
  await cluster.cliJson('volume', 'attach', 'pg-data', '--node', 'node-1');
});

afterAll(async () => {
  await cluster?.destroy();
});

const volume = () => cluster.cliJson<Volume>('volume', 'get', 'pg-data');
const snapshots = async () =>
  (await cluster.cliJson<{ items: Snapshot[] }>('snapshot', 'list', 'pg-data')).items;

describe('the snapshots of a volume', () => {
  test('are taken in order, with their sizes and where the head stands', async () => {
    await write(1);
    await cluster.cliJson('snapshot', 'create', 'pg-data', 'one');
    await write(2);
    await cluster.cliJson('snapshot', 'create', 'pg-data', 'two');
    await write(3);
    const [one, two] = await snapshots();
    expect(one).toMatchObject({ name: 'one', state: 'ready', origin: 'user', parentId: null, size: MIB });
    expect(two).toMatchObject({ name: 'two', state: 'ready', parentId: one?.id, isHeadParent: true });
    const { stdout } = await cluster.cli('snapshot', 'list', 'pg-data');
    expect(stdout).toMatch(/two ← head +✓ ready +user +one +1 MiB/);
  });

  test('are hashed on every copy, which agree', async () => {
    const hashed = await cluster.cliJson<Snapshot>('snapshot', 'hash', 'pg-data', 'one');
    expect(hashed.checksum).toMatch(/^[0-9a-f]{64,}$/);
  });

  test('refuse a second one of that name', async () => {
    const { exitCode, stderr } = await cluster.cli('snapshot', 'create', 'pg-data', 'one');
    expect(exitCode).toBe(6);
    expect(stderr).toContain('has a snapshot named one');
  });

  test('are reverted to, and what came after is still there to go back to', async () => {
    expect(await firstByte()).toBe(3);
    expect((await cluster.cli('volume', 'revert', 'pg-data', 'one', '--yes')).exitCode).toBe(0);
    expect(await firstByte()).toBe(1);
    expect((await cluster.cli('volume', 'revert', 'pg-data', 'two', '--yes')).exitCode).toBe(0);
    expect(await firstByte()).toBe(2);
  });

  test('are not reverted to under a client', async () => {
    const client = await connectNbd((await volume()).endpoint?.nbdUri ?? '');
    const { exitCode, stderr } = await cluster.cli('volume', 'revert', 'pg-data', 'one', '--yes');
    client.close();
    expect([exitCode, stderr]).toEqual([6, expect.stringContaining('a client is connected')]);
  });

  test('are gone once they are deleted, and the volume reads the same', async () => {
    expect((await cluster.cli('snapshot', 'delete', 'pg-data', 'one', '--yes')).exitCode).toBe(0);
    await eventually('the purge has taken it out', snapshots, (all) =>
      all.every(({ name }) => name !== 'one'),
    );
    expect(await firstByte()).toBe(2);
  });
});

test('a clone holds what the snapshot held, whether its source is in use or not', async () => {
  const ofTwo = await cluster.cliJson<Volume>('volume', 'clone', 'pg-data', 'two', 'copy');
  expect(ofTwo).toMatchObject({ state: 'detached', endpoint: null, fill: null });
  const attached = await cluster.cliJson<Volume>('volume', 'attach', 'copy');
  const client = await connectNbd(attached.endpoint?.nbdUri ?? '');
  expect(Buffer.concat(await client.read(0, MIB)).equals(Buffer.alloc(MIB, 2))).toBe(true);
  client.close();
  await cluster.cliJson('volume', 'detach', 'copy');
  expect(await cluster.cliJson('volume', 'verify', 'copy')).toMatchObject({ equal: true });

  await cluster.cliJson('volume', 'detach', 'pg-data');
  expect(await cluster.cliJson('volume', 'clone', 'pg-data', 'two', 'again')).toMatchObject({
    state: 'detached',
  });
  await cluster.cliJson('volume', 'attach', 'pg-data', '--node', 'node-1');
});

test('the volume grows while it is in use, and keeps what it holds', async () => {
  const grown = await cluster.cliJson<Volume>('volume', 'resize', 'pg-data', '--size', '2Gi');
  expect(grown).toMatchObject({ size: 2 * GIB, task: null });
  expect(await firstByte()).toBe(2);
  const client = await connectNbd(grown.endpoint?.nbdUri ?? '');
  await client.write(2 * GIB - MIB, [Buffer.alloc(MIB, 9)], MIB, { fua: true });
  client.close();
  const refused = await cluster.cli('volume', 'expand', 'pg-data', '--size', '900Gi');
  expect([refused.exitCode, refused.stderr]).toEqual([
    6,
    expect.stringMatching(/node-1\/disk-\d can't take/),
  ]);
  await cluster.cliJson('volume', 'detach', 'pg-data');
  expect(await cluster.cliJson('volume', 'verify', 'pg-data')).toMatchObject({ equal: true });
});

async function write(fill: number): Promise<void> {
  const client = await connectNbd((await volume()).endpoint?.nbdUri ?? '');
  await client.write(0, [Buffer.alloc(MIB, fill)], MIB, { fua: true });
  client.close();
}

async function firstByte(): Promise<number | undefined> {
  const client = await connectNbd((await volume()).endpoint?.nbdUri ?? '');
  const [first] = Buffer.concat(await client.read(0, 4096));
  client.close();
  return first;
}
