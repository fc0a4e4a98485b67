/** Taking a node out: what each policy moves and waits for, and what becomes of a drain that is cancelled or ended. */
import { cordonNode, uncordonNode } from '@holdfast/control/use-cases/cordon-node.js';
import { cancelDrain, drainNode } from '@holdfast/control/use-cases/drain-node.js';
import { patchDisk } from '@holdfast/control/use-cases/patch-disk.js';
import { patchNode } from '@holdfast/control/use-cases/patch-node.js';
import { patchVolume } from '@holdfast/control/use-cases/patch-volume.js';
import { planNodeDrain } from '@holdfast/control/use-cases/plan-node-drain.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { compareIds } from '@holdfast/core/model/ids.js';
import type { DrainPolicy } from '@holdfast/core/model/node-drain.js';
import { isHealthy } from '@holdfast/core/model/replica.js';
import { holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import type { VolumeSpecInput } from '@holdfast/core/policy/volume-spec.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn, codeOf } from '@holdfast/simulator/test-world.js';
import { World } from '@holdfast/simulator/world.js';
import { afterEach, expect, test } from '@jest/globals';

let world: World;
let client: SimClient;

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

/** Nodes n1…, one disk each, in one zone. */
async function aCluster(nodes = 3): Promise<void> {
  world = new World();
  for (let index = 1; index <= nodes; index += 1) world.addNode(`n${index}`, { diskBytes: [100 * GIB] });
  await world.run(2);
}

/** A volume with copies exactly on the named nodes; attached where that is said. */
async function aVolumeOn(
  names: readonly string[],
  attachedOn?: string,
  spec: Partial<VolumeSpecInput> & { name?: string } = {},
): Promise<void> {
  const others = world.nodes.map(({ name }) => name).filter((name) => !names.includes(name));
  for (const name of others) await allow(name, false);
  client = await aVolumeIn(world, { numberOfReplicas: names.length, ...spec });
  await world.run(5);
  for (const name of others) await allow(name, true);
  if (attachedOn === undefined) return;
  await attach(world, client, attachedOn);
  await client.write();
  await world.run(5);
}

const EVICTING = ['block-for-eviction', 'block-for-eviction-if-contains-last-replica'] as const;
const keyOf = (name: string) => ({ clusterId: world.clusterId, nodeId: world.nodeId(name) });
const allow = (name: string, allowScheduling: boolean) =>
  patchNode(world.useCases, { ...keyOf(name), patch: { allowScheduling } });
const drain = (name: string, policy?: DrainPolicy) => drainNode(world.useCases, { ...keyOf(name), policy });

const stateOf = async (name: string) => (await nodeNamed(name)).drainStatus?.state;
const waitsOf = async (name: string) =>
  (await nodeNamed(name)).drainStatus?.waitingFor.map(({ reason }) => reason);
const isDrained = (name: string, seconds = 300) =>
  world.runUntil(async () => (await stateOf(name)) === 'drained', seconds);
const eventTypes = () => world.store.events.map(({ type }) => type);

test('block-for-eviction moves every copy before it is removed; after uncordon the node takes new ones', async () => {
  await aCluster();
  await aVolumeOn(['n1', 'n2'], 'n2');
  await drain('n1', 'block-for-eviction');
  expect(await fewestCopiesUntil(async () => (await stateOf('n1')) === 'drained', 300)).toBe(2);
  expect(await places()).toEqual(['n2', 'n3']);
  expect((await nodeNamed('n1')).drainStatus?.progress).toEqual({
    replicasToMove: 1,
    replicasMoved: 1,
    bytesToMove: 4096,
    bytesMoved: 4096,
  });
  expect(eventTypes()).toEqual(expect.arrayContaining(['NodeCordoned', 'NodeDrainStarted', 'NodeDrained']));

  await uncordonNode(world.useCases, keyOf('n1'));
  expect(await nodeNamed('n1')).toMatchObject({ cordoned: false, drain: undefined, drainStatus: undefined });
});

test('a detached volume moves too, and is detached to its users all the while', async () => {
  await aCluster();
  await aVolumeOn(['n1', 'n2'], 'n1');
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(5);
  await drain('n1', 'block-for-eviction');
  expect(await isDrained('n1')).toBe(true);
  expect(await places()).toEqual(['n2', 'n3']);
  await world.run(10);
  expect((await client.view()).volume).toMatchObject({
    lifecycle: { state: 'detached' },
    robustness: 'healthy',
  });
});

test('a detached volume is not moved while the node of its other copy is away for a moment', async () => {
  await aCluster(4);
  await aVolumeOn(['n1', 'n2'], 'n1');
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(5);
  world.node('n2').isConnected = false;
  await world.run(20);
  await drain('n1', 'block-for-eviction');
  await world.run(60);
  expect(await waitsOf('n1')).toEqual(['CopyAwaited']);
  expect(await places()).toEqual(['n1', 'n2']);
  world.node('n2').isConnected = true;
  expect(await isDrained('n1')).toBe(true);
  expect((await places()).filter((name) => name === 'n2')).toEqual(['n2']);
});

test('detached volumes that have no other place do not keep the others of their node from being moved', async () => {
  await aCluster();
  await patchNode(world.useCases, { ...keyOf('n1'), patch: { tags: ['tagged'] } });
  for (let count = 0; count < 40; count += 1)
    await aVolumeOn(['n1'], undefined, { name: `bound-${count}`, nodeSelector: ['tagged'] });
  // Volumes are read in the order of their ids.
  const last = world.store.volumeIds.toSorted(compareIds).at(-1);
  if (last === undefined) throw new Error('there is no volume');
  await patchVolume(world.useCases, { volumeId: last, patch: { nodeSelector: [] } });
  await drain('n1', 'block-for-eviction');
  const hasMoved = async () => {
    const replicas = (await world.store.loadVolume(last))?.replicas ?? [];
    return replicas.length === 1 && replicas[0]?.nodeId !== world.nodeId('n1');
  };
  expect(await world.runUntil(hasMoved, 300)).toBe(true);
  expect(await stateOf('n1')).toBe('blocked');
});

test('a node that is emptied by a wish of its own loses detached volumes too', async () => {
  await aCluster();
  await aVolumeOn(['n1', 'n2']);
  await patchNode(world.useCases, {
    ...keyOf('n1'),
    patch: { allowScheduling: false, evictionRequested: true },
  });
  await world.run(60);
  expect(await places()).toEqual(['n2', 'n3']);
});

test('only copies that no other node holds are moved by block-for-eviction-if-contains-last-replica', async () => {
  await aCluster();
  await aVolumeOn(['n1', 'n2'], 'n2');
  const shared = client;
  await aVolumeOn(['n1'], 'n2', { name: 'single' });
  await drain('n1', 'block-for-eviction-if-contains-last-replica');
  expect(await isDrained('n1')).toBe(true);
  expect(await places(shared)).toEqual(['n1', 'n2']);
  expect(await places()).not.toContain('n1');
  await world.run(60);
  expect(await places(shared)).toEqual(['n1', 'n2']);
});

test('the last healthy copy blocks a drain by default; always-allow does not ask', async () => {
  await aCluster(3);
  await aVolumeOn(['n1', 'n2'], 'n1');
  world.node('n2').kill();
  await client.write();
  await world.run(15);
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(15);
  await drain('n1');
  await world.run(10);
  expect(await stateOf('n1')).toBe('blocked');
  expect(await waitsOf('n1')).toEqual(['LastCopy']);
  expect(eventTypes()).toContain('NodeDrainBlocked');

  await drain('n1', 'always-allow');
  await world.run(10);
  expect(await stateOf('n1')).toBe('drained');
  expect(await places()).toEqual(['(n2)', 'n1']);
});

test('a drain that waits for another copy ends when that is back and up to date', async () => {
  await aCluster(3);
  await aVolumeOn(['n1', 'n2'], 'n1');
  world.node('n2').kill();
  await client.write();
  await world.run(15);
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(15);
  await drain('n1');
  await world.run(10);
  expect(await stateOf('n1')).toBe('blocked');
  world.startNode('n2');
  await world.run(5);
  await attach(world, client, 'n2');
  expect(await isDrained('n1')).toBe(true);
  expect(await places()).toEqual(['n1', 'n2']);
});

test('an engine on the node holds up its drain until it is detached, or the setting detaches it', async () => {
  await aCluster();
  await aVolumeOn(['n1', 'n2'], 'n1');
  await drain('n1');
  await world.run(10);
  expect([await stateOf('n1'), await waitsOf('n1')]).toEqual(['blocked', ['EngineRunning']]);
  world.store.setSetting(world.clusterId, 'detach-manually-attached-volumes-when-cordoned', true);
  expect(await isDrained('n1', 60)).toBe(true);
  expect((await client.view()).volume.lifecycle.state).toBe('detached');
  expect(eventTypes()).toContain('VolumeDetachedFromCordonedNode');
});

test('with allow-if-replica-is-stopped the last copy of a volume that is not in use may be switched off', async () => {
  await aCluster();
  await aVolumeOn(['n1'], 'n2');
  await drain('n1', 'allow-if-replica-is-stopped');
  await world.run(10);
  expect(await waitsOf('n1')).toEqual(['LastCopy']);
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  expect(await isDrained('n1', 30)).toBe(true);
  expect(await places()).toEqual(['n1']);
});

test('a copy without another place blocks the drain and says why; cancelled, it stays where it is', async () => {
  await aCluster(2);
  await aVolumeOn(['n1', 'n2'], 'n2');
  await drain('n1', 'block-for-eviction');
  await world.run(30);
  expect(await stateOf('n1')).toBe('blocked');
  const wait = (await nodeNamed('n1')).drainStatus?.waitingFor[0];
  expect(wait).toMatchObject({ reason: 'NoPlace', volumeName: 'pg-data' });
  expect(wait?.message).toContain('node');
  const scheduled = async () =>
    (await client.view()).volume.conditions.find(({ type }) => type === 'Scheduled')?.status;
  expect(await scheduled()).toBe('False');

  await cancelDrain(world.useCases, keyOf('n1'));
  await world.run(10);
  expect(await places()).toEqual(['n1', 'n2']);
  expect(await scheduled()).toBe('True');
  expect(await nodeNamed('n1')).toMatchObject({ cordoned: false, drain: undefined });
  expect(eventTypes()).toContain('NodeDrainCancelled');
});

test('a drain that is cancelled while it moves leaves the volume with as many copies as it wants', async () => {
  await aCluster();
  await aVolumeOn(['n1', 'n2'], 'n2');
  await drain('n1', 'block-for-eviction');
  await world.runUntil(
    async () => (await client.view()).rebuilds.some(({ state }) => state === 'running'),
    60,
  );
  await cancelDrain(world.useCases, keyOf('n1'));
  await world.run(120);
  expect((await places()).length).toBe(2);
  expect((await client.view()).volume.robustness).toBe('healthy');
});

test('volumes are not attached on a drained node, and where none is named go to another one', async () => {
  await aCluster();
  await aVolumeOn(['n1']);
  await drain('n1');
  expect(await codeOf(attach(world, client, 'n1'))).toBe('node.draining');
  await attach(world, client);
  const holder = holderOf((await client.view()).volume);
  expect([world.nodeId('n2'), world.nodeId('n3')]).toContain(holder);
});

test('where a request names no policy, the setting of the cluster does', async () => {
  await aCluster();
  await drain('n1');
  expect((await nodeNamed('n1')).drain?.policy).toBe('block-if-contains-last-replica');
  world.store.setSetting(world.clusterId, 'node-drain-policy', 'block-for-eviction');
  await drain('n2');
  expect((await nodeNamed('n2')).drain?.policy).toBe('block-for-eviction');
});

test('a node that was cordoned before stays so when its drain is cancelled', async () => {
  await aCluster();
  await cordonNode(world.useCases, keyOf('n1'));
  await drain('n1');
  await drain('n1', 'always-allow');
  await cancelDrain(world.useCases, keyOf('n1'));
  expect((await nodeNamed('n1')).cordoned).toBe(true);
});

test('drain and back: its replica fails, and within the wait interval the same one is brought up to date', async () => {
  await aCluster(4);
  await aVolumeOn(['n1', 'n2', 'n3'], 'n1');
  const before = (await client.view()).replicas.map(({ id }) => id);
  await drain('n3');
  expect(await isDrained('n3', 30)).toBe(true);
  world.node('n3').kill();
  await client.write();
  await world.run(60);
  world.startNode('n3');
  await world.run(20);
  // It may be switched off again at any time, so nothing is built there before it is uncordoned.
  expect(await places()).toEqual(['(n3)', 'n1', 'n2']);
  await uncordonNode(world.useCases, keyOf('n3'));
  await world.run(60);
  expect(await places()).toEqual(['n1', 'n2', 'n3']);
  expect((await client.view()).replicas.map(({ id }) => id)).toEqual(before);
});

test('the last node is not drained while copies are on it, unless the policy lets them be switched off', async () => {
  await aCluster(2);
  await aVolumeOn(['n1', 'n2'], 'n1');
  world.node('n2').kill();
  await client.write();
  await world.run(15);
  const refused = ['block-if-contains-last-replica', ...EVICTING] as const;
  for (const policy of [undefined, ...refused]) {
    const key = { ...keyOf('n1'), policy };
    expect(await codeOf(drainNode(world.useCases, key))).toBe('node.last_ready');
    expect(await codeOf(planNodeDrain(world.useCases, key))).toBe('node.last_ready');
  }
  expect(await nodeNamed('n1')).toMatchObject({ cordoned: false, drain: undefined });
  await expect(drain('n1')).rejects.toThrow(
    /policy block-if-contains-last-replica .* node n1 waits for copies/,
  );

  // Its users can end this one: they detach the volume.
  await drain('n1', 'allow-if-replica-is-stopped');
  await world.run(10);
  expect(await waitsOf('n1')).toContain('EngineRunning');
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  expect(await isDrained('n1', 30)).toBe(true);
  expect(await codeOf(drain('n1'))).toBe('node.last_ready');
  expect(await stateOf('n1')).toBe('drained');
  await drain('n1', 'always-allow');
  expect(await isDrained('n1', 30)).toBe(true);
});

test('of two nodes the second is not drained while the first is', async () => {
  await aCluster(2);
  await aVolumeOn(['n1', 'n2'], 'n2');
  await drain('n1');
  expect(await isDrained('n1', 30)).toBe(true);
  expect(await codeOf(drain('n2'))).toBe('node.last_ready');
  await uncordonNode(world.useCases, keyOf('n1'));
  expect(await codeOf(drain('n2'))).toBe('done');
});

const EMPTIED = { allowScheduling: false, evictionRequested: true };
const emptyNode = (name: string) => patchNode(world.useCases, { ...keyOf(name), patch: EMPTIED });
const emptyDiskOf = async (name: string) => {
  const { clusterId } = world;
  const nodeId = (await nodeNamed(name)).id;
  const disk = (await world.store.loadFleet(clusterId)).disks.find((one) => one.nodeId === nodeId);
  if (disk === undefined) throw new Error(`node ${name} has no disk`);
  await patchDisk(world.useCases, { clusterId, diskId: disk.id, patch: EMPTIED });
};

test.each<{ name: string; works: ((node: string) => Promise<void>)[]; code: string }>([
  { name: 'drains', works: [drain], code: 'node.last_ready' },
  {
    name: 'drains that move all',
    works: [(name) => drain(name, 'block-for-eviction')],
    code: 'node.last_ready',
  },
  { name: 'evictions of nodes', works: [emptyNode], code: 'node.last_ready' },
  { name: 'evictions of disks', works: [emptyDiskOf], code: 'disk.last_ready' },
  {
    name: 'an eviction of a disk and one of a node',
    works: [emptyDiskOf, emptyNode],
    code: 'disk.last_ready',
  },
])(
  'of two $name at the same moment, which leave no node to go to, the second is refused',
  async ({ works, code }) => {
    await aCluster(2);
    await aVolumeOn(['n1', 'n2'], 'n2');
    const [first, second = first] = works;
    if (first === undefined || second === undefined) throw new Error('nothing is to be done');
    const codes = await Promise.all([codeOf(first('n1')), codeOf(second('n2'))]);
    expect(codes.sort()).toEqual(['done', code].sort());
  },
);

test.each<{ policy: DrainPolicy | undefined; reason: string }>([
  { policy: undefined, reason: 'LastCopy' },
  { policy: 'block-for-eviction', reason: 'NoPlace' },
  { policy: 'block-for-eviction-if-contains-last-replica', reason: 'NoPlace' },
])(
  'a drain ($policy) that is asked for before the death of the other node is noticed is blocked once it is, and goes on when that is back',
  async ({ policy, reason }) => {
    await aCluster(2);
    await aVolumeOn(['n1', 'n2']);
    world.node('n2').kill();
    await world.run(1);
    await drain('n1', policy);
    expect(await world.runUntil(async () => (await stateOf('n1')) === 'blocked', 30)).toBe(true);
    await world.run(60);
    const { drainStatus } = await nodeNamed('n1');
    expect(drainStatus).toMatchObject({
      state: 'blocked',
      waitingFor: [{ reason, message: expect.stringContaining('no other node is ready') }],
    });
    expect(drainStatus?.waitingFor[0]?.cures).toEqual([
      expect.stringContaining('start the agents of other nodes'),
      expect.stringContaining('always-allow'),
    ]);
    world.startNode('n2');
    world.addNode('n3', { diskBytes: [100 * GIB] });
    expect(await isDrained('n1', 60)).toBe(true);
  },
);

test.each(['detached', 'attached'])(
  'a drain whose copies wait for a quota of no rebuilds says so (%s), and goes on within a sweep of its raise',
  async (state) => {
    await aCluster();
    await aVolumeOn(['n1', 'n2'], 'n2');
    if (state === 'detached') await requestDetach(world.useCases, { volumeId: client.volumeId });
    const { projectId } = (await client.view()).volume;
    world.store.setQuota('project', projectId, { runningRebuilds: 0 });
    await world.run(5);
    await drain('n1', 'block-for-eviction');
    await world.run(3600);
    expect((await client.view()).rebuilds).toMatchObject([{ state: 'queued', waitingReason: 'QuotaZero' }]);
    expect((await nodeNamed('n1')).drainStatus).toMatchObject({
      state: 'blocked',
      waitingFor: [
        {
          reason: 'RebuildsStopped',
          message: expect.stringMatching(
            /waits to be rebuilt: .*may run no rebuild: an admin .*may raise it/,
          ),
          cures: [expect.stringContaining('raise runningRebuilds')],
        },
      ],
    });
    world.store.setQuota('project', projectId, {});
    const runs = async () => (await client.view()).rebuilds.some((rebuild) => rebuild.state !== 'queued');
    expect(await world.runUntil(runs, 6)).toBe(true);
    expect(await isDrained('n1', 60)).toBe(true);
  },
);

test('the last node is drained while nothing is on it', async () => {
  await aCluster(1);
  await drain('n1');
  expect(await isDrained('n1', 30)).toBe(true);
});

test('what can not be done is refused at once: the last node, the only disk, a policy that there is not', async () => {
  await aCluster(1);
  await aVolumeOn(['n1']);
  expect(await codeOf(drain('n1', 'block-for-eviction'))).toBe('node.last_ready');
  expect(await codeOf(drainNode(world.useCases, { ...keyOf('n1'), policy: 'gently' }))).toBe(
    'request.invalid',
  );
  const emptied = { allowScheduling: false, evictionRequested: true };
  expect(await codeOf(patchNode(world.useCases, { ...keyOf('n1'), patch: emptied }))).toBe('node.last_ready');
  const disk = (await world.store.loadFleet(world.clusterId)).disks[0];
  if (disk === undefined) throw new Error('no disk');
  const wish = { clusterId: world.clusterId, diskId: disk.id, patch: emptied };
  expect(await codeOf(patchDisk(world.useCases, wish))).toBe('disk.last_ready');
  expect(await nodeNamed('n1')).toMatchObject({
    cordoned: false,
    drain: undefined,
    evictionRequested: false,
  });
});

async function nodeNamed(name: string) {
  const { nodes } = await world.store.loadFleet(world.clusterId);
  const node = nodes.find((one) => one.name === name);
  if (node === undefined) throw new Error(`no node ${name}`);
  return node;
}

/** The nodes of all replicas, those of full copies without a mark. */
async function places(of = client): Promise<string[]> {
  const { replicas, fleet } = await of.view();
  return replicas
    .map((replica) => {
      const name = fleet.nodes.find(({ id }) => id === replica.nodeId)?.name ?? 'nowhere';
      return isHealthy(replica) ? name : `(${name})`;
    })
    .sort();
}

/** The fewest full copies seen while time passes until the condition holds. */
async function fewestCopiesUntil(holds: () => Promise<boolean>, seconds: number): Promise<number> {
  let fewest = Number.POSITIVE_INFINITY;
  const isOver = await world.runUntil(async () => {
    const { replicas } = await client.view();
    fewest = Math.min(fewest, replicas.filter(isHealthy).length);
    return holds();
  }, seconds);
  expect(isOver).toBe(true);
  return fewest;
}
