/** What an engine is told of a rebuild: from how many copies to read, and how to compare blocks. */
import { patchVolume } from '@holdfast/control/use-cases/patch-volume.js';
import { aServedVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import { expect, test } from '@jest/globals';

const LIMIT = 'replica-rebuild-concurrent-sync-limit';

test.each([
  { name: 'the default where nothing is set', want: 1 },
  { name: 'what its cluster says', cluster: 2, want: 2 },
  { name: 'its own answer before that', cluster: 2, own: 1, want: 1 },
  { name: 'what its cluster says again by 0', cluster: 2, own: 0, want: 2 },
  { name: 'as many as there are', cluster: 5, want: 2 },
])('a rebuild reads from at most $want copies at once: $name', async ({ cluster, own, want }) => {
  const world = await aWorld();
  const { volumeId } = await aServedVolumeIn(world);
  if (cluster !== undefined) world.store.setSetting(world.clusterId, LIMIT, cluster);
  if (own !== undefined) {
    await patchVolume(world.useCases, { volumeId, patch: { rebuildConcurrentSyncLimit: own } });
  }
  const told: number[] = [];
  const { command } = world.reconcilers.agents;
  world.reconcilers.agents.command = (agent, id, name, ask) => {
    if ('options' in ask && ask.options !== undefined) told.push(ask.options.sourcesMax);
    return command(agent, id, name, ask);
  };
  world.node('node-3').kill();
  await world.run(30);
  world.startNode('node-3');
  await world.run(30);
  // The engine is asked until it reports the rebuild.
  expect([...new Set(told)]).toEqual([want]);
  const [rebuild] = (await world.store.loadVolume(volumeId))?.rebuilds ?? [];
  expect(rebuild?.sourceNodeIds).toHaveLength(want);
});

test.each([6, -1, 1.5])('a volume may not say to read from %d copies at once', async (own) => {
  const world = await aWorld();
  const { volumeId } = await aServedVolumeIn(world);
  const patched = patchVolume(world.useCases, { volumeId, patch: { rebuildConcurrentSyncLimit: own } });
  await expect(patched).rejects.toThrow('must be');
});

test('a rebuild is told to compare blocks by the hash that its cluster says', async () => {
  const world = await aWorld();
  await aServedVolumeIn(world);
  world.store.setSetting(world.clusterId, 'rebuild-block-hash', 'blake3');
  const told = new Set<string>();
  const { command } = world.reconcilers.agents;
  world.reconcilers.agents.command = (agent, id, name, ask) => {
    if ('options' in ask && ask.options !== undefined) told.add(ask.options.blockHash);
    return command(agent, id, name, ask);
  };
  world.node('node-3').kill();
  await world.run(30);
  world.startNode('node-3');
  await world.run(30);
  expect([...told]).toEqual(['blake3']);
});

test('a waiting rebuild counts on the nodes that it would read now', async () => {
  const world = await aWorld(1, ['a', 'b', 'c', 'd']);
  const client = await aServedVolumeIn(world);
  const shown = async () => (await client.view()).rebuilds.at(-1);
  const nodeOf = async (at: number) => {
    const { replicas } = await client.view();
    const other = replicas.filter(({ nodeId, mode }) => nodeId !== world.nodeId('node-1') && mode === 'RW')[
      at
    ];
    return world.nodes.find(({ nodeId }) => nodeId === other?.nodeId);
  };
  world.store.setSetting(world.clusterId, LIMIT, 2);
  // A place for a new copy is booked, and its rebuild waits.
  world.store.setQuota('project', (await client.view()).volume.projectId, { runningRebuilds: 0 });
  world.store.setSetting(world.clusterId, 'replica-replenishment-wait-interval', 0);
  (await nodeOf(0))?.kill();
  await world.run(20);
  const survivor = (await nodeOf(0))?.nodeId;
  expect([...((await shown())?.sourceNodeIds ?? [])].sort()).toEqual(
    [world.nodeId('node-1'), survivor].sort(),
  );
  world.nodes.find(({ nodeId }) => nodeId === survivor)?.kill();
  await world.run(20);
  expect((await shown())?.sourceNodeIds).toEqual([world.nodeId('node-1')]);
});
