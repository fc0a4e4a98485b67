/** One node says of its copy what is not so: the copies on the others are not given up for it. */
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestSalvage } from '@holdfast/control/use-cases/request-salvage.js';
import { type CopyRecord, copyRecord } from '@holdfast/core/model/copy-record.js';
import type { ReplicaId } from '@holdfast/core/model/ids.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { beforeEach, expect, test } from '@jest/globals';

const NODES = ['node-1', 'node-2', 'node-3'];

let world: World;
let client: SimClient;

/** A volume with a copy on each node that was written to and detached. */
beforeEach(async () => {
  world = await aWorld();
  client = await aVolumeIn(world);
  await attach(world, client, 'node-1');
  await client.write();
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(10);
});

const volume = async () => (await client.view()).volume;
const copiesOf = (name: string) => [...world.node(name).copies.values()];
const contents = () => NODES.map((name) => copiesOf(name).map(({ writes }) => [...writes].sort()));
const rebuilds = () => world.store.events.filter(({ type }) => type === 'RebuildSucceeded').length;
async function copyOn(name: string): Promise<ReplicaId> {
  const replica = (await client.view()).replicas.find(({ nodeId }) => nodeId === world.nodeId(name));
  if (replica === undefined) throw new Error(`there is no copy on ${name}`);
  return replica.id;
}

/** What the agent of the node answers from now on, whatever is true. */
async function claim(name: string, generation: number, members: readonly string[]): Promise<CopyRecord> {
  const { record } = await volume();
  const named = await Promise.all(members.map(copyOn));
  const claimed = copyRecord(record?.epoch ?? 0, (record?.dataGeneration ?? 0) + generation, named);
  for (const copy of copiesOf(name)) copy.record = claimed;
  return claimed;
}

async function attachOn(name: string): Promise<void> {
  await requestAttach(world.useCases, { volumeId: client.volumeId, nodeId: world.nodeId(name) });
  await world.run(30);
}

test('a record with its own copy as the only member makes no other copy stale', async () => {
  const [held] = copiesOf('node-3').map(({ writes }) => [...writes]);
  for (const copy of copiesOf('node-3')) copy.writes.clear();
  await claim('node-3', 99, ['node-3']);
  await attachOn('node-1');
  const { lifecycle, attention, robustness } = await volume();
  expect([lifecycle.state, robustness, attention?.code]).toEqual(['attaching', 'faulted', 'CopiesMissing']);
  expect(attention?.message).toContain('node node-3 alone says that others');

  await requestSalvage(world.useCases, { volumeId: client.volumeId, replicaIds: [] });
  // The agent comes to its senses, or the next one on that node does.
  for (const copy of copiesOf('node-3')) copy.writes = new Set(held);
  await claim('node-3', 1, ['node-1', 'node-2', 'node-3']);
  const isHealthy = async () => (await volume()).robustness === 'healthy';
  expect(await world.runUntil(isHealthy, 600)).toBe(true);
  const [first, ...others] = contents();
  expect(first?.[0]).toHaveLength(1);
  for (const other of others) expect(other).toEqual(first);
});

test('a record that was begun before everything stopped is no reason to ask a user', async () => {
  // The engine left node-2's copy out, and got as far as one of the two that were to go on.
  await claim('node-3', 1, ['node-1', 'node-3']);
  await attachOn('node-1');
  expect(await volume()).toMatchObject({ lifecycle: { state: 'attached' }, robustness: 'healthy' });
  expect(rebuilds()).toBe(0);
});

test('a record that another copy has stored as well is believed', async () => {
  await claim('node-2', 1, ['node-2', 'node-3']);
  await claim('node-3', 1, ['node-2', 'node-3']);
  await attachOn('node-1');
  expect((await volume()).lifecycle.state).toBe('attached');
  expect(rebuilds()).toBe(1);
});

test('a user who knows the node to be theirs attaches the volume there', async () => {
  await claim('node-3', 9, ['node-3']);
  await attachOn('node-1');
  expect((await volume()).lifecycle.state).toBe('attaching');
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(10);
  await attachOn('node-3');
  expect((await volume()).lifecycle.state).toBe('attached');
});
