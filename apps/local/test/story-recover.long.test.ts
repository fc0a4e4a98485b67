/**
 * Drills of a lost database without a backup, and with one that is too old: volumes are made again of what their copies store.
 * Over the public surface only, on real processes and real bytes.
 */
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { removeEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { LocalStack } from '@holdfast/testkit/local-stack.js';
import { pattern } from '@holdfast/testkit/nbd-workload.js';
import { readVolume, writeVolume } from '@holdfast/testkit/volume-bytes.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const CONFLICT = 6;
const GROWN = ['grown', 'moved-and-grown'];

let stack: LocalStack;
beforeEach(async () => {
  stack = await LocalStack.start();
});
afterEach(() => stack?.destroy());

const volume = (name: string) => stack.cliJson<Volume>('volume', 'get', name);
const plan = async (...options: string[]) =>
  (await stack.cliJson<{ items: Recovery[] }>('recover', ...options)).items;
/** Asked by its type: a list without a filter has the last few of all. */
const events = async (type: string) => {
  const list = ['event', 'list', '--filter', `type=${type}`];
  return (await stack.cliJson<{ items: { message: string }[] }>(...list)).items;
};

test('a control plane whose database is lost makes its volumes again of their copies, with every acknowledged byte', async () => {
  const [data, clone] = [pattern(1, 4 * MIB), pattern(2, MIB)];
  const first = await stack.cliJson<Volume>(
    'volume',
    'create',
    'data',
    '--size',
    '64Mi',
    '--replicas',
    '3',
    '--label',
    'team=search',
  );
  await stack.cliJson('volume', 'set', 'data', '--snapshot-max-count', '50');
  await stack.cli('snapshot', 'schedule', 'set', 'data', 'nightly', '--cron', '0 3 * * *', '--retain', '7');
  await stack.cliJson('volume', 'attach', 'data', '--node', 'node-1');
  await writeVolume(stack, 'data', 0, data);
  await stack.cliJson('volume', 'create', 'other', '--size', '16Mi', '--replicas', '2');
  await stack.cliJson('volume', 'attach', 'other');
  await writeVolume(stack, 'other', 0, clone);
  await stack.cliJson('volume', 'create', 'unused', '--size', '16Mi', '--replicas', '2');
  await eventually(
    'its copies are made',
    () => volume('unused'),
    ({ state }) => state === 'detached',
  );
  const { clusterId } = stack.local;

  await loseDatabase();
  await stack.run();
  expect(stack.local.clusterId).not.toBe(clusterId);
  const found = await eventually(
    'all copies have said what they store',
    () => plan(),
    (items) => items.length === 3 && items.flatMap(({ copies }) => copies).length === 7,
  );
  expect(found.map(({ name, obstacle }) => [name, obstacle?.code]).sort()).toEqual([
    ['data', 'OtherCluster'],
    ['other', 'OtherCluster'],
    ['unused', 'OtherCluster'],
  ]);
  const refused = await stack.cli('recover', 'data');
  expect([refused.exitCode, refused.stderr]).toEqual([
    CONFLICT,
    expect.stringContaining(`--from-cluster ${clusterId}`),
  ]);
  expect((await stack.cliJson<{ items: Volume[] }>('volume', 'list')).items).toEqual([]);

  await eventually(
    'nothing is in the way',
    () => plan('--from-cluster', clusterId),
    (items) => items.every(({ obstacle }) => obstacle === null),
  );
  const done = await stack.cli('recover', '--from-cluster', clusterId, '--yes');
  expect(done.exitCode).toBe(0);
  expect(await volume('data')).toMatchObject({
    id: first.id,
    size: 64 * MIB,
    numberOfReplicas: 3,
    labels: { team: 'search' },
    snapshotMaxCount: 50,
  });
  const schedules = await stack.cliJson<{ items: object[] }>('snapshot', 'schedule', 'list', 'data');
  expect(schedules.items).toMatchObject([{ name: 'nightly', cron: '0 3 * * *', retain: 7 }]);
  expect((await volume('data')).replicas.map(({ id }) => id).sort()).toEqual(
    first.replicas.map(({ id }) => id).sort(),
  );
  expect((await events('VolumeRecovered')).length).toBe(3);

  await stack.cliJson('volume', 'attach', 'data', '--node', 'node-2');
  await stack.cliJson('volume', 'attach', 'other');
  await stack.cliJson('volume', 'attach', 'unused');
  expect((await readVolume(stack, 'data', 4 * MIB)).equals(data)).toBe(true);
  expect((await readVolume(stack, 'other', MIB)).equals(clone)).toBe(true);
  await writeVolume(stack, 'data', 0, pattern(3, MIB));
  await eventually(
    'it is whole',
    () => volume('data'),
    ({ robustness }) => robustness === 'healthy',
  );
  // Run again it finds nothing to do.
  await eventually(
    'no copy is left over',
    () => plan(),
    (items) => items.length === 0,
  );
  await stack.cliJson('volume', 'detach', 'data');
  expect((await stack.cli('volume', 'verify', 'data')).exitCode).toBe(0);
});

test("with yesterday's backup a volume that was made since is recovered, and those whose copies moved or grew get these back", async () => {
  const file = path.join(stack.home, 'backup');
  const [later, newest, beyond] = [pattern(2, MIB), pattern(3, MIB), pattern(4, MIB)];
  await createAttached('moved', 1);
  await createAttached('grown', 2);
  await createAttached('moved-and-grown', 1);
  await writeVolume(stack, 'moved', 0, pattern(1, MIB));
  await stack.cliJson('backup', 'create', file);

  await createAttached('later', 2);
  await writeVolume(stack, 'later', 0, later);
  for (const name of GROWN) {
    await stack.cliJson('volume', 'expand', name, '--size', '32Mi');
    await hasSize(name, 32 * MIB);
    await writeVolume(stack, name, 24 * MIB, beyond);
  }
  await move('moved');
  await move('moved-and-grown');
  await writeVolume(stack, 'moved', 0, newest);

  await loseDatabase();
  expect((await stack.cli('backup', 'restore', file)).exitCode).toBe(0);
  await stack.run();
  const found = await eventually(
    'the copies have said what they store',
    () => plan(),
    (items) => items.length === 3 && items.every(({ obstacle }) => obstacle === null),
  );
  expect(found.find(({ name }) => name === 'moved-and-grown')?.size).toBe(32 * MIB);
  expect((await stack.cli('recover', 'later')).exitCode).toBe(0);
  expect((await stack.cli('recover', '--yes')).exitCode).toBe(0);
  await stack.cliJson('volume', 'attach', 'later');
  expect((await readVolume(stack, 'later', MIB)).equals(later)).toBe(true);
  for (const name of ['moved', 'moved-and-grown']) await isServed(name);
  expect((await readVolume(stack, 'moved', MIB)).equals(newest)).toBe(true);
  await haveTheSizeOfTheirCopies(beyond);
});

/** Volumes that were expanded since the backup have the size and the bytes of their copies, also where these are elsewhere by now. */
async function haveTheSizeOfTheirCopies(beyond: Buffer): Promise<void> {
  const holds = async (name: string) =>
    (await readVolume(stack, name, 25 * MIB)).subarray(24 * MIB).equals(beyond);
  for (const name of GROWN) {
    await hasSize(name, 32 * MIB);
    // Snapshots and further copies must not cut off what lies beyond the size that the backup knows.
    await stack.cliJson('snapshot', 'create', name, 'after');
    expect(await holds(name)).toBe(true);
  }
  expect((await events('VolumeExpanded')).map(({ message }) => message).sort()).toEqual(
    GROWN.map(
      (name) => `volume ${name} has 32 MiB, as its copies say, and not the 16 MiB that the database knew`,
    ),
  );
  for (const name of GROWN) {
    await stack.cliJson('volume', 'detach', name);
    await stack.cliJson('volume', 'attach', name);
    expect(await holds(name)).toBe(true);
  }
}

async function createAttached(name: string, replicas: number): Promise<void> {
  await stack.cliJson('volume', 'create', name, '--size', '16Mi', '--replicas', String(replicas));
  await stack.cliJson('volume', 'attach', name);
}

async function move(name: string): Promise<void> {
  const [copy] = (await volume(name)).replicas;
  const moved = await stack.cli('volume', 'move-replica', name, copy?.id ?? '', '--yes');
  expect([moved.exitCode, moved.stderr]).toEqual([0, '']);
  await eventually(
    'the copy is elsewhere',
    () => volume(name),
    ({ replicas }) => replicas.length === 1 && replicas[0]?.id !== copy?.id,
  );
}

function isServed(name: string): Promise<Volume> {
  return eventually(
    `${name} is served again`,
    () => volume(name),
    ({ state }) => state === 'attached',
  );
}

function hasSize(name: string, bytes: number): Promise<Volume> {
  return eventually(
    `${name} has its size`,
    () => volume(name),
    ({ size }) => size === bytes,
  );
}

async function loseDatabase(): Promise<void> {
  await stack.stop();
  removeEmbeddedPostgres(path.join(stack.home, 'postgres'));
}

type Volume = {
  id: string;
  state: string;
  robustness: string;
  size: number;
  numberOfReplicas: number;
  replicas: { id: string }[];
};
type Recovery = {
  volumeId: string;
  name: string;
  size: number | null;
  fromClusterId: string | null;
  missingReplicaIds: string[];
  obstacle: { code: string; why: string } | null;
  copies: { verdict: string; nodeName: string }[];
};
