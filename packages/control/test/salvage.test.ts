/** One copy of three answers: the volume waits for a user, and goes on as they say. */
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestSalvage } from '@holdfast/control/use-cases/request-salvage.js';
import type { ReplicaId } from '@holdfast/core/model/ids.js';
import { afterStartChange, holderOf, surveyOf } from '@holdfast/core/model/volume-lifecycle.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { beforeEach, expect, test } from '@jest/globals';

let world: World;
let client: SimClient;

/** The volume is wanted on node-3 while node-1, which held it, and node-2 are gone. */
beforeEach(async () => {
  world = await aWorld();
  client = await aVolumeIn(world);
  await attach(world, client, 'node-1');
  await client.write();
  world.node('node-1').kill();
  world.node('node-2').kill();
  await world.run(30);
  await requestDetach(world.useCases, { volumeId: client.volumeId, force: true });
  await world.run(2);
  await requestAttach(world.useCases, { volumeId: client.volumeId, nodeId: world.nodeId('node-3') });
  await world.run(20);
});

const volume = async () => (await client.view()).volume;
const salvage = (...replicaIds: ReplicaId[]) =>
  requestSalvage(world.useCases, { volumeId: client.volumeId, replicaIds });
const types = () => world.store.events.map(({ type }) => type).filter((type) => /Salvage/.test(type));
async function copyOn(name: string): Promise<ReplicaId> {
  const replica = (await client.view()).replicas.find(({ nodeId }) => nodeId === world.nodeId(name));
  if (replica === undefined) throw new Error(`there is no copy on ${name}`);
  return replica.id;
}

test('it waits, says that it is faulted, and knows what answered', async () => {
  const { attention, robustness, lifecycle } = await volume();
  expect([lifecycle.state, robustness, attention?.code]).toEqual(['attaching', 'faulted', 'CopiesMissing']);
  expect(surveyOf({ lifecycle })?.copies).toMatchObject([
    { replicaId: await copyOn('node-3'), isClean: true },
  ]);
  const { version } = await volume();
  await world.run(60);
  expect((await volume()).version).toBe(version);
});

test('it goes on with the copy that a person names, with every write it has, and the others become stale', async () => {
  await salvage(await copyOn('node-3'));
  await world.run(10);
  const { lifecycle, record } = await volume();
  expect([lifecycle.state, holderOf({ lifecycle })]).toEqual(['attached', world.nodeId('node-3')]);
  expect(record?.members).toEqual([await copyOn('node-3')]);
  expect(types()).toEqual(['VolumeSalvaged']);
  await client.write();

  world.startNode('node-1');
  world.startNode('node-2');
  const isHealthy = async () => (await volume()).robustness === 'healthy';
  expect(await world.runUntil(isHealthy, 600)).toBe(true);
  const contents = ['node-1', 'node-2', 'node-3'].map((name) =>
    [...world.node(name).copies.values()].map(({ writes }) => [...writes].sort()),
  );
  expect(contents[0]).toEqual(contents[2]);
  expect(contents[1]).toEqual(contents[2]);
});

test('from the moment it is decided the others are not believed, even when the engine never started', async () => {
  const copy = await copyOn('node-3');
  const before = (await volume()).epoch;
  // The worker dies right after it has recorded the decision.
  let isDecided = false;
  world.faults = {
    ...world.faults,
    onEffect: (name) => (isDecided && name === 'startEngine' ? 'lost-before' : 'none'),
  };
  await salvage(copy);
  isDecided = true;
  await world.run(10);
  expect(await volume()).toMatchObject({ epoch: before + 1, record: { members: [copy] } });
  world.faults = { ...world.faults, onEffect: () => 'none' };
  world.node('node-3').kill();
  world.startNode('node-1');
  world.startNode('node-2');
  await world.run(60);
  expect((await volume()).lifecycle.state).not.toBe('attached');
  expect((await client.view()).engine).toBeUndefined();
});

test('what came back meanwhile is not left out: the volume goes on without a user', async () => {
  world.startNode('node-2');
  await world.run(30);
  expect((await volume()).lifecycle.state).toBe('attached');
  expect(types()).toEqual([]);
});

test('a decision that does not hold any more is refused and forgotten', async () => {
  const copy = await copyOn('node-3');
  const node = world.node('node-3');
  const found = [...node.copies.values()];
  const { lifecycle, version } = await volume();
  // Between the request and the worker's look at it the copy learns of a record that leaves it out.
  for (const held of found) held.record = { epoch: 1, dataGeneration: 99, members: [await copyOn('node-1')] };
  await world.store.commit({ kind: 'volume', volumeId: client.volumeId, ifVersion: version }, [
    {
      kind: 'volume.patch',
      volumeId: client.volumeId,
      patch: {
        lifecycle: afterStartChange(lifecycle, {
          salvage: { replicaIds: [copy], requestedAt: world.clock.now() },
        }),
      },
    },
  ]);
  await world.run(10);
  expect(await volume()).toMatchObject({ lifecycle: { state: 'attaching', salvage: undefined } });
  expect(types()).toEqual(['SalvageRefused']);
  await expect(salvage(copy)).rejects.toMatchObject({ code: 'volume.record_higher' });
});

test('a copy that does not answer, or a volume that is not faulted, can not be salvaged', async () => {
  await expect(salvage(await copyOn('node-1'))).rejects.toMatchObject({ code: 'volume.copies_missing' });
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(5);
  await expect(salvage()).rejects.toMatchObject({ code: 'volume.not_faulted' });
});
