/** Copies that a user moves: replacement first, then the old one goes; what is refused, and what becomes of a move that fails. */
import { cancelRebuild } from '@holdfast/control/use-cases/cancel-rebuild.js';
import { moveReplica } from '@holdfast/control/use-cases/move-replica.js';
import { patchNode } from '@holdfast/control/use-cases/patch-node.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestReplicaRemoval } from '@holdfast/control/use-cases/request-replica-removal.js';
import { asId, type DiskId, type NodeId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { isActiveRebuild } from '@holdfast/core/model/rebuild.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { codeOf } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { aClusterOf, eventTypes, servedVolume, setIn, spread, spreadsTo } from './moving-copies.js';

const WELL = { isReached: true, findings: [] };

let world: World;
let client: SimClient;

beforeEach(async () => {
  world = await aClusterOf(['n1', 'n2', 'n3', 'n4'], 2);
  client = await servedVolume(world);
});
afterEach(async () => {
  await world.run(120);
  expect(await checkWorld(world)).toEqual([]);
  const { volume, replicas } = await client.view();
  expect(replicas.every(({ relocation }) => relocation === undefined)).toBe(true);
  expect(volume.spec.numberOfReplicas).toBe(3);
});

const diskOf = (name: string, index = 0) => asId<DiskId>(world.node(name).disks[index]?.id ?? '');
const onNode = async (name: string) => {
  const found = (await client.view()).replicas.find(({ nodeId }) => nodeId === world.nodeId(name));
  if (found === undefined) throw new Error(`no replica on ${name}`);
  return found;
};
/** The node without a copy, and one with a copy that is not the engine's. */
const places = async () => {
  const counts = (await spread(world, client)).split('/');
  const free = world.nodes.find((_, index) => counts[index] === '0')?.name ?? '';
  const used = world.nodes.find(({ name }, index) => counts[index] === '1' && name !== 'n1')?.name ?? '';
  return { free, used };
};
const move = async (from: string, to: { nodeId?: NodeId; diskId?: DiskId } = {}) =>
  codeOf(
    moveReplica(world.useCases, { volumeId: client.volumeId, replicaId: (await onNode(from)).id, ...to }),
  );
const isMoving = async () => (await client.view()).replicas.some(({ mode }) => mode === 'WO');
const spreadWithout = (used: string) => world.nodes.map(({ name }) => (name === used ? 0 : 1)).join('/');

describe('a move', () => {
  test('to a node: the copy is there afterwards, and the volume never lacked one', async () => {
    const { free, used } = await places();
    expect(await move(used, { nodeId: world.nodeId(free) })).toBe('done');
    expect(await spreadsTo(world, client, spreadWithout(used), 60)).toEqual(WELL);
    await world.run(10);
    expect((await client.view()).replicas).toHaveLength(3);
    expect(eventTypes(world)).toContain('ReplicaMoved');
    expect(await client.missing()).toEqual([]);
  });

  test('to another disk of its node, where copies may share no node', async () => {
    const { used } = await places();
    const before = await onNode(used);
    const other = diskOf(used, before.diskId === diskOf(used, 0) ? 1 : 0);
    expect(await move(used, { diskId: other })).toBe('done');
    await world.runUntil(async () => (await onNode(used)).id !== before.id, 60);
    await world.run(10);
    expect((await onNode(used)).diskId).toBe(other);
    expect((await client.view()).volume.robustness).toBe('healthy');
  });

  test('asked for twice it is one', async () => {
    const { free, used } = await places();
    const target = { nodeId: world.nodeId(free) };
    expect([await move(used, target), await move(used, target)]).toEqual(['done', 'done']);
    expect((await client.view()).replicas).toHaveLength(4);
  });

  test('without a target goes where the scheduler wants it', async () => {
    const { used } = await places();
    const before = await onNode(used);
    expect(await move(used)).toBe('done');
    await world.run(60);
    const { replicas } = await client.view();
    expect(replicas.map(({ id }) => id)).not.toContain(before.id);
    expect(replicas).toHaveLength(3);
  });
});

describe('a move that comes to nothing', () => {
  test.each([
    { how: 'its rebuild is cancelled', undo: cancelRunning },
    { how: 'its target is to be emptied', undo: emptyTarget },
    { how: 'its replacement is deleted', undo: deleteReplacement },
    { how: 'its target dies', undo: killTarget },
    { how: 'the volume is detached', undo: detach },
  ])('because $how leaves the volume as it was', async ({ undo }) => {
    const { free, used } = await places();
    const before = await spread(world, client);
    const ids = (await client.view()).replicas.map(({ id }) => id);
    await move(used, { nodeId: world.nodeId(free) });
    await world.runUntil(isMoving, 30);
    await undo(free);
    await world.run(200);
    expect((await client.view()).replicas.map(({ id }) => id)).toEqual(ids);
    if ((await client.view()).volume.lifecycle.state === 'attached')
      expect(await spread(world, client)).toBe(before);
  });

  test('when the old copy dies meanwhile, the replacement is what the volume lacks', async () => {
    const { free, used } = await places();
    setIn(world, 'replica-replenishment-wait-interval', 0);
    await move(used, { nodeId: world.nodeId(free) });
    await world.runUntil(isMoving, 30);
    world.node(used).kill();
    await client.write();
    await world.run(60);
    expect(await spread(world, client)).toBe(spreadWithout(used));
    world.startNode(used);
  });
});

test('when another copy dies while one moves, the old one stays too, until the volume is whole', async () => {
  const { free, used } = await places();
  const third = world.nodes.find(({ name }) => !['n1', free, used].includes(name))?.name ?? '';
  await move(used, { nodeId: world.nodeId(free) });
  await world.runUntil(isMoving, 30);
  world.node(third).kill();
  await client.write();
  await world.run(60);
  expect(await spread(world, client)).toBe(spreadWithout(third));
  expect(eventTypes(world)).toContain('ReplicaMoveCancelled');
  world.startNode(third);
});

describe('refused is a move', () => {
  test('of a replica, or to a node or disk, that is not there', async () => {
    const { used } = await places();
    const { volumeId } = client;
    const replicaId = asId<ReplicaId>('no-replica');
    expect(await codeOf(moveReplica(world.useCases, { volumeId, replicaId }))).toBe('replica.not_found');
    expect(await move(used, { nodeId: asId<NodeId>('no-node') })).toBe('node.not_found');
    expect(await move(used, { diskId: asId<DiskId>('no-disk') })).toBe('disk.not_found');
    expect(await move(used, { nodeId: world.nodeId(used), diskId: diskOf('n1') })).toBe('disk.not_found');
  });

  test('to where the copy is, or another one', async () => {
    const { used } = await places();
    expect(await move(used, { diskId: (await onNode(used)).diskId ?? asId('') })).toBe('replica.place_taken');
    expect(await move(used, { diskId: (await onNode('n1')).diskId ?? asId('') })).toBe('replica.place_taken');
    expect(await move(used, { nodeId: world.nodeId('n1') })).toBe('replica.place_taken');
  });

  test('to a place that takes none', async () => {
    const { free, used } = await places();
    const { clusterId } = world;
    const nodeId = world.nodeId(free);
    await patchNode(world.useCases, { clusterId, nodeId, patch: { allowScheduling: false } });
    expect(await move(used, { nodeId })).toBe('replica.no_place');
  });

  test('of a failed copy, and of any while one is missing', async () => {
    const { free, used } = await places();
    world.node(used).kill();
    await client.write();
    await world.run(12);
    expect(await move(used, { nodeId: world.nodeId(free) })).toBe('replica.not_full');
    expect(await move('n1', { nodeId: world.nodeId(free) })).toBe('volume.busy');
    world.startNode(used);
  });

  test('while another copy is on its way', async () => {
    const { free, used } = await places();
    await move(used, { nodeId: world.nodeId(free) });
    expect(await move('n1')).toBe('volume.busy');
    await world.run(60);
  });
});

describe('a move of a detached volume', () => {
  const nodesWithout = (used: string) => world.nodes.map(({ name }) => name).filter((name) => name !== used);
  const nodesOfCopies = async () => {
    const { replicas } = await client.view();
    return world.nodes
      .map(({ name }) => name)
      .filter((name) => replicas.some(({ nodeId }) => nodeId === world.nodeId(name)));
  };

  test('attaches it without an address until the copy is there', async () => {
    const { free, used } = await places();
    await detach();
    expect(await move(used, { nodeId: world.nodeId(free) })).toBe('done');
    expect(await move('n1')).toBe('volume.busy');
    await world.runUntil(isMoving, 30);
    await world.run(60);
    expect((await client.view()).volume.lifecycle.state).toBe('detached');
    expect(await nodesOfCopies()).toEqual(nodesWithout(used));
    expect(eventTypes(world)).toEqual(expect.arrayContaining(['OfflineRebuildStarted', 'ReplicaMoved']));
    expect(await client.missing()).toEqual([]);
  });

  test('is given up, and that is told, when a user attaches the volume meanwhile', async () => {
    const { free, used } = await places();
    await detach();
    await move(used, { nodeId: world.nodeId(free) });
    await world.runUntil(isMoving, 30);
    await requestAttach(world.useCases, { volumeId: client.volumeId, nodeId: world.nodeId('n1') });
    await world.run(90);
    expect(await nodesOfCopies()).toEqual(nodesWithout(free));
    expect((await client.view()).volume.lifecycle.state).toBe('attached');
    expect(eventTypes(world)).toContain('ReplicaMoveCancelled');
  });

  test('that can not be done leaves it detached, as it was', async () => {
    const { free, used } = await places();
    await detach();
    const ids = (await client.view()).replicas.map(({ id }) => id);
    await move(used, { nodeId: world.nodeId(free) });
    world.node(free).kill();
    await world.run(200);
    const { volume, replicas } = await client.view();
    expect(volume.lifecycle.state).toBe('detached');
    expect(replicas.map(({ id }) => id)).toEqual(ids);
    world.startNode(free);
  });

  test('is refused while a node with a copy does not answer', async () => {
    const { free, used } = await places();
    await detach();
    world.node(used).kill();
    await world.run(60);
    expect(await move('n1', { nodeId: world.nodeId(free) })).toBe('volume.busy');
    world.startNode(used);
  });
});

async function cancelRunning(): Promise<void> {
  const rebuild = (await client.view()).rebuilds.find(isActiveRebuild);
  if (rebuild === undefined) throw new Error('no rebuild is active');
  await cancelRebuild(world.useCases, { volumeId: client.volumeId, rebuildId: rebuild.id });
}

async function emptyTarget(free: string): Promise<void> {
  const patch = { allowScheduling: false, evictionRequested: true };
  await patchNode(world.useCases, { clusterId: world.clusterId, nodeId: world.nodeId(free), patch });
}

async function deleteReplacement(free: string): Promise<void> {
  const { id } = await onNode(free);
  await requestReplicaRemoval(world.useCases, { volumeId: client.volumeId, replicaId: id });
}

async function killTarget(free: string): Promise<void> {
  world.node(free).kill();
  await client.write();
  await world.run(60);
  world.startNode(free);
}

async function detach(): Promise<void> {
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(5);
}
