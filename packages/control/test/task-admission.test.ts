/** Purges and fillings wait for admission as hashing does: never more on a node than may, every volume in the end. */
import { cloneVolume } from '@holdfast/control/use-cases/clone-volume.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestReplicaRemoval } from '@holdfast/control/use-cases/request-replica-removal.js';
import { requestPurge, requestSnapshot } from '@holdfast/control/use-cases/snapshots.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { heavyTaskOf } from '@holdfast/core/model/volume-task.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import { type EffectFault, NO_FAULTS } from '@holdfast/simulator/faults.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { aServedVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, expect, test } from '@jest/globals';

let world: World;
const LIMIT = 'snapshot-heavy-task-concurrent-limit';
const CRON = 'snapshot-data-integrity-cronjob';

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

async function served(name: string): Promise<SimClient> {
  const client = await aServedVolumeIn(world, name);
  await requestSnapshot(world.useCases, { volumeId: client.volumeId, name: 'base' });
  await world.run(2);
  return client;
}

async function clone({ volumeId }: SimClient, name: string): Promise<VolumeId> {
  const snapshotId = (await world.store.loadVolume(volumeId))?.snapshots[0]?.id;
  if (snapshotId === undefined) throw new Error('there is no snapshot');
  return cloneVolume(world.useCases, { volumeId, snapshotId, name });
}

async function volumes(ids: readonly VolumeId[]): Promise<Volume[]> {
  const views = await Promise.all(ids.map((id) => world.store.loadVolume(id)));
  return views.flatMap((view) => view?.volume ?? []);
}

/** It hashes, or its engine was asked to move its layers. */
function isAtWork(volume: Volume): boolean {
  return volume.hashing !== undefined || heavyTaskOf(volume)?.startedEpoch === volume.epoch;
}

const FAULTS: EffectFault[] = ['none', 'die-before', 'die-after', 'lost-before', 'lost-after'];

test.each(FAULTS)(
  'with %s now and then and two workers: never more than may, all in the end',
  async (fault) => {
    world = await aWorld();
    const clients: SimClient[] = [];
    for (const name of ['a', 'b', 'c', 'd']) clients.push(await served(name));
    world.store.setSetting(world.clusterId, LIMIT, 1);
    world.store.setSetting(world.clusterId, CRON, '* * * * *');
    let count = 0;
    const onEffect = (): EffectFault => {
      count += 1;
      // A number that no attempt's effects add up to: else the same one would fail each time.
      return count % 11 === 3 ? fault : 'none';
    };
    world.faults = { ...NO_FAULTS, runsTwice: () => true, onEffect };
    const [first] = clients;
    if (first === undefined) throw new Error('there is no volume');
    const clones = [await clone(first, 'copy-1'), await clone(first, 'copy-2')];
    for (const { volumeId } of clients) await requestPurge(world.useCases, { volumeId });
    const ids = [...clients.map(({ volumeId }) => volumeId), ...clones];
    let most = 0;
    const isDone = async () => {
      const all = await volumes(ids);
      most = Math.max(most, all.filter(isAtWork).length);
      return all.every(({ task }) => task === undefined);
    };
    expect(await world.runUntil(isDone, 300)).toBe(true);
    expect(most).toBe(1);
    world.faults = NO_FAULTS;
    world.store.setSetting(world.clusterId, CRON, '0 0 1 1 *');
    await world.run(30);
    expect((await volumes(ids)).filter((volume) => heavyTaskOf(volume) !== undefined)).toEqual([]);
  },
);

test('a purge that waits for admission does not hold up the rebuild of its volume', async () => {
  world = await aWorld();
  const busy = await served('busy');
  const client = await served('pg-data');
  world.store.setSetting(world.clusterId, LIMIT, 1);
  world.faults = {
    ...NO_FAULTS,
    onEffect: (name) => (name === 'purge' ? 'lost-before' : 'none'),
  };
  await requestPurge(world.useCases, { volumeId: busy.volumeId });
  await admit(busy, new Date(world.useCases.clock.now()));
  await requestPurge(world.useCases, { volumeId: client.volumeId });
  world.node('node-3').kill();
  await client.write();
  await world.run(12);
  world.startNode('node-3');
  const isHealthy = async () => (await client.view()).rebuilds[0]?.state === 'succeeded';
  expect(await world.runUntil(isHealthy, 60)).toBe(true);
  expect((await client.view()).volume).toMatchObject({
    task: { kind: 'purge', admittedAt: undefined },
  });
  world.faults = NO_FAULTS;
  const isDone = async () => (await client.view()).volume.task === undefined;
  expect(await world.runUntil(isDone, 60)).toBe(true);
});

test.each([
  { name: 'is full begins without its purge', busyOne: true, want: [false] },
  { name: 'has room purges first, and counts', busyOne: false, want: [true] },
])('a rebuild where the limit of background tasks $name', async ({ busyOne, want }) => {
  world = await aWorld();
  const busy = await served('busy');
  const client = await served('pg-data');
  world.store.setSetting(world.clusterId, LIMIT, 1);
  const told = new Set<boolean>();
  const { command } = world.reconcilers.agents;
  world.reconcilers.agents.command = (agent, id, name, ask) => {
    if ('options' in ask && ask.options !== undefined) told.add(ask.options.purgesFirst);
    return command(agent, id, name, ask);
  };
  if (busyOne) {
    const onEffect = (name: string) => (name === 'purge' ? 'lost-before' : 'none');
    world.faults = { ...NO_FAULTS, onEffect };
    await requestPurge(world.useCases, { volumeId: busy.volumeId });
    await admit(busy, new Date(world.useCases.clock.now()));
  }
  const victim = (await client.view()).replicas.find(({ nodeId }) => nodeId === world.nodeId('node-3'));
  if (victim === undefined) throw new Error('node-3 holds no copy');
  await requestReplicaRemoval(world.useCases, { volumeId: client.volumeId, replicaId: victim.id });
  const isDone = async () => (await client.view()).rebuilds.at(-1)?.state === 'succeeded';
  expect(await world.runUntil(isDone, 60)).toBe(true);
  expect([...told]).toEqual(want);
  world.faults = NO_FAULTS;
  await world.run(30);
});

test('an admission ends with the attachment, and the others go on', async () => {
  world = await aWorld();
  const client = await served('pg-data');
  const other = await served('other');
  world.store.setSetting(world.clusterId, LIMIT, 1);
  world.faults = {
    ...NO_FAULTS,
    onEffect: (name) => (name === 'purge' ? 'lost-before' : 'none'),
  };
  await requestPurge(world.useCases, { volumeId: client.volumeId });
  await world.run(2);
  await requestPurge(world.useCases, { volumeId: other.volumeId });
  await world.run(10);
  expect(await admissionOf(client)).toBeDefined();
  expect(await admissionOf(other)).toBeUndefined();
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(10);
  expect(await admissionOf(client)).toBeUndefined();
  expect(await admissionOf(other)).toBeDefined();
});

async function admissionOf(client: SimClient): Promise<Date | undefined> {
  return heavyTaskOf((await client.view()).volume)?.admittedAt;
}

async function admit({ volumeId }: SimClient, admittedAt: Date): Promise<void> {
  const view = await world.store.loadVolume(volumeId);
  if (view === undefined) throw new Error('the volume is gone');
  const change = { kind: 'volume.admit', volumeId, admittedAt } as const;
  await world.store.commit({ kind: 'volume', volumeId, ifVersion: view.volume.version }, [change]);
}
