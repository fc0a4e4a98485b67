/**
 * Lost nodes: a volume of which one copy in three answers, and a copy whose volume was deleted while its node was away.
 * Over the public surface only, on real processes and real bytes.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { connectNbd } from '@holdfast/testkit/nbd-workload.js';
import { TestCluster } from '@holdfast/testkit/test-cluster.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const CONFLICT = 6;

type Volume = { id: string; state: string; robustness: string; endpoint: { nbdUri: string } | null };
type Advice = {
  isPossible: boolean;
  copies: { replicaId: string; nodeName: string; verdict: string; isAdvised: boolean }[];
};
type Orphan = { id: string; nodeName: string; replicaId: string; volumeName: string | null; size: number };

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await TestCluster.start();
  await cluster.cliJson('volume', 'create', 'pg-data', '--size', '64Mi', '--replicas', '3');
});

afterAll(async () => {
  await cluster?.destroy();
});

const volume = () => cluster.cliJson<Volume>('volume', 'get', 'pg-data');
const advice = () => cluster.cliJson<Advice>('volume', 'salvage', 'pg-data');
const orphans = async () => (await cluster.cliJson<{ items: Orphan[] }>('orphan', 'list')).items;
const events = async (type: string) =>
  (await cluster.cliJson<{ items: { message: string }[] }>('event', 'list', '--filter', `type=${type}`))
    .items;

async function read(uri: string | undefined): Promise<Buffer> {
  const client = await connectNbd(uri ?? '');
  const parts = await client.read(0, MIB);
  client.close();
  return Buffer.concat([...parts]);
}

test('with two of three copies gone a volume says so, and goes on with the third when a user says so', async () => {
  const attached = await cluster.cliJson<Volume>('volume', 'attach', 'pg-data', '--node', 'node-1');
  const client = await connectNbd(attached.endpoint?.nbdUri ?? '');
  const write = () => client.write(0, [Buffer.alloc(MIB, 7)], MIB, { fua: true });
  await write();
  const refused = await cluster.cli('volume', 'salvage', 'pg-data', '--yes');
  expect([refused.exitCode, refused.stderr]).toEqual([
    CONFLICT,
    expect.stringContaining('does not wait for missing copies'),
  ]);

  // A volume that was at rest for seconds has no write-intent marks left: with one more write they are set when the nodes die.
  await write();
  cluster.killAgent('node-1');
  cluster.killAgent('node-2');
  client.close();
  await eventually('it is unknown', volume, ({ robustness }) => robustness === 'unknown');
  await cluster.cli('volume', 'detach', 'pg-data', '--force');
  const attach = await cluster.cli('volume', 'attach', 'pg-data', '--node', 'node-3');
  expect([attach.exitCode, attach.stderr]).toEqual([CONFLICT, expect.stringContaining('salvage it')]);
  await eventually('it is faulted', volume, ({ robustness }) => robustness === 'faulted');

  const { isPossible, copies } = await advice();
  expect(isPossible).toBe(true);
  expect(copies).toMatchObject([
    { nodeName: 'node-3', verdict: 'usable', isAdvised: true },
    { verdict: 'missing', isAdvised: false },
    { verdict: 'missing', isAdvised: false },
  ]);
  const missing = await cluster.cli(
    'volume',
    'salvage',
    'pg-data',
    '--copies',
    copies[1]?.replicaId ?? '',
    '--yes',
  );
  expect([missing.exitCode, missing.stderr]).toEqual([CONFLICT, expect.stringContaining('does not answer')]);

  const salvaged = await cluster.cliJson<Volume>('volume', 'salvage', 'pg-data', '--yes');
  expect(salvaged.state).toBe('attached');
  expect(await read(salvaged.endpoint?.nbdUri)).toEqual(Buffer.alloc(MIB, 7));
  expect((await events('VolumeSalvaged')).map(({ message }) => message)).toEqual([
    'volume pg-data goes on with 1 copy of 3, as was asked for: writes that 2 other members acknowledged without this copy are lost; writes in flight when it stopped may be there in part',
  ]);
});

test('the others come back as stale copies, and are rebuilt', async () => {
  await cluster.cli('local', 'start-agent', 'node-1');
  await cluster.cli('local', 'start-agent', 'node-2');
  await eventually('it is healthy', volume, ({ robustness }) => robustness === 'healthy');
  await cluster.cliJson('volume', 'detach', 'pg-data');
  const verified = await cluster.cliJson<{ equal: boolean }>('volume', 'verify', 'pg-data');
  expect(verified.equal).toBe(true);
});

test('a copy whose volume was deleted while its node was away is an orphan, and goes when a user says so', async () => {
  cluster.killAgent('node-2');
  await eventually('a copy is missing', volume, ({ robustness }) => robustness === 'degraded');
  await cluster.cliJson('volume', 'delete', 'pg-data', '--yes').catch(() => undefined);
  expect(await orphans()).toEqual([]);
  await cluster.cli('local', 'start-agent', 'node-2');
  await eventually('it is announced', orphans, ({ length }) => length === 1);
  const [orphan] = await orphans();
  expect(orphan).toMatchObject({ nodeName: 'node-2', volumeName: null });
  const { id = '', replicaId = '' } = orphan ?? {};
  const unconfirmed = await cluster.cli('orphan', 'delete', id);
  expect(unconfirmed.stderr).toContain('add --yes to do it');

  expect(await directoriesOf(replicaId)).toHaveLength(1);
  await cluster.cli('orphan', 'delete', id, '--yes');
  await eventually(
    'its directory goes',
    () => directoriesOf(replicaId),
    ({ length }) => length === 0,
  );
  await eventually('it leaves the list', orphans, ({ length }) => length === 0);
  expect((await events('OrphanFound')).length).toBe(1);
  expect((await events('OrphanRemoved')).length).toBe(1);
});

async function directoriesOf(replicaId: string): Promise<string[]> {
  const names: string[] = [];
  for (const disk of cluster.agent('node-2').disks) {
    const all = await fs.readdir(disk, { recursive: true });
    names.push(...all.filter((name) => path.basename(name).startsWith(replicaId)));
  }
  return names;
}
